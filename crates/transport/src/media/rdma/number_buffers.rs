//! Receive buffers for numbers: some providers use one up for each write that brings a number.
//!
//! ```text
//!   numbers    looked at      told          buffers posted
//!              |..............|.............|
//!                completions    room for more numbers
//! ```
//! A number comes with a write, and finds a posted receive buffer (`verbs`: else the adapter tries
//! again after a pause). No bytes come into the buffer, so all of them are the same memory. A side
//! has [`NUMBER_BUFFERS`] posted, and posts one again for each completion.
//!
//! # Why neither side waits for ever
//! A sender has at most [`NUMBER_BUFFERS`] writes that the receiver has not released, and the
//! receiver looks at the number of a write before it polls its frames, so at most as many numbers
//! are not looked at: each number of a write finds a buffer.
//!
//! Credit brings a number too, mostly for a position of one of these writes, but also for a quarter
//! of the ring within a write, and after a connection is made again. So a number of credit may find
//! no buffer, and waits. The sender posts buffers again whenever it takes completions, also while
//! it waits for credit itself, so the number goes on when the sender looks next.

use fabric::{
    ConnectionId, FabricError, LocalSlice, PinnedMemory, RdmaNode, RegionId, RemoteAccess,
};

use super::write_targets::{memory, refused};
use crate::Error;

/// Receive buffers for numbers on each side of a connection: as many as writes may be unreleased;
/// half of them are for writes of a flush alone. With the default ring of 1 MiB, the other half is
/// a write of 16 KiB each, and more bytes join a write when there are fewer. Tests have few, so
/// that they are used up.
pub(super) const NUMBER_BUFFERS: usize = if cfg!(test) { 4 } else { 128 };

/// Bytes of the memory that stands for all buffers.
const BUFFER_BYTES: usize = 8;

/// The memory of a node's receive buffers for numbers, if its provider uses any.
pub(super) struct NumberMemory {
    region: Option<RegionId>,
    /// Keeps the pages: nothing reads them.
    _memory: Option<PinnedMemory>,
}

/// Receive buffers for numbers of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberBuffers {
    posted: usize,
}

impl NumberMemory {
    /// Registers the memory, if the provider of the node uses receive buffers for numbers and
    /// numbers are used.
    ///
    /// # Errors
    /// The provider refuses, or takes fewer receive buffers.
    pub(super) fn new(node: &mut impl RdmaNode, has_numbers: bool) -> Result<NumberMemory, Error> {
        let limits = node.limits();
        if !limits.immediate_uses_receive || !has_numbers {
            let (region, _memory) = (None, None);
            return Ok(NumberMemory { region, _memory });
        }
        if limits.receive_depth < NUMBER_BUFFERS {
            return Err(Error::Refused(format!(
                "the provider {} takes {} receive buffers; modes write and batch need {NUMBER_BUFFERS}",
                limits.provider, limits.receive_depth
            )));
        }
        let memory = memory(BUFFER_BYTES)?;
        let region = node
            .register(&memory, RemoteAccess::None)
            .map_err(refused)?;
        Ok(NumberMemory {
            region: Some(region),
            _memory: Some(memory),
        })
    }

    /// Whether numbers use receive buffers.
    pub(super) fn is_used(&self) -> bool {
        self.region.is_some()
    }

    /// Posts the missing buffers of a connection, as far as the provider has room. Returns whether
    /// all are posted. `number` is that of their completions.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn post(
        &self,
        node: &mut impl RdmaNode,
        connection: ConnectionId,
        buffers: &mut NumberBuffers,
        number: u64,
    ) -> Result<bool, FabricError> {
        let Some(region) = self.region else {
            return Ok(true);
        };
        let into = LocalSlice {
            region,
            range: 0..BUFFER_BYTES,
        };
        while buffers.posted < NUMBER_BUFFERS {
            if !node.post_receive(connection, &into, number)? {
                return Ok(false);
            }
            buffers.posted += 1;
        }
        Ok(true)
    }
}

impl NumberBuffers {
    /// Notes that a number has used a buffer up.
    pub(super) fn take(&mut self) {
        self.posted = self.posted.saturating_sub(1);
    }
}
