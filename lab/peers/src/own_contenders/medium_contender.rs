//! A medium without operators: frames of bytes by the transport contract, between two threads.
//!
//! Both ends are in one process on every medium: shared memory is mapped twice, and connections use
//! loopback. The work is the same as between processes. Frames are written in place and read in
//! place.

use suite::StreamPath;
use transport::{Batching, EdgeSpec, ReceivingEnd, SendingEnd, media};

use crate::peer_ends::{PeerReceive, PeerSend, fill, sum_words_of_bytes};
use crate::task::QUEUE_BYTES;
use crate::{BoxError, ControlSink, PeerTask, peer_threads};

/// Does a task on the medium of a path; the lines of its output.
pub fn run(path: StreamPath, task: &PeerTask) -> Result<String, BoxError> {
    peer_threads::run(task, |task| open_ends(path, task))
}

struct BareMediumSender {
    outbound: Box<dyn SendingEnd>,
    bytes: usize,
}

struct BareMediumReceiver(Box<dyn ReceivingEnd>);

fn open_ends(
    path: StreamPath,
    task: &PeerTask,
) -> Result<(BareMediumSender, BareMediumReceiver), BoxError> {
    let name = match path {
        StreamPath::Threaded => "ring",
        other => other.name(),
    };
    let medium = media::find(name).ok_or_else(|| format!("there is no medium `{name}`"))?;
    let spec = EdgeSpec {
        name: "peers".into(),
        edge: 0,
        receiver_count: 1,
        ring_bytes: QUEUE_BYTES,
        batching: Batching::default(),
        token: [7; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    };
    let (out, tickets) = medium.open(&spec)?;
    let ticket = tickets.into_iter().next().ok_or("no ticket")?;
    let bytes = task.bytes;
    Ok((
        BareMediumSender {
            outbound: out,
            bytes,
        },
        BareMediumReceiver(medium.accept(&spec, ticket)?),
    ))
}

impl PeerSend for BareMediumSender {
    #[inline]
    fn send(&mut self, next: u64, _: u64) -> Result<u64, BoxError> {
        let Some(room) = self.outbound.claim(self.bytes)? else {
            return Ok(0);
        };
        fill(room, next);
        self.outbound.commit(1, 0, self.bytes);
        Ok(1)
    }

    fn flush(&mut self) -> Result<bool, BoxError> {
        Ok(self.outbound.flush()?)
    }
}

impl PeerReceive for BareMediumReceiver {
    #[inline]
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        for frame in self.0.poll()? {
            sink.add(sum_words_of_bytes(frame.bytes));
        }
        self.0.release();
        Ok(())
    }
}
