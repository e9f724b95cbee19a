//! A peer between two processes: this one measures, the other one is this program once more.
//!
//! ```text
//!   measuring process                       the other
//!     host, own receiver
//!     starts it                               own ends
//!                              <-- "ready" --
//!     sender, if it needs one
//!                               -- "go" -->
//!     drain, or ping                          flood, or echo
//!                               -- end of file -->    drops its ends
//! ```
//! They talk by the other's standard input and output. The other one dies with its parent.

use std::any::Any;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::ends::{Receives, Sends, drain, echo, flood, ping};
use crate::received::latency_line;
use crate::{Failure, OTHER, Question, Task, cores};

/// A peer whose ends find each other by a name.
pub trait Meets {
    /// The peer's name.
    const NAME: &'static str;
    /// The sending end.
    type Sender: Sends;
    /// The receiving end.
    type Receiver: Receives;

    /// Starts what has to be there before any end and as long as they are, in the measuring process;
    /// most peers need nothing.
    ///
    /// # Errors
    /// The peer fails.
    fn host(_: &Task) -> Result<Box<dyn Any>, Failure> {
        Ok(Box::new(()))
    }

    /// The receiving end of a way. It is made before the other one.
    ///
    /// # Errors
    /// The peer fails.
    fn receiver(task: &Task, way: Way) -> Result<Self::Receiver, Failure>;

    /// The sending end of a way. It waits until the receiving end has seen it, if the peer asks that.
    ///
    /// # Errors
    /// The peer fails.
    fn sender(task: &Task, way: Way) -> Result<Self::Sender, Failure>;
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Of messages.
    There,
    /// Of answers.
    Back,
}

impl Way {
    /// As part of a name.
    pub fn name(self) -> &'static str {
        match self {
            Way::There => "there",
            Way::Back => "back",
        }
    }

    /// Tells the two apart.
    pub fn number(self) -> u16 {
        self as u16
    }
}

const READY: &str = "ready\n";
const GO: &str = "go\n";

/// Does a task; the lines that say what the receiver has seen.
///
/// # Errors
/// The peer fails, here or in the other process.
pub fn run<P: Meets>(task: &Task) -> Result<String, Failure> {
    let (source_core, sink_core) = cores::pair();
    // The host goes last.
    let _host = P::host(task)?;
    match task.question {
        Question::Throughput => {
            let mut receiver = P::receiver(task, Way::There)?;
            let mut other = Other::start(P::NAME, task)?;
            cores::pin(sink_core)?;
            other.go()?;
            let sink = drain(&mut receiver, task.messages)?;
            let line = sink.arrivals().line();
            other.end()?;
            Ok(line)
        }
        Question::Latency => {
            let mut receiver = P::receiver(task, Way::Back)?;
            let mut other = Other::start(P::NAME, task)?;
            let mut sender = P::sender(task, Way::There)?;
            cores::pin(source_core)?;
            other.go()?;
            let times = ping(&mut sender, &mut receiver, task.messages)?;
            other.end()?;
            Ok(latency_line(&times))
        }
    }
}

/// Is the other process.
///
/// # Errors
/// The peer fails.
pub fn serve<P: Meets>(task: &Task) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let (source_core, sink_core) = cores::pair();
    match task.question {
        Question::Throughput => {
            let mut sender = P::sender(task, Way::There)?;
            say_ready()?;
            cores::pin(source_core)?;
            flood(&mut sender, task.messages)?;
            wait_for_end()
        }
        Question::Latency => {
            let mut receiver = P::receiver(task, Way::There)?;
            let mut sender = P::sender(task, Way::Back)?;
            say_ready()?;
            cores::pin(sink_core)?;
            echo(&mut receiver, &mut sender, task.messages)?;
            wait_for_end()
        }
    }
}

fn say_ready() -> Result<(), Failure> {
    print!("{READY}");
    std::io::stdout().flush()?;
    let mut word = String::new();
    std::io::stdin().read_line(&mut word)?;
    match word == GO {
        true => Ok(()),
        false => Err("the measuring process has gone".into()),
    }
}

/// The ends stay until the measuring process has what it wants.
fn wait_for_end() -> Result<(), Failure> {
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The other process, seen from the measuring one; killed if it is dropped early.
struct Other {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Other {
    /// Returns when it has made its ends.
    fn start(peer: &str, task: &Task) -> Result<Other, Failure> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([OTHER, peer])
            .args(task.to_args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("no pipe")?;
        let mut other = Other {
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

    fn go(&mut self) -> Result<(), Failure> {
        let input = self.input.as_mut().ok_or("no pipe")?;
        Ok(input.write_all(GO.as_bytes())?)
    }

    fn end(mut self) -> Result<(), Failure> {
        self.input = None;
        let status = self.process.wait()?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("the other process failed ({status})").into()),
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended, and been waited for, long ago.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
