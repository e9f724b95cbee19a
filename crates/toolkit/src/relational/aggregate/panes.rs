//! Aggregate over event time: a group's tuple for each firing of a pane.

use graph::{Fault, Interval, WindowKind};
use runtime::{Build, Operator, Outlet, Row};
use std::sync::Arc;
use tuple::{EventTime, TupleRef};

use super::operator::{Kept, Summary};
use crate::key::Key;
use crate::relational::panes::{PaneWindow, Sums};

/// Makes the operator.
pub fn build(build: &mut Build<'_>, interval: Interval) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Aggregate {
        window: PaneWindow::new(build, interval),
        partition: Key::new(build.param_projection("partitionBy")?),
        summary: Summary::new(build, WindowKind::TimeInterval)?,
    }))
}

struct Aggregate {
    window: PaneWindow<Kept>,
    partition: Key,
    summary: Summary,
}

impl Operator for Aggregate {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(at) = self.window.time_of(tuple) else {
            return Ok(());
        };
        let row = [Some(tuple)];
        let row = Row::new(&row);
        self.partition.read(&row, out)?;
        let kept = self.summary.keep(tuple, &row, out)?;
        self.window.insert(self.partition.bytes(), at, kept);
        Ok(())
    }

    fn watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.window.advance(at, &mut self.summary, out)
    }
}

impl Sums<Kept> for Summary {
    fn send_pane(&mut self, items: &[Arc<Kept>], out: &mut dyn Outlet) -> Result<(), Fault> {
        self.sum_up_pane(items, out)
    }
}
