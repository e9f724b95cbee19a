//! Round trips by bare remote memory, with the relay in another process.
//!
//! ```text
//!   source ══there══> relay            the source's node listens
//!   sink   <══back═══                  the relay's node listens
//!          ──socket──                  tells each side where the other listens
//! ```
//! A connection has messages in one direction, so there are two.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use control::Error;
use control::remote::{
    ListeningNode, RemoteProvider, RemoteReceiver, RemoteSender, RemoteWire, TripReceiver,
    TripSender,
};
use control::round_trip::trip_stages::{self, RoundTripTask, run_sink, run_source};

use super::child::{join_result, start_process, wait_process};
use super::round_trip::LOOPS_OF_ONE_STAGE;

/// Runs source and sink, and starts the relay: on another host if `rest` has the address of this
/// one and the network of the other.
pub fn run<W: RemoteWire>(
    task: RoundTripTask,
    role: &str,
    words: &[String],
    rest: &[String],
) -> Result<(), Error> {
    let (listen, network) = match rest {
        [listen, network] => (listen.as_str(), Some(network.as_str())),
        _ => ("127.0.0.1", None),
    };
    let listener = TcpListener::bind((listen, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let node = ListeningNode::open(RemoteProvider::Tcp, address.ip())?;
    let args = [words, &[address.to_string()]].concat();
    let relay = start_process(&format!("{role}-relay"), &args, network, None)?;
    let (stream, _) = listener.accept().map_err(failed)?;
    let relay_address = exchange_addresses(&stream, node.address()?)?;
    let mut there = TripSender(W::accept(node, task.message_bytes())?);
    let mut back = TripReceiver(W::connect(
        RemoteProvider::Tcp,
        relay_address,
        task.message_bytes(),
    )?);
    thread::scope(|scope| {
        let source = scope.spawn(|| {
            run_source(task, &mut there)?;
            there.0.flush()
        });
        let trips = run_sink(task, LOOPS_OF_ONE_STAGE, &mut back)?;
        back.0.finish()?;
        join_result(source.join())?;
        trips.print_trips();
        Ok::<(), Error>(())
    })?;
    // The relay waits for the end of this connection.
    drop(there);
    wait_process(relay)
}

/// Runs the relay of the process that listens at `address`.
pub fn run_relay<W: RemoteWire>(task: RoundTripTask, address: &str) -> Result<(), Error> {
    let stream = TcpStream::connect(address).map_err(failed)?;
    let node = ListeningNode::open(
        RemoteProvider::Tcp,
        stream.local_addr().map_err(failed)?.ip(),
    )?;
    let near_address = exchange_addresses(&stream, node.address()?)?;
    let mut from_source = TripReceiver(W::connect(
        RemoteProvider::Tcp,
        near_address,
        task.message_bytes(),
    )?);
    let mut to_sink = TripSender(W::accept(node, task.message_bytes())?);
    trip_stages::run_relay(task, LOOPS_OF_ONE_STAGE, &mut from_source, &mut to_sink)?;
    to_sink.0.flush()?;
    // The sink waits for the end of this connection.
    drop(to_sink);
    from_source.0.finish()
}

/// Tells the other side an address, a line of text, and gets the other side's.
fn exchange_addresses(stream: &TcpStream, own: SocketAddr) -> Result<SocketAddr, Error> {
    let mut writing = stream;
    writeln!(writing, "{own}").map_err(failed)?;
    let mut line = String::new();
    BufReader::new(stream)
        .read_line(&mut line)
        .map_err(failed)?;
    let address = line.trim_end().parse();
    address.map_err(|_| Error::new("the other side of a control has not told its address"))
}

fn failed(error: std::io::Error) -> Error {
    Error::system("go there and back by bare remote memory", error)
}
