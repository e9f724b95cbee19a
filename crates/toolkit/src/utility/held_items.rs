//! Tuples and window markers that wait in an operator until it passes them on.
//!
//! An operator that lets nothing pass holds up the thread that sends to it. Where that thread is
//! the only one that could let tuples pass again, the operator holds the tuples themselves.

use std::collections::VecDeque;
use std::sync::Arc;

use eval::{Fault, StateMemory, TraceLevel};
use graph::PortIndex;
use runtime::Outlet;
use tuple::{Punctuation, TupleBuf, TupleRef};

enum HeldItem {
    Tuple(TupleBuf),
    Window,
}

/// Items of the first input port that wait, in their order.
pub(super) struct HeldItems {
    items: VecDeque<HeldItem>,
    /// Counts of the tuples that wait.
    memory: Arc<StateMemory>,
    /// Name of the operator, for messages.
    kind: &'static str,
}

impl HeldItems {
    /// Nothing that waits, in an operator of this name.
    pub fn new(kind: &'static str, memory: Arc<StateMemory>) -> HeldItems {
        HeldItems {
            kind,
            items: VecDeque::new(),
            memory,
        }
    }

    /// Keeps a tuple behind those that wait.
    ///
    /// # Errors
    /// More state than config `stateBytesMax` allows.
    pub fn hold(&mut self, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.memory.add(state_bytes(tuple))?;
        let mut copy = TupleBuf::default();
        copy.copy_from(tuple);
        self.items.push_back(HeldItem::Tuple(copy));
        Ok(())
    }

    /// Sends a window marker on, behind the tuples that wait.
    pub fn pass_window_marker(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.items.is_empty() {
            return out.submit_punctuation(PortIndex(0), Punctuation::Window);
        }
        self.items.push_back(HeldItem::Window);
        Ok(())
    }

    /// Sends items on, in their order, as long as `may_pass` allows the next tuple.
    pub fn release(
        &mut self,
        out: &mut dyn Outlet,
        mut may_pass: impl FnMut() -> bool,
    ) -> Result<(), Fault> {
        while let Some(item) = self.items.pop_front() {
            match item {
                HeldItem::Window => out.submit_punctuation(PortIndex(0), Punctuation::Window)?,
                HeldItem::Tuple(tuple) if may_pass() => {
                    self.memory.remove(state_bytes(tuple.as_ref()));
                    out.submit(PortIndex(0), tuple.as_ref())?;
                }
                held @ HeldItem::Tuple(_) => {
                    self.items.push_front(held);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Drops the tuples that still wait, and logs how many and why. Markers go on.
    pub fn drop_rest(&mut self, why: &str, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut count = 0;
        while let Some(item) = self.items.pop_front() {
            match item {
                HeldItem::Window => out.submit_punctuation(PortIndex(0), Punctuation::Window)?,
                HeldItem::Tuple(tuple) => {
                    self.memory.remove(state_bytes(tuple.as_ref()));
                    count += 1;
                }
            }
        }
        let message = match count {
            0 => return Ok(()),
            1 => format!("a tuple is dropped: {why}"),
            _ => format!("{count} tuples are dropped: {why}"),
        };
        out.services().log(TraceLevel::Warn, &message, self.kind);
        Ok(())
    }
}

/// Bytes of a waiting tuple that are counted as state.
fn state_bytes(tuple: TupleRef<'_>) -> usize {
    size_of::<HeldItem>() + tuple.bytes().len()
}
