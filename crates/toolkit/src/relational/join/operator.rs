//! The operator instance of a Join over sliding windows that is not lowered.

use eval::Fault;
use graph::{Policy, PortIndex};
use runtime::window::{LeaveReason, WindowArrival, WindowObserver, WindowPartition};
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet, TimerId};
use tuple::TupleRef;

use super::join_side::{JoinSide, StoredTupleId, TupleStore};
use super::pair_output::{PairOutput, side_inputs};
use super::pane_join;
use crate::relational::window_clock::WindowClock;

struct Join {
    sides: [JoinSide; 2],
    clock: WindowClock,
    candidates: Vec<StoredTupleId>,
    pair_output: PairOutput,
}

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let window = build.operator.inputs[0].window.as_ref();
    if let Some(Policy::Interval(interval)) = window.map(|window| &window.evict) {
        return pane_join::build(build, *interval);
    }
    let sides = [
        JoinSide::new(build, 0, "partitionByLHS", "equalityLHS")?,
        JoinSide::new(build, 1, "partitionByRHS", "equalityRHS")?,
    ];
    Ok(Box::new(Join {
        clock: WindowClock::new(sides.iter().any(|side| side.windows.is_timed())),
        sides,
        candidates: Vec::new(),
        pair_output: PairOutput::new(build)?,
    }))
}

impl Operator for Join {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let side = port.index();
        let now_ns = self.clock.now_ns();
        self.sides[side]
            .evaluate_keys(&EvaluationInputs::new(&side_inputs(side, tuple, None)), out)?;
        self.expire(1 - side, now_ns, out)?;
        let matched = self.probe(side, tuple, out)?;
        self.insert(side, tuple, matched, now_ns, out)?;
        self.pair_output.submit_marker(out)
    }

    fn on_timer(&mut self, _timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let now_ns = self.clock.now_ns();
        // A tuple that met a fault has left its marker: the next tuple's call sends it, or the
        // end, because a timer may submit nothing if no unmatched tuple counts.
        let had_submitted = std::mem::take(&mut self.pair_output.has_submitted);
        self.expire(0, now_ns, out)?;
        self.expire(1, now_ns, out)?;
        if self.pair_output.has_submitted {
            return self.pair_output.submit_marker(out);
        }
        self.pair_output.has_submitted = had_submitted;
        Ok(())
    }

    /// Sends the marker that a tuple with a fault has left, if no tuple came after it.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.pair_output.submit_marker(out)
    }
}

impl Join {
    /// Pairs a tuple with those of the other side's window; whether there was any.
    fn probe(
        &mut self,
        side: usize,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let [left, right] = &mut self.sides;
        let (own, other) = if side == 0 {
            (left, right)
        } else {
            (right, left)
        };
        self.candidates.clear();
        if own.has_equality() {
            if own.equality_key.equals_itself() {
                let key = own.equality_key.bytes();
                other.store.find(key, &mut self.candidates);
            }
        } else {
            other.append_all(&mut self.candidates);
        }
        let mut matched = false;
        for &id in &self.candidates {
            let partner = other.store.get(id).tuple.as_ref();
            if self
                .pair_output
                .submit_if_match(&side_inputs(side, tuple, Some(partner)), out)?
            {
                other.store.set_matched(id);
                matched = true;
            }
        }
        Ok(matched)
    }

    /// Inserts a tuple into the window of its own side.
    fn insert(
        &mut self,
        side: usize,
        tuple: TupleRef<'_>,
        matched: bool,
        now_ns: u64,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let own = &mut self.sides[side];
        if own.is_probe_only {
            return if matched {
                Ok(())
            } else {
                self.pair_output.submit_unmatched(side, tuple, out)
            };
        }
        let (evict_by, trigger_by) = own.windows.deltas(tuple, &own.layout);
        let id = own.store.add(tuple, own.equality_key.bytes(), matched)?;
        let key = own.partition_key.bytes();
        let arrival = WindowArrival {
            key,
            now_ns,
            evict_by,
            trigger_by,
            item: id,
        };
        let pairs = &mut self.pair_output;
        own.windows.insert(
            arrival,
            &mut EvictionObserver {
                side,
                store: &mut own.store,
                pair_output: pairs,
                out,
            },
        )
    }

    /// Evicts the tuples of a side whose time is over.
    fn expire(&mut self, side: usize, now_ns: u64, out: &mut dyn Outlet) -> Result<(), Fault> {
        let own = &mut self.sides[side];
        let pairs = &mut self.pair_output;
        own.windows.expire(
            now_ns,
            &mut EvictionObserver {
                side,
                store: &mut own.store,
                pair_output: pairs,
                out,
            },
        )
    }
}

/// The window's observer for one call on the operator.
struct EvictionObserver<'a> {
    side: usize,
    store: &'a mut TupleStore,
    pair_output: &'a mut PairOutput,
    out: &'a mut dyn Outlet,
}

impl WindowObserver<StoredTupleId> for EvictionObserver<'_> {
    /// The trigger is every tuple, which `process` serves.
    fn fire(&mut self, _: Option<&WindowPartition<StoredTupleId>>, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    fn leave(&mut self, id: StoredTupleId, cause: LeaveReason) -> Result<(), Fault> {
        self.store.remove(id);
        let kept = self.store.get(id);
        if kept.is_matched || cause == LeaveReason::PartitionEvicted {
            return Ok(());
        }
        self.pair_output
            .submit_unmatched(self.side, kept.tuple.as_ref(), self.out)
    }
}
