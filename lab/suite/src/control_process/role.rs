//! The roles of `thalweg-bench control ROLE ...`: the part of one process in a control.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::thread;
use std::time::Duration;

use control::remote::{
    ListeningNode, RemoteProvider, RemoteReceiver, RemoteSender, RemoteSends, RemoteWire,
    RemoteWrites,
};
use control::socket::{self, SocketLayout};
use control::{Backoff, ControlSink, Error, Payload, WordRing, cores};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::child::{join_result, start_process, wait_processes};
use super::{operator_loops, round_trip};

/// Time after which a control counts as hanging and ends itself.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(120);

/// Arguments that all roles have.
struct RoleArgs {
    payload: Payload,
    messages: u64,
    receivers: u32,
    /// Further arguments of the role.
    extra: Vec<String>,
}

/// Plays the role that the arguments name, to its end.
///
/// # Errors
/// No role has that name, or a system call of it fails.
pub fn serve_control(args: &[String]) -> Result<(), Error> {
    let by_hand = || Error::new("this command is for `thalweg bench`");
    let (role, rest) = args.split_first().ok_or_else(by_hand)?;
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Error::system("ask for the end with the bench", error))?;
    thread::spawn(|| {
        thread::sleep(CONTROL_TIMEOUT);
        let _ = writeln!(std::io::stderr(), "a control hangs");
        std::process::exit(1);
    });
    if let Some(done) = crate::nexmark::serve(role, rest) {
        return done;
    }
    if role.starts_with("trip-") {
        return round_trip::serve(role, rest).unwrap_or_else(|| Err(by_hand()));
    }
    let task = RoleArgs::parse(rest).ok_or_else(by_hand)?;
    match role.as_str() {
        "loop" => task.run_call_loop(),
        "case" => task.run_case(),
        "chain" => task.run_chain(),
        "threads" => task.run_threads(),
        "processes" => task.run_processes(),
        "processes-receiver" => task.run_processes_receiver(),
        "writes" => task.run_sockets(SocketLayout::writes(task.payload), role),
        "blocks" => task.run_sockets(SocketLayout::blocks(task.payload), role),
        "writes-receiver" => task.run_socket_receiver(SocketLayout::writes(task.payload)),
        "remote-writes" => task.run_remote::<RemoteWrites>(role),
        "remote-sends" => task.run_remote::<RemoteSends>(role),
        "remote-writes-receiver" => task.run_remote_receiver::<RemoteWrites>(),
        "remote-sends-receiver" => task.run_remote_receiver::<RemoteSends>(),
        "blocks-receiver" => task.run_socket_receiver(SocketLayout::blocks(task.payload)),
        _ => Err(by_hand()),
    }
}

impl RoleArgs {
    fn parse(args: &[String]) -> Option<RoleArgs> {
        let ([bytes, messages, receivers], rest) = args.split_first_chunk()?;
        Some(RoleArgs {
            payload: Payload::with_bytes(bytes.parse().ok().filter(|bytes| *bytes > 0)?),
            messages: messages.parse().ok()?,
            receivers: receivers.parse().ok()?,
            extra: rest.to_vec(),
        })
    }

    fn run_call_loop(&self) -> Result<(), Error> {
        self.pin_source()?;
        control::run_call_loop(self.payload, self.messages).print_arrivals();
        Ok(())
    }

    fn run_case(&self) -> Result<(), Error> {
        self.pin_source()?;
        let [bench, name, file] = &self.extra[..] else {
            return Err(Error::new("a case has no name"));
        };
        let sink = operator_loops::run_case(bench, name, self.messages, file);
        sink.ok_or_else(|| Error::new(format!("there is no case {name}")))??
            .print_arrivals();
        Ok(())
    }

    fn run_chain(&self) -> Result<(), Error> {
        self.pin_source()?;
        operator_loops::chain(self.payload, self.messages).print_arrivals();
        Ok(())
    }

    fn run_threads(&self) -> Result<(), Error> {
        let bare = WordRing::new_private(1).map_err(|error| Error::system("make a ring", error))?;
        thread::scope(|scope| {
            let source = scope.spawn(|| {
                self.pin_source()?;
                bare.write(self.payload, self.messages);
                Ok(())
            });
            self.pin_sink()?;
            bare.read(0, self.payload, self.messages).print_arrivals();
            join_result(source.join())
        })
    }

    fn run_processes(&self) -> Result<(), Error> {
        let shared = WordRing::new_shared(self.receivers as usize);
        let (bare, fd) = shared.map_err(|error| Error::system("make a ring", error))?;
        let receivers = self.start_receivers("processes-receiver", "", None, Some(&fd))?;
        self.pin_source()?;
        bare.write(self.payload, self.messages);
        wait_processes(receivers)
    }

    fn run_processes_receiver(&self) -> Result<(), Error> {
        let stdin = std::io::stdin();
        let bare = WordRing::join(stdin.as_fd(), self.receivers as usize);
        let bare = bare.map_err(|error| Error::system("join a ring", error))?;
        self.pin_sink()?;
        let own = self.extra.first().and_then(|number| number.parse().ok());
        let own = own.filter(|own| *own < self.receivers as usize);
        let own = own.ok_or_else(|| Error::new("a receiver has no number"))?;
        bare.read(own, self.payload, self.messages).print_arrivals();
        Ok(())
    }

    fn run_sockets(&self, wire: SocketLayout, role: &str) -> Result<(), Error> {
        let failed = |error| Error::system("send on a bare socket", error);
        // Between hosts: where to listen, and the network that receivers are in.
        let (listen, network) = match &self.extra[..] {
            [listen, network] => (listen.as_str(), Some(network.as_str())),
            _ => ("127.0.0.1", None),
        };
        let listener = TcpListener::bind((listen, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?.to_string();
        let receivers =
            self.start_receivers(&format!("{role}-receiver"), &address, network, None)?;
        let mut streams = socket::accept(&listener, self.receivers).map_err(failed)?;
        self.pin_source()?;
        wire.send(&mut streams, self.messages).map_err(failed)?;
        wait_processes(receivers)
    }

    fn run_socket_receiver(&self, wire: SocketLayout) -> Result<(), Error> {
        let failed = |error| Error::system("receive on a bare socket", error);
        let address = self.extra.get(1).map_or("", String::as_str);
        let stream = TcpStream::connect(address).map_err(failed)?;
        self.pin_sink()?;
        wire.receive(stream, self.messages)
            .map_err(failed)?
            .print_arrivals();
        Ok(())
    }

    /// Sends by bare remote memory, to one receiver.
    fn run_remote<W: RemoteWire>(&self, role: &str) -> Result<(), Error> {
        let (listen, network) = match &self.extra[..] {
            [listen, network] => (listen.as_str(), Some(network.as_str())),
            _ => ("127.0.0.1", None),
        };
        let no_address = |_| Error::new(format!("`{listen}` is no IP address"));
        let node = ListeningNode::open(RemoteProvider::Tcp, listen.parse().map_err(no_address)?)?;
        let address = node.address()?.to_string();
        let receivers =
            self.start_receivers(&format!("{role}-receiver"), &address, network, None)?;
        let mut sender = W::accept(node, self.payload.bytes())?;
        self.pin_source()?;
        for number in 0..self.messages {
            sender.send(|room| self.payload.fill(number, room))?;
        }
        sender.flush()?;
        drop(sender);
        wait_processes(receivers)
    }

    fn run_remote_receiver<W: RemoteWire>(&self) -> Result<(), Error> {
        let address = self.extra.get(1).and_then(|address| address.parse().ok());
        let address = address.ok_or_else(|| Error::new("a receiver has no address"))?;
        let mut receiver = W::connect(RemoteProvider::Tcp, address, self.payload.bytes())?;
        self.pin_sink()?;
        let (mut sink, mut backoff) = (ControlSink::default(), Backoff::default());
        while sink.count < self.messages {
            if !receiver.try_take(|message| sink.add(self.payload.sum(message)))? {
                backoff.wait();
            }
        }
        sink.print_arrivals();
        receiver.finish()
    }

    /// Starts all receivers. Each is passed the arguments of this role, its number, and `more`.
    fn start_receivers(
        &self,
        role: &str,
        more: &str,
        network: Option<&str>,
        stdin: Option<&OwnedFd>,
    ) -> Result<Vec<Child>, Error> {
        let start = |number: u32| {
            let numbers = [
                self.payload.bytes().to_string(),
                self.messages.to_string(),
                self.receivers.to_string(),
                number.to_string(),
                more.to_owned(),
            ];
            start_process(role, &numbers, network, stdin)
        };
        (0..self.receivers).map(start).collect()
    }

    fn pin_source(&self) -> Result<(), Error> {
        self.pin(cores::pair().0)
    }

    fn pin_sink(&self) -> Result<(), Error> {
        self.pin(cores::pair().1)
    }

    /// Pins this thread to a core, if there is one receiver. Several receivers are placed by the
    /// system, as those of the programs are.
    fn pin(&self, core: u32) -> Result<(), Error> {
        match self.receivers {
            1 => cores::pin(core),
            _ => Ok(()),
        }
    }
}
