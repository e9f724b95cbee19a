//! The two hosts of all tests, and edges between them.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use control::{HostPaths, NetNamespace};
use transport::{EdgeCounters, EdgeSpec, Error, ListenAddresses, Medium, ReceivingEnd, SendingEnd};

use crate::numbered_frames::{medium, put, spec, take, until};

/// Hosts that a test has for itself.
pub type Hosts = MutexGuard<'static, HostPaths>;

/// The hosts, with paths of these rates in Mbit/s (0: unlimited); `None`: passed over.
pub fn hosts(rates: [u32; 2]) -> Option<Hosts> {
    static HOSTS: OnceLock<Result<Mutex<HostPaths>, String>> = OnceLock::new();
    let hosts = HOSTS.get_or_init(|| {
        let hosts = HostPaths::new(2)?;
        // The IO thread connects receivers again, so it is of their host.
        let first = EdgeSpec {
            listen: Ipv4Addr::LOCALHOST.into(),
            ..spec(1)
        };
        drop(on_host(&hosts.far, || {
            medium("rum").open(&first).expect("opened")
        }));
        Ok(Mutex::new(hosts))
    });
    let hosts = match hosts {
        Ok(hosts) => hosts.lock().unwrap_or_else(PoisonError::into_inner),
        Err(why) => {
            println!("PASSED OVER: {why}");
            return None;
        }
    };
    // A receiver of `rdma` connects again on the thread that polls it.
    hosts.far.enter().expect("entered");
    for (path, rate) in rates.into_iter().enumerate() {
        hosts.set_up(path, true).expect("up");
        hosts.set_rate(path, rate).expect("shaped");
    }
    Some(hosts)
}

/// Runs a function on a host: the sockets that it opens are of this host.
pub fn on_host<T: Send>(host: &NetNamespace, run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            host.enter().expect("entered");
            run()
        });
        thread.join().expect("no panic")
    })
}

/// An edge from the near host to the far one, with numbered frames on it.
pub struct HostEdge {
    out: Box<dyn SendingEnd>,
    end: Box<dyn ReceivingEnd>,
    pub counters: Arc<EdgeCounters>,
    sent: u64,
    received: u64,
}

impl HostEdge {
    /// Opens the edge, whose sender listens on these addresses.
    pub fn open(hosts: &HostPaths, medium: &dyn Medium, listen: ListenAddresses) -> HostEdge {
        let spec = EdgeSpec {
            listen,
            ring_bytes: 1 << 18,
            ..spec(1)
        };
        let (out, mut tickets) = on_host(&hosts.near, || medium.open(&spec).expect("opened"));
        let ticket = tickets.remove(0);
        let end = on_host(&hosts.far, || {
            medium.accept(&spec, ticket).expect("accepted")
        });
        HostEdge {
            counters: out.counters().expect("counters"),
            out,
            end,
            sent: 0,
            received: 0,
        }
    }

    /// Passes `count` frames more, in order.
    pub fn pass(&mut self, count: u64) {
        let until_sent = self.sent + count;
        until("the last frame", || {
            while self.sent < until_sent && put(&mut *self.out, self.sent).expect("room or not") {
                self.sent += 1;
            }
            self.out.flush().expect("flushed");
            self.received = take(&mut *self.end, self.received).expect("a sound stream");
            (self.received == until_sent).then_some(())
        });
    }

    /// Ends the stream: the receiver learns of it, and of no frame more.
    pub fn end(mut self) {
        until("drained", || {
            self.received = take(&mut *self.end, self.received).expect("a sound stream");
            assert_eq!(self.received, self.sent, "a frame too many");
            self.out.is_drained().expect("drained").then_some(())
        });
        drop(self.out);
        until("word of the sender's end", || {
            match take(&mut *self.end, self.received) {
                Ok(number) => {
                    assert_eq!(number, self.sent, "a frame too many");
                    None
                }
                Err(Error::PeerLost(_)) => Some(()),
                Err(error) => panic!("{error}"),
            }
        });
    }
}
