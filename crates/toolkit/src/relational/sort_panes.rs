//! Sort over event time: a pane that fires is sent in order.

use graph::{Fault, Interval};
use runtime::{Build, Operator, Outlet, Row};
use std::sync::Arc;
use tuple::{EventTime, TupleRef};

use super::panes::{PaneWindow, Sums};
use super::sort::{Kept, Sorted};
use crate::key::Key;

/// Makes the operator.
pub fn build(build: &mut Build<'_>, interval: Interval) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Sort {
        window: PaneWindow::new(build, interval),
        partition: Key::new(build.param_projection("partitionBy")?),
        sorted: Sorted::new(build, false)?,
    }))
}

struct Sort {
    window: PaneWindow<Kept>,
    partition: Key,
    sorted: Sorted,
}

impl Operator for Sort {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(at) = self.window.time_of(tuple) else {
            return Ok(());
        };
        let row = [Some(tuple)];
        let row = Row::new(&row);
        self.partition.read(&row, out)?;
        let kept = self.sorted.keep(tuple, &row, out)?;
        self.window.insert(self.partition.bytes(), at, kept);
        Ok(())
    }

    fn watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.window.advance(at, &mut self.sorted, out)
    }
}

impl Sums<Kept> for Sorted {
    fn send_pane(&mut self, items: &[Arc<Kept>], out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send_all(items.iter().map(|kept| &**kept).collect(), out)
    }
}
