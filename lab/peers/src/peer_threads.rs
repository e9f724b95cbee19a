//! A peer between two threads of one process.

use std::thread;

use crate::peer_ends::{PeerReceive, PeerSend, receive_all, send_all, send_and_await, send_back};
use crate::turn_output::latency_line;
use crate::{BoxError, PeerQuestion, PeerTask, cores};

/// Does a task with the ends that `pair` creates; the lines of its output.
///
/// # Errors
/// The peer fails.
pub fn run<S, R>(
    task: &PeerTask,
    pair: impl Fn(&PeerTask) -> Result<(S, R), BoxError>,
) -> Result<String, BoxError>
where
    S: PeerSend + Send,
    R: PeerReceive + Send,
{
    match task.question {
        PeerQuestion::Throughput => run_throughput(task, pair(task)?),
        PeerQuestion::Latency => run_latency(task, pair(task)?, pair(task)?),
    }
}

fn run_throughput<S: PeerSend + Send>(
    task: &PeerTask,
    (mut sender, mut receiver): (S, impl PeerReceive),
) -> Result<String, BoxError> {
    let (source_core, sink_core) = cores::pair();
    thread::scope(|scope| {
        // The end is returned: some peers lose messages under way when it is dropped.
        let sends = scope.spawn(move || -> Result<S, BoxError> {
            cores::pin(source_core)?;
            send_all(&mut sender, task.messages)?;
            Ok(sender)
        });
        cores::pin(sink_core)?;
        let sink = receive_all(&mut receiver, task.messages)?;
        let line = sink.to_arrivals().to_line();
        sends.join().map_err(|_| "the sender panicked")??;
        Ok(line)
    })
}

fn run_latency<S, R>(task: &PeerTask, there: (S, R), back: (S, R)) -> Result<String, BoxError>
where
    S: PeerSend + Send,
    R: PeerReceive + Send,
{
    let (source_core, sink_core) = cores::pair();
    let ((mut out, mut there), (mut answer, mut back)) = (there, back);
    thread::scope(|scope| {
        let echoes = scope.spawn(move || -> Result<(R, S), BoxError> {
            cores::pin(sink_core)?;
            send_back(&mut there, &mut answer, task.messages)?;
            Ok((there, answer))
        });
        cores::pin(source_core)?;
        let times = send_and_await(&mut out, &mut back, task.messages)?;
        echoes.join().map_err(|_| "the echo panicked")??;
        Ok(latency_line(&times))
    })
}
