//! The contract between an operator with a window and the window.

use eval::Fault;
use graph::Window;
use runtime::window::{PaneItems, WindowPartition, Windows};
use runtime::{EvaluationInputs, Outlet};
use tuple::TupleRef;

/// The part of a windowed operator that is its own: the items that it keeps, and its output.
pub trait WindowFunction: Send {
    /// The form in which the window keeps a tuple.
    type Item: Send;
    /// Makes an item of a tuple that was received.
    fn make_item(
        &mut self,
        tuple: TupleRef<'_>,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Self::Item, Fault>;
    /// Counts an item as state, because a window is about to keep it.
    ///
    /// # Errors
    /// With it the state would be beyond config `stateBytesMax`.
    fn count_item(&mut self, item: &mut Self::Item) -> Result<(), Fault>;
    /// Takes an item back that is in no window any more; its memory may be used again. If it was
    /// counted, it counts no more.
    fn recycle_item(&mut self, kept: Self::Item);
    /// Whether a partition of a pane keeps one item, into which others are merged.
    fn merges_in_panes(&self) -> bool {
        false
    }
    /// Merges an item into that of a partition of a pane. If the partition has none yet, returns
    /// the one that it keeps.
    fn merge_in_pane(
        &mut self,
        kept: Option<&mut Self::Item>,
        item: &Self::Item,
    ) -> Result<Option<Self::Item>, Fault> {
        let _ = (kept, item);
        Err(Fault::value("items of panes are not merged"))
    }
    /// Submits the output of a partition of a pane that fires, from all of its items.
    fn submit_pane(
        &mut self,
        items: PaneItems<'_, Self::Item>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault>;
    /// A sentence that says how a program gets results of windows that do not become full; `None`
    /// if the operator uses their items when the input ends.
    fn incomplete_help(&self, window: &Window) -> Option<&'static str>;
    /// Whether the items of a partition have given no output, and will not.
    fn is_incomplete(&self, partition: &WindowPartition<Self::Item>) -> bool {
        !partition.is_empty()
    }
    /// Ends the input. The windows still hold their last items.
    fn finish(&mut self, windows: &Windows<Self::Item>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (windows, out);
        Ok(())
    }
}

/// Observer of the windows during one call of the operator; each window function implements it.
pub struct WindowFiring<'a, K> {
    pub function: &'a mut K,
    pub out: &'a mut dyn Outlet,
}
