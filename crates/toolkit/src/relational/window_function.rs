//! The contract between an operator with a window and the window.

use eval::Fault;
use graph::Window;
use runtime::window::{PaneItems, WindowPartition, Windows};
use runtime::{EvaluationInputs, Outlet};
use tuple::TupleRef;

/// What an operator keeps of the tuples of its window, and what it makes of them.
pub trait WindowFunction: Send {
    /// A tuple in the window.
    type Item: Send;
    /// Of a tuple that has come.
    fn make_item(
        &mut self,
        tuple: TupleRef<'_>,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Self::Item, Fault>;
    /// A tuple is in no window any more.
    fn recycle_item(&mut self, kept: Self::Item);
    /// A partition of a pane over event time fires with all that it holds.
    fn submit_pane(
        &mut self,
        items: PaneItems<'_, Self::Item>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault>;
    /// What a program would have to say to get results of windows that do not get full; `None`: it
    /// makes something of what they hold in the end.
    fn incomplete_help(&self, window: &Window) -> Option<&'static str>;
    /// Whether the tuples of a partition have given nothing, and will not.
    fn is_incomplete(&self, partition: &WindowPartition<Self::Item>) -> bool {
        !partition.is_empty()
    }
    /// There will be no more tuples; these are still in the windows.
    fn finish(&mut self, windows: &Windows<Self::Item>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (windows, out);
        Ok(())
    }
}

/// The windows' observer for one call on the operator: each keeper makes it one.
pub struct WindowFiring<'a, K> {
    pub function: &'a mut K,
    pub out: &'a mut dyn Outlet,
}
