//! Endpoints of this process that are open, for peers within it.
//!
//! The provider `shm` does not map the memory of an endpoint of the same process once more: its
//! peer uses that of the owner, which is gone when the owner closes. So an operation to such a peer
//! is posted only while the peer is open, and keeps it open until it is posted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::error::FabricError;

/// Names of the open endpoints, with their numbers: a name may be used again.
static LIVE: RwLock<Option<HashMap<Vec<u8>, u64>>> = RwLock::new(None);

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Entry of an open endpoint. It is dropped before the endpoint is closed.
pub(crate) struct LiveEndpoint {
    name: Vec<u8>,
}

/// An endpoint of this process as its peer knows it.
#[derive(Clone, Debug)]
pub(crate) struct NearPeer {
    name: Vec<u8>,
    number: u64,
}

/// Keeps all endpoints of the process open until it is dropped.
pub(crate) struct KeepOpen {
    _live: RwLockReadGuard<'static, Option<HashMap<Vec<u8>, u64>>>,
}

impl LiveEndpoint {
    /// Notes that an endpoint is open.
    pub(crate) fn new(name: &[u8]) -> LiveEndpoint {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut live = LIVE.write().unwrap_or_else(PoisonError::into_inner);
        let names = live.get_or_insert_default();
        names.insert(name.to_vec(), number);
        let name = name.to_vec();
        LiveEndpoint { name }
    }
}

impl Drop for LiveEndpoint {
    fn drop(&mut self) {
        let mut live = LIVE.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = live.as_mut() {
            names.remove(&self.name);
        }
    }
}

impl NearPeer {
    /// The endpoint with a name, if it is one of this process.
    pub(crate) fn find(name: &[u8]) -> Option<NearPeer> {
        let live = LIVE.read().unwrap_or_else(PoisonError::into_inner);
        let number = *live.as_ref()?.get(name)?;
        let name = name.to_vec();
        Some(NearPeer { name, number })
    }

    /// Keeps the peer open.
    ///
    /// # Errors
    /// The peer has closed.
    pub(crate) fn keep_open(&self) -> Result<KeepOpen, FabricError> {
        let _live = LIVE.read().unwrap_or_else(PoisonError::into_inner);
        let names = _live.as_ref();
        if names.and_then(|names| names.get(&self.name)) != Some(&self.number) {
            let why = "the peer has closed the connection".to_owned();
            return Err(FabricError::Disconnected(why));
        }
        Ok(KeepOpen { _live })
    }
}

impl KeepOpen {
    /// Keeps all endpoints of the process open.
    pub(crate) fn all() -> KeepOpen {
        let _live = LIVE.read().unwrap_or_else(PoisonError::into_inner);
        KeepOpen { _live }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_peer_is_not_one_with_its_name() {
        assert!(NearPeer::find(b"near").is_none());
        let endpoint = LiveEndpoint::new(b"near");
        let peer = NearPeer::find(b"near").unwrap();
        assert!(peer.keep_open().is_ok());
        drop(endpoint);
        assert!(peer.keep_open().is_err());
        let _again = LiveEndpoint::new(b"near");
        assert!(peer.keep_open().is_err());
        assert!(NearPeer::find(b"near").unwrap().keep_open().is_ok());
    }
}
