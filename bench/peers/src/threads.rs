//! A peer between two threads of one process.

use std::thread;

use crate::ends::{Receives, Sends, drain, echo, flood, ping};
use crate::received::latency_line;
use crate::{Failure, Question, Task, cores};

/// Does a task with ends that are made by `pair`; the lines that say what the receiver has seen.
///
/// # Errors
/// The peer fails.
pub fn run<S, R>(
    task: &Task,
    pair: impl Fn(&Task) -> Result<(S, R), Failure>,
) -> Result<String, Failure>
where
    S: Sends + Send,
    R: Receives + Send,
{
    match task.question {
        Question::Throughput => throughput(task, pair(task)?),
        Question::Latency => latency(task, pair(task)?, pair(task)?),
    }
}

fn throughput<S: Sends + Send>(
    task: &Task,
    (mut sender, mut receiver): (S, impl Receives),
) -> Result<String, Failure> {
    let (source_core, sink_core) = cores::pair();
    thread::scope(|scope| {
        // The end is handed back: some peers lose what is under way when it is dropped.
        let sends = scope.spawn(move || -> Result<S, Failure> {
            cores::pin(source_core)?;
            flood(&mut sender, task.messages)?;
            Ok(sender)
        });
        cores::pin(sink_core)?;
        let sink = drain(&mut receiver, task.messages)?;
        let line = sink.arrivals().line();
        sends.join().map_err(|_| "the sender panicked")??;
        Ok(line)
    })
}

fn latency<S, R>(task: &Task, there: (S, R), back: (S, R)) -> Result<String, Failure>
where
    S: Sends + Send,
    R: Receives + Send,
{
    let (source_core, sink_core) = cores::pair();
    let ((mut out, mut there), (mut answer, mut back)) = (there, back);
    thread::scope(|scope| {
        let echoes = scope.spawn(move || -> Result<(R, S), Failure> {
            cores::pin(sink_core)?;
            echo(&mut there, &mut answer, task.messages)?;
            Ok((there, answer))
        });
        cores::pin(source_core)?;
        let times = ping(&mut out, &mut back, task.messages)?;
        echoes.join().map_err(|_| "the echo panicked")??;
        Ok(latency_line(&times))
    })
}
