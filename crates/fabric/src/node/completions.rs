//! Completions as the provider tells them: entries of its queue, and its errors.

use std::mem::MaybeUninit;

use super::FabricNode;
use crate::abi::{
    FI_EAGAIN, FI_EAVAIL, FI_RECV, FI_REMOTE_CQ_DATA, FI_REMOTE_WRITE, FiCqDataEntry, FiCqErrEntry,
};
use crate::datagram::KeepOpen;
use crate::error::FabricError;
use crate::rdma_node::{COMPLETIONS_PER_POLL, Completion, CompletionKind};

impl FabricNode {
    /// Lets the provider make progress, and appends the completions of its queue.
    #[inline]
    pub(super) fn read_completions(
        &mut self,
        into: &mut Vec<Completion>,
    ) -> Result<(), FabricError> {
        // The provider may answer peers of this process.
        let has_near_peers = self.sockets.as_ref().is_some_and(|one| one.has_near_peers);
        let _near = has_near_peers.then(KeepOpen::all);
        let mut entries = MaybeUninit::<[FiCqDataEntry; COMPLETIONS_PER_POLL]>::uninit();
        let queue = self.completion_queue.as_ptr();
        // SAFETY: the queue is open and has this format of entries; there is room for all.
        let result = unsafe {
            let call = (*(*queue).ops).read;
            call(queue, entries.as_mut_ptr().cast(), COMPLETIONS_PER_POLL)
        };
        match -(result as i64) {
            FI_EAGAIN => Ok(()),
            FI_EAVAIL => self.failed_completions(into),
            _ => {
                self.library.check("fi_cq_read", result)?;
                let first = entries.as_ptr().cast::<FiCqDataEntry>();
                for at in 0..(result as usize).min(COMPLETIONS_PER_POLL) {
                    // SAFETY: the library has written as many entries as it says.
                    into.push(self.completion(unsafe { &*first.add(at) }));
                }
                Ok(())
            }
        }
    }

    /// Takes failed operations: all of a row, as those of a connection that has ended stand before
    /// what comes from others.
    #[cold]
    pub(super) fn failed_completions(
        &mut self,
        into: &mut Vec<Completion>,
    ) -> Result<(), FabricError> {
        for _ in 0..COMPLETIONS_PER_POLL {
            let Some(failed) = self.failed_completion()? else {
                break;
            };
            into.push(failed);
        }
        Ok(())
    }

    /// The next failed operation; `None`: no such one is next.
    fn failed_completion(&mut self) -> Result<Option<Completion>, FabricError> {
        let mut entry = MaybeUninit::<FiCqErrEntry>::zeroed();
        let queue = self.completion_queue.as_ptr();
        // SAFETY: the queue is open; all bytes of the entry are zero, or set by the library. With
        // room for no error data, the library keeps that itself, and nothing here looks at it.
        let (result, entry) = unsafe {
            let result = ((*(*queue).ops).readerr)(queue, entry.as_mut_ptr(), 0);
            (result, entry.assume_init())
        };
        if -(result as i64) == FI_EAGAIN {
            return Ok(None);
        }
        self.library.check("fi_cq_readerr", result)?;
        let number = entry.op_context.addr() as u64;
        let kind = CompletionKind::Failed(self.library.error("operation", entry.err));
        Ok(Some(Completion { number, kind }))
    }

    #[inline]
    pub(super) fn completion(&self, entry: &FiCqDataEntry) -> Completion {
        let mut number = entry.op_context.addr() as u64;
        let immediate = (entry.flags & FI_REMOTE_CQ_DATA != 0).then_some(entry.data);
        let kind = match immediate {
            Some(immediate) if entry.flags & FI_REMOTE_WRITE != 0 => {
                if !self.limits.immediate_uses_receive {
                    number = 0;
                }
                CompletionKind::RemoteWrite { immediate }
            }
            _ if entry.flags & FI_RECV != 0 => {
                let bytes = entry.len;
                CompletionKind::Received { bytes, immediate }
            }
            _ => CompletionKind::Posted,
        };
        Completion { number, kind }
    }
}
