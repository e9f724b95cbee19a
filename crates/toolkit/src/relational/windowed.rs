//! Operators with one window: what they have in common, whatever they make of its tuples.
//!
//! ```text
//!   tuple -> keep -> [ windows: count, time, delta, punct ] -> Observer of Firing
//!                 \-> [ panes: event time ]                 -> send_pane      (super::panes)
//! ```
//! A [`Keeper`] says what is kept of a tuple and what becomes of it; the rest is the same for all.

use graph::{Fault, Policy, Window};
use runtime::window::{Arrival, Items, Observer, Partition, Windows};
use runtime::{Build, Incomplete, Operator, Outlet, Row, TimerId};
use std::sync::Arc;
use tuple::{Layout, TupleRef};

use super::clock::Clock;
use super::panes::PaneWindow;
use crate::key::Key;

/// What an operator keeps of the tuples of its window, and what it makes of them.
pub trait Keeper: Send {
    /// A tuple in the window.
    type Kept: Send;
    /// Of a tuple that has come.
    fn keep(
        &mut self,
        tuple: TupleRef<'_>,
        row: &Row<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Self::Kept, Fault>;
    /// A tuple is in no window any more.
    fn take_back(&mut self, kept: Self::Kept);
    /// A partition of a pane over event time fires with all that it holds.
    fn send_pane(
        &mut self,
        items: Items<'_, Self::Kept>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault>;
    /// What a program would have to say to get results of windows that do not get full; `None`: it
    /// makes something of what they hold in the end.
    fn help(&self, window: &Window) -> Option<&'static str>;
    /// Whether the tuples of a partition have given nothing, and will not.
    fn is_incomplete(&self, partition: &Partition<Self::Kept>) -> bool {
        !partition.is_empty()
    }
    /// There will be no more tuples; these are still in the windows.
    fn finish(&mut self, windows: &Windows<Self::Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (windows, out);
        Ok(())
    }
}

/// The windows' observer for one call on the operator: each keeper makes it one.
pub struct Firing<'a, K> {
    pub keeper: &'a mut K,
    pub out: &'a mut dyn Outlet,
}

/// The window of the operator's only input port.
pub fn window<'b>(build: &Build<'b>) -> &'b Window {
    let window = build.operator.inputs[0].window.as_ref();
    window.expect("the model asks for a window")
}

/// Makes the operator.
pub fn build<K: Keeper + 'static>(
    build: &mut Build<'_>,
    keeper: K,
) -> Result<Box<dyn Operator>, Fault>
where
    for<'a> Firing<'a, K>: Observer<K::Kept>,
{
    let window = window(build);
    if let Policy::Interval(interval) = window.evict {
        return Ok(Box::new(PaneWindow::new(build, interval, keeper)?));
    }
    if let Some(seconds) = window.period() {
        build.timer(seconds);
    }
    let windows = Windows::new(window);
    Ok(Box::new(Windowed {
        clock: Clock::new(windows.is_timed()),
        windows,
        partition: Key::new(build.param_projection("partitionBy")?),
        input: build.inputs[0].clone(),
        reported: Reported::default(),
        help: keeper.help(window),
        keeper,
    }))
}

struct Windowed<K: Keeper> {
    windows: Windows<K::Kept>,
    partition: Key,
    input: Arc<Layout>,
    clock: Clock,
    reported: Reported,
    help: Option<&'static str>,
    keeper: K,
}

impl<K: Keeper> Operator for Windowed<K>
where
    for<'a> Firing<'a, K>: Observer<K::Kept>,
{
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let row = [Some(tuple)];
        let row = Row::new(&row);
        self.partition.read(&row, out)?;
        let item = self.keeper.keep(tuple, &row, out)?;
        let (evict_by, trigger_by) = self.windows.deltas(tuple, &self.input);
        let arrival = Arrival {
            key: self.partition.bytes(),
            now_ns: self.clock.now_ns(),
            evict_by,
            trigger_by,
            item,
        };
        let keeper = &mut self.keeper;
        self.windows.insert(arrival, &mut Firing { keeper, out })?;
        self.report(out);
        Ok(())
    }

    fn window_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let keeper = &mut self.keeper;
        self.windows.marker(&mut Firing { keeper, out })?;
        self.report(out);
        Ok(())
    }

    fn timer(&mut self, _: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let keeper = &mut self.keeper;
        let now_ns = self.clock.now_ns();
        self.windows.tick(now_ns, &mut Firing { keeper, out })?;
        self.report(out);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.keeper.finish(&self.windows, out)
    }

    fn incomplete(&self) -> Option<Incomplete> {
        let help = self.help?;
        let partitions = self.windows.partitions();
        let incomplete = partitions.filter(|partition| self.keeper.is_incomplete(partition));
        let none = Incomplete {
            help,
            ..Incomplete::default()
        };
        Some(incomplete.fold(none, |sum, partition| Incomplete {
            windows: sum.windows + 1,
            tuples: sum.tuples + partition.len() as u64,
            ..sum
        }))
    }
}

impl<K: Keeper> Windowed<K> {
    fn report(&mut self, out: &mut dyn Outlet) {
        if self.partition.is_given() {
            self.reported.set(self.windows.partition_count(), out);
        }
    }
}

/// How many partitions the metric has.
#[derive(Default)]
pub struct Reported(usize);

impl Reported {
    /// Keeps the metric true; most tuples change nothing.
    #[inline]
    pub fn set(&mut self, partitions: usize, out: &mut dyn Outlet) {
        if partitions != self.0 {
            let more = partitions as i64 - self.0 as i64;
            out.services().count("nCurrentPartitions", more);
            self.0 = partitions;
        }
    }
}
