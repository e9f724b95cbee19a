//! Completions as the provider tells them: entries of its queue, and its errors.

use std::mem::MaybeUninit;

use super::FabricNode;
use crate::abi::{
    FI_EAGAIN, FI_RECV, FI_REMOTE_CQ_DATA, FI_REMOTE_WRITE, FiCqDataEntry, FiCqErrEntry,
};
use crate::error::FabricError;
use crate::rdma_node::{COMPLETIONS_PER_POLL, Completion, CompletionKind};

impl FabricNode {
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
