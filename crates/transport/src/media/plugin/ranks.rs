//! Media whose processes are ranks, which another program than the launcher starts.

use ::plugin::LibraryRanks;
pub use ::plugin::{MemberRank, SHARE_BYTES_MAX};

use super::medium::plain_error;
use super::registry::find_library;
use crate::Error;

/// The ranks of a medium.
#[derive(Clone, Copy, Debug)]
pub struct Ranks(LibraryRanks);

/// The ranks that the processes of a job on this medium have to be; `None`: no library has this
/// name, or its processes may be any.
///
/// # Example
/// ```
/// assert!(thalweg_transport::media::plugin::ranks_of("shm").is_none());
/// ```
pub fn ranks_of(medium: &str) -> Option<Ranks> {
    find_library(medium)?.library.ranks().map(Ranks)
}

impl Ranks {
    /// Makes this process a rank. Waits for the other ranks.
    ///
    /// # Errors
    /// The library's.
    pub fn join(&self) -> Result<MemberRank, Error> {
        self.0.join().map_err(|error| plain_error(error, "ranks"))
    }

    /// Gives the bytes of rank 0 to all ranks, which replace theirs. Waits for the other ranks.
    ///
    /// # Errors
    /// The library's.
    pub fn share(&self, bytes: &mut [u8; SHARE_BYTES_MAX]) -> Result<(), Error> {
        let shared = self.0.share(bytes);
        shared.map_err(|error| plain_error(error, "ranks"))
    }
}
