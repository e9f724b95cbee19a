//! The thread that reads all sockets beside endpoints. A process has one, once it has such a
//! socket.

use std::collections::HashMap;
use std::net::TcpListener;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::side_socket::{NodeSignals, SideSocket};
use crate::error::FabricError;

/// Most sockets that are read for one call of the system.
const SOCKETS_PER_WAIT: usize = 64;

static WATCHER: OnceLock<Result<SocketWatcher, FabricError>> = OnceLock::new();

struct SocketWatcher {
    epoll: OwnedFd,
    watched: Mutex<HashMap<u64, Watched>>,
    next: AtomicU64,
}

/// A descriptor of the watcher's. It is open as long as it is watched.
#[derive(Clone)]
enum Watched {
    Socket(Arc<SideSocket>),
    /// A port, with the signals of its node.
    Listener(Arc<TcpListener>, Arc<NodeSignals>),
}

/// A descriptor that is watched until the value is dropped.
pub(crate) struct Watch(u64);

/// Has a node told when somebody connects to its port.
///
/// # Errors
/// The system refuses.
pub(crate) fn watch_listener(
    listener: &Arc<TcpListener>,
    signals: &Arc<NodeSignals>,
) -> Result<Watch, FabricError> {
    watch(Watched::Listener(listener.clone(), signals.clone()))
}

fn watch(watched: Watched) -> Result<Watch, FabricError> {
    let watcher = watcher()?;
    let number = watcher.next.fetch_add(1, Ordering::Relaxed);
    watcher.watched().insert(number, watched.clone());
    let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    let added = epoll::add(&watcher.epoll, &watched, EventData::new_u64(number), flags);
    let watch = Watch(number);
    added.map_err(|error| FabricError::System(format!("watch a socket: {error}")))?;
    Ok(watch)
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(Ok(watcher)) = WATCHER.get()
            && let Some(watched) = watcher.watched().remove(&self.0)
        {
            let _ = epoll::delete(&watcher.epoll, &watched);
        }
    }
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Watched::Socket(socket) => socket.as_fd(),
            Watched::Listener(listener, _) => listener.as_fd(),
        }
    }
}

/// The watcher of this process; its thread begins with the first call.
fn watcher() -> Result<&'static SocketWatcher, FabricError> {
    static THREAD: OnceLock<Result<(), FabricError>> = OnceLock::new();
    let watcher = WATCHER.get_or_init(|| {
        let epoll = epoll::create(CreateFlags::CLOEXEC);
        Ok(SocketWatcher {
            epoll: epoll.map_err(|error| FabricError::System(format!("make an epoll: {error}")))?,
            watched: Mutex::default(),
            next: AtomicU64::new(0),
        })
    });
    let watcher = watcher.as_ref().map_err(Clone::clone)?;
    let started = THREAD.get_or_init(|| {
        let named = thread::Builder::new().name("fabric-sockets".to_owned());
        let started = named.spawn(|| watcher.run());
        started
            .map(drop)
            .map_err(|error| FabricError::System(format!("start a thread: {error}")))
    });
    started.clone().map(|()| watcher)
}

impl SocketWatcher {
    fn watched(&self) -> MutexGuard<'_, HashMap<u64, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut events = Vec::with_capacity(SOCKETS_PER_WAIT);
        loop {
            events.clear();
            // An interrupted call finds nothing, and is made again.
            let _ = epoll::wait(&self.epoll, spare_capacity(&mut events), None);
            for event in &events {
                let watched = self.watched().get(&event.data.u64()).cloned();
                match watched {
                    Some(Watched::Socket(socket)) => socket.read(),
                    Some(Watched::Listener(_, signals)) => signals.tell_events(),
                    None => {}
                }
            }
        }
    }
}

/// A socket that is read until the value is dropped; its peer then sees its end.
pub(crate) struct WatchedSocket {
    socket: Arc<SideSocket>,
    _watch: Watch,
}

impl WatchedSocket {
    /// Has a socket read.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn new(socket: SideSocket) -> Result<WatchedSocket, FabricError> {
        let socket = Arc::new(socket);
        let _watch = watch(Watched::Socket(socket.clone()))?;
        Ok(WatchedSocket { socket, _watch })
    }
}

impl Deref for WatchedSocket {
    type Target = SideSocket;

    fn deref(&self) -> &SideSocket {
        &self.socket
    }
}

impl Drop for WatchedSocket {
    fn drop(&mut self) {
        self.socket.close();
    }
}
