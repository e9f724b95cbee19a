//! The ranks of a library whose processes another program starts: joining them, and bytes for all.

use std::fmt;

use crate::abi::{
    JoinRanks, MediumTableHead, RanksFields, SENTENCE_BYTES, STATUS_OK, ShareBytes, VERSION,
};
use crate::error::PluginError;
use crate::table::Table;

pub use crate::abi::SHARE_BYTES_MAX;

/// The functions of a library for ranks.
#[derive(Clone, Copy)]
pub struct LibraryRanks {
    table: &'static Table,
    join: JoinRanks,
    share: ShareBytes,
}

/// Place of this process among the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRank {
    /// Number of this process, from 0.
    pub rank: u32,
    /// Number of ranks of the job.
    pub size: u32,
}

impl LibraryRanks {
    /// Reads and checks the table of ranks.
    ///
    /// # Errors
    /// [`PluginError::Unusable`]: another version, a table that is too small, a null function.
    ///
    /// # Safety
    /// `ranks` is null or the address of a `thalweg_medium_ranks` of any version, which stays.
    pub(crate) unsafe fn read(
        table: &'static Table,
        ranks: *const RanksFields,
    ) -> Result<LibraryRanks, PluginError> {
        let unusable = |why: String| PluginError::unusable(&table.file, why);
        if ranks.is_null() {
            let why = "thalweg_medium_ranks_table is at a null address";
            return Err(unusable(why.to_owned()));
        }
        // SAFETY: each version of the table begins with its head.
        let MediumTableHead { version, bytes } =
            unsafe { ranks.cast::<MediumTableHead>().read_unaligned() };
        if version != VERSION || (bytes as usize) < size_of::<RanksFields>() {
            return Err(unusable(format!(
                "its table of ranks has version {version} and {bytes} bytes, and this thalweg calls \
                 version {VERSION} with {}; compile it with the thalweg_medium.h of this thalweg",
                size_of::<RanksFields>()
            )));
        }
        // SAFETY: the library says that the table has all these bytes.
        let fields = unsafe { ranks.read_unaligned() };
        let (Some(join), Some(share)) = (fields.join, fields.share) else {
            let why = "a function of its table of ranks is null";
            return Err(unusable(why.to_owned()));
        };
        Ok(LibraryRanks { table, join, share })
    }

    /// Makes this process a rank. Waits for the other ranks.
    ///
    /// # Errors
    /// The library's, or that it broke a rule.
    pub fn join(&self) -> Result<MemberRank, PluginError> {
        let mut sentence = [0; SENTENCE_BYTES];
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the pointers are valid for writes during the call.
        let status = unsafe { (self.join)(&mut rank, &mut size, &mut sentence) };
        match status {
            STATUS_OK if rank < size => Ok(MemberRank { rank, size }),
            STATUS_OK => Err(self
                .table
                .broken("join", format!("says that this is rank {rank} of {size}"))),
            status => Err(self.table.error("join", status, &sentence)),
        }
    }

    /// Gives the bytes of rank 0 to all ranks, which replace theirs. Waits for the other ranks.
    ///
    /// # Errors
    /// The library's, or that it broke a rule.
    pub fn share(&self, bytes: &mut [u8; SHARE_BYTES_MAX]) -> Result<(), PluginError> {
        let mut sentence = [0; SENTENCE_BYTES];
        let (start, len) = (bytes.as_mut_ptr().cast(), SHARE_BYTES_MAX as u32);
        // SAFETY: `start` is valid for writes of `len` bytes during the call, the sentence too.
        match unsafe { (self.share)(start, len, &mut sentence) } {
            STATUS_OK => Ok(()),
            status => Err(self.table.error("share", status, &sentence)),
        }
    }
}

impl fmt::Debug for LibraryRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ranks of {}", self.table.file.display())
    }
}
