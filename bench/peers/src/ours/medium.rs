//! A medium without operators: frames of bytes by the transport contract, between two threads.
//!
//! Both ends are in one process here, on every medium: shared memory is mapped twice, connections go
//! over loopback, and what is measured is the same as between processes. Frames are written in place
//! and read in place.

use suite::Path;
use transport::{Batching, Inbound, Outbound, Spec, media};

use crate::ends::{Receives, Sends, add_up, fill};
use crate::task::QUEUE_BYTES;
use crate::{Failure, Sink, Task, threads};

/// Does a task on a path's medium.
pub fn run(path: Path, task: &Task) -> Result<String, Failure> {
    threads::run(task, |task| pair(path, task))
}

struct Sender {
    out: Box<dyn Outbound>,
    bytes: usize,
}

struct Receiver(Box<dyn Inbound>);

fn pair(path: Path, task: &Task) -> Result<(Sender, Receiver), Failure> {
    let name = match path {
        Path::Threaded => "ring",
        other => other.name(),
    };
    let medium = media::find(name).ok_or_else(|| format!("there is no medium `{name}`"))?;
    let spec = Spec {
        name: "peers".into(),
        link: 0,
        receivers: 1,
        ring_bytes: QUEUE_BYTES,
        batch: Batching::default(),
        token: [7; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    };
    let (out, tickets) = medium.open(&spec)?;
    let ticket = tickets.into_iter().next().ok_or("no ticket")?;
    let bytes = task.bytes;
    Ok((
        Sender { out, bytes },
        Receiver(medium.accept(&spec, ticket)?),
    ))
}

impl Sends for Sender {
    #[inline]
    fn send(&mut self, next: u64, _: u64) -> Result<u64, Failure> {
        let Some(room) = self.out.claim(self.bytes)? else {
            return Ok(0);
        };
        fill(room, next);
        self.out.commit(1, 0, self.bytes);
        Ok(1)
    }

    fn flush(&mut self) -> Result<bool, Failure> {
        Ok(self.out.flush()?)
    }
}

impl Receives for Receiver {
    #[inline]
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        for frame in self.0.poll()? {
            sink.take(add_up(frame.bytes));
        }
        self.0.release();
        Ok(())
    }
}
