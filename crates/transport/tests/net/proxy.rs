//! A proxy that behaves like a network: it passes bytes on in pieces, late, and cuts connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

/// Period at which a thread that waits for bytes looks whether the proxy is closed.
const LOOK: Duration = Duration::from_millis(20);

/// Most bytes that a slow proxy passes at a time, and the pause after them.
const SLOW_BYTES: usize = 1024;
const SLOW_PAUSE: Duration = Duration::from_millis(2);

/// Stack bytes of a thread: there are many, and each does little.
const STACK_BYTES: usize = 64 * 1024;

/// A proxy between receivers and a sender.
pub struct Proxy {
    at: SocketAddr,
    shared: Arc<Shared>,
    accepts: Option<JoinHandle<()>>,
}

struct Shared {
    target: SocketAddr,
    random: Mutex<Random>,
    /// Number of cuts to come.
    cuts: AtomicU32,
    /// Most bytes before a cut.
    cut_bytes: u64,
    /// No bytes pass any more, and no connection is accepted.
    is_dead: AtomicBool,
    is_closed: AtomicBool,
    /// No bytes pass, but connections stay.
    is_silent: AtomicBool,
    /// Few bytes pass at a time, with a pause after each.
    is_slow: AtomicBool,
}

/// Pseudo-random numbers that follow from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Next number, below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % end
    }
}

impl Proxy {
    /// A proxy in front of a sender. It cuts `cuts` times, each within `cut_bytes` bytes of a
    /// connection.
    pub fn new(target: SocketAddr, seed: u64, cuts: u32, cut_bytes: u64) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
        let at = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            target,
            random: Mutex::new(Random::new(seed)),
            cuts: AtomicU32::new(cuts),
            cut_bytes,
            is_dead: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        let accepts = Some(thread::spawn(move || accept(listener, &accepting)));
        Proxy {
            at,
            shared,
            accepts,
        }
    }

    /// Address that receivers connect to.
    pub fn address(&self) -> SocketAddr {
        self.at
    }

    /// Number of cuts to come.
    pub fn cuts_left(&self) -> u32 {
        self.shared.cuts.load(Ordering::Acquire)
    }

    /// Lets no bytes pass, or lets them pass again.
    pub fn set_silent(&self, is_silent: bool) {
        self.shared.is_silent.store(is_silent, Ordering::Release);
    }

    /// Lets few bytes pass at a time, or as many as come.
    pub fn set_slow(&self, is_slow: bool) {
        self.shared.is_slow.store(is_slow, Ordering::Release);
    }

    /// Cuts every connection from now on, and accepts none.
    pub fn die(&self) {
        self.shared.is_dead.store(true, Ordering::Release);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Release);
        // Connecting ends the thread's wait for connections.
        let _ = TcpStream::connect(self.at);
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}

/// Accepts receivers until the proxy is closed or the sender does not listen any more.
fn accept(listener: TcpListener, shared: &Arc<Shared>) {
    let mut passes = Vec::<JoinHandle<()>>::new();
    while let Ok((here, _)) = listener.accept() {
        if shared.is_closed.load(Ordering::Acquire) {
            break;
        }
        if shared.is_dead.load(Ordering::Acquire) {
            continue;
        }
        passes.retain(|pass| !pass.is_finished());
        match TcpStream::connect(shared.target) {
            Ok(there) => passes.extend(pass_both_ways(&here, &there, shared)),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => break,
            Err(_) => {}
        }
    }
    drop(listener);
    passes.into_iter().for_each(|pass| {
        let _ = pass.join();
    });
}

/// Starts the threads that pass bytes on, one for each direction.
fn pass_both_ways(
    here: &TcpStream,
    there: &TcpStream,
    shared: &Arc<Shared>,
) -> Vec<JoinHandle<()>> {
    let cut_at = shared
        .random
        .lock()
        .expect("no panics")
        .below(shared.cut_bytes);
    let passed = Arc::new(Mutex::new(cut_at));
    let one_way = |from: &TcpStream, to: &TcpStream| {
        let (from, to) = (from.try_clone().ok()?, to.try_clone().ok()?);
        let (shared, passed) = (shared.clone(), passed.clone());
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let run = move || {
            pass(&from, &to, &shared, &passed);
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        };
        thread.spawn(run).ok()
    };
    [one_way(here, there), one_way(there, here)]
        .into_iter()
        .flatten()
        .collect()
}

/// Passes bytes on until an end or a cut.
fn pass(mut from: &TcpStream, mut to: &TcpStream, shared: &Shared, left: &Mutex<u64>) {
    let _ = from.set_read_timeout(Some(LOOK));
    let _ = to.set_nodelay(true);
    let mut room = [0; 8192];
    loop {
        if shared.is_closed.load(Ordering::Acquire) || shared.is_dead.load(Ordering::Acquire) {
            return;
        }
        if shared.is_silent.load(Ordering::Acquire) {
            thread::sleep(LOOK);
            continue;
        }
        let is_slow = shared.is_slow.load(Ordering::Acquire);
        let (len, is_late, is_rude) = {
            let mut random = shared.random.lock().expect("no panics");
            let len = 1 + random.below(room.len() as u64) as usize;
            (len, random.below(8) == 0, random.below(2) == 0)
        };
        let len = if is_slow { len.min(SLOW_BYTES) } else { len };
        let count = match from.read(&mut room[..len]) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(_) => return,
        };
        if is_slow {
            thread::sleep(SLOW_PAUSE);
        }
        if is_late {
            thread::sleep(Duration::from_micros(200));
        }
        let until_cut = until_cut(count as u64, shared, left);
        let passes = until_cut.map_or(count, |until_cut| until_cut as usize);
        if to.write_all(&room[..passes]).is_err() {
            return;
        }
        if until_cut.is_some() {
            if is_rude {
                let _ = set_socket_linger(to, Some(Duration::ZERO));
                let _ = set_socket_linger(from, Some(Duration::ZERO));
            }
            return;
        }
    }
}

/// Counts bytes. Returns how many pass if the connection is cut among them.
fn until_cut(count: u64, shared: &Shared, left: &Mutex<u64>) -> Option<u64> {
    let mut left = left.lock().expect("no panics");
    if *left >= count {
        *left -= count;
        return None;
    }
    let take = |cuts: u32| cuts.checked_sub(1);
    let is_cut = shared
        .cuts
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, take)
        .is_ok();
    is_cut.then_some(*left)
}
