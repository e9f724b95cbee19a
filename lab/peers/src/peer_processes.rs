//! A peer between two processes: this one measures, the other runs this program once more.
//!
//! ```text
//!   measuring process                       the other process
//!     driver, own receiver
//!     starts it                               own ends
//!                              <-- "ready" --
//!     sender, for latency
//!                               -- "go" -->
//!     receive_all, or send_and_await          send_all, or send_back
//!                          -- end of file -->
//!                                             drops its ends
//! ```
//! The two talk by standard input and output of the other process, which dies with its parent.

use std::any::Any;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::peer_ends::{PeerReceive, PeerSend, receive_all, send_all, send_and_await, send_back};
use crate::turn_output::latency_line;
use crate::{BoxError, PARTNER, PeerQuestion, PeerTask, cores};

/// A peer whose ends find each other by a name.
pub trait TwoProcessPeer {
    /// Name of the peer in options and tables.
    const NAME: &'static str;
    /// Type of the sending end.
    type Sender: PeerSend;
    /// Type of the receiving end.
    type Receiver: PeerReceive;

    /// Starts what all ends need as long as they live, in the measuring process; most peers need
    /// nothing.
    ///
    /// # Errors
    /// The peer fails.
    fn start_driver(_: &PeerTask) -> Result<Box<dyn Any>, BoxError> {
        Ok(Box::new(()))
    }

    /// Creates the receiving end of a direction, which exists before the sending one.
    ///
    /// # Errors
    /// The peer fails.
    fn receiver(task: &PeerTask, way: MessageDirection) -> Result<Self::Receiver, BoxError>;

    /// Creates the sending end of a direction. Waits until the receiving end has seen it, if the
    /// peer requires that.
    ///
    /// # Errors
    /// The peer fails.
    fn sender(task: &PeerTask, way: MessageDirection) -> Result<Self::Sender, BoxError>;
}

/// The direction of a message between the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDirection {
    /// From the sender to the receiver.
    Forward,
    /// From the receiver back to the sender.
    Return,
}

impl MessageDirection {
    /// The direction as part of a file or service name.
    pub fn name(self) -> &'static str {
        match self {
            MessageDirection::Forward => "there",
            MessageDirection::Return => "back",
        }
    }

    /// A number that differs between the two directions.
    pub fn number(self) -> u16 {
        self as u16
    }
}

const READY: &str = "ready\n";
const GO: &str = "go\n";

/// Does a task between two processes; the lines of its output.
///
/// # Errors
/// The peer fails, here or in the other process.
pub fn run<P: TwoProcessPeer>(task: &PeerTask) -> Result<String, BoxError> {
    let (source_core, sink_core) = cores::pair();
    // The driver is dropped last.
    let _driver = P::start_driver(task)?;
    match task.question {
        PeerQuestion::Throughput => {
            let mut receiver = P::receiver(task, MessageDirection::Forward)?;
            let mut other = PartnerProcess::start(P::NAME, task)?;
            cores::pin(sink_core)?;
            other.go()?;
            let sink = receive_all(&mut receiver, task.messages)?;
            let line = sink.to_arrivals().to_line();
            other.end()?;
            Ok(line)
        }
        PeerQuestion::Latency => {
            let mut receiver = P::receiver(task, MessageDirection::Return)?;
            let mut other = PartnerProcess::start(P::NAME, task)?;
            let mut sender = P::sender(task, MessageDirection::Forward)?;
            cores::pin(source_core)?;
            other.go()?;
            let times = send_and_await(&mut sender, &mut receiver, task.messages)?;
            other.end()?;
            Ok(latency_line(&times))
        }
    }
}

/// Runs the other process of a turn.
///
/// # Errors
/// The peer fails.
pub fn serve<P: TwoProcessPeer>(task: &PeerTask) -> Result<(), BoxError> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let (source_core, sink_core) = cores::pair();
    match task.question {
        PeerQuestion::Throughput => {
            let mut sender = P::sender(task, MessageDirection::Forward)?;
            signal_ready()?;
            cores::pin(source_core)?;
            send_all(&mut sender, task.messages)?;
            wait_for_end()
        }
        PeerQuestion::Latency => {
            let mut receiver = P::receiver(task, MessageDirection::Forward)?;
            let mut sender = P::sender(task, MessageDirection::Return)?;
            signal_ready()?;
            cores::pin(sink_core)?;
            send_back(&mut receiver, &mut sender, task.messages)?;
            wait_for_end()
        }
    }
}

fn signal_ready() -> Result<(), BoxError> {
    print!("{READY}");
    std::io::stdout().flush()?;
    let mut word = String::new();
    std::io::stdin().read_line(&mut word)?;
    match word == GO {
        true => Ok(()),
        false => Err("the measuring process has gone".into()),
    }
}

/// Keeps the ends until the measuring process closes standard input.
fn wait_for_end() -> Result<(), BoxError> {
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The other process, seen from the measuring one; killed if it is dropped early.
struct PartnerProcess {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl PartnerProcess {
    /// Starts the process, and returns when it has created its ends.
    fn start(peer: &str, task: &PeerTask) -> Result<PartnerProcess, BoxError> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([PARTNER, peer])
            .args(task.to_args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("no pipe")?;
        let mut other = PartnerProcess {
            process,
            input,
            output: BufReader::new(output),
        };
        let mut word = String::new();
        other.output.read_line(&mut word)?;
        match word == READY {
            true => Ok(other),
            false => Err("the other process could not begin".into()),
        }
    }

    fn go(&mut self) -> Result<(), BoxError> {
        let input = self.input.as_mut().ok_or("no pipe")?;
        Ok(input.write_all(GO.as_bytes())?)
    }

    fn end(mut self) -> Result<(), BoxError> {
        self.input = None;
        let status = self.process.wait()?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("the other process failed ({status})").into()),
        }
    }
}

impl Drop for PartnerProcess {
    fn drop(&mut self) {
        // Errors are ignored: it may have ended, and been waited for, long ago.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
