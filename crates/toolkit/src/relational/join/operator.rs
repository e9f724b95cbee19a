//! The operator instance of Join.

use eval::Fault;
use graph::PortIndex;
use runtime::abi::{Predicate, Projection};
use runtime::window::{LeaveReason, WindowArrival, WindowObserver, WindowPartition};
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet, TimerId};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::join_side::{JoinSide, StoredTupleId, TupleStore};
use crate::relational::window_clock::WindowClock;

struct Join {
    sides: [JoinSide; 2],
    clock: WindowClock,
    candidates: Vec<StoredTupleId>,
    pair_output: PairOutput,
}

/// Evaluates and submits the output for pairs, and for tuples without a partner.
struct PairOutput {
    condition: Option<Predicate>,
    output: Projection,
    out_tuple: TupleBuf,
    /// Action for a tuple that never finds a partner, by side.
    unmatched: [UnmatchedAction; 2],
    /// Whether a tuple was submitted to port 0 since the last marker.
    has_submitted: bool,
}

/// Action for a tuple that never finds a partner.
enum UnmatchedAction {
    /// The tuple gives no output.
    Drop,
    /// The tuple is submitted unchanged to this port.
    SubmitToPort(PortIndex),
    /// The tuple is paired with this tuple of the other side.
    PairWithDefault(TupleBuf),
}

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let sides = [
        JoinSide::new(build, 0, "partitionByLHS", "equalityLHS")?,
        JoinSide::new(build, 1, "partitionByRHS", "equalityRHS")?,
    ];
    let algorithm = build.literal("algorithm").unwrap_or("inner");
    let outer = [
        matches!(algorithm, "outer" | "leftOuter"),
        matches!(algorithm, "outer" | "rightOuter"),
    ];
    let defaults = ["defaultTupleLHS", "defaultTupleRHS"];
    let mut next_port = 1;
    let mut unmatched = [UnmatchedAction::Drop, UnmatchedAction::Drop];
    for side in 0..2 {
        if !outer[side] {
            continue;
        }
        unmatched[side] = if build.outputs.len() > 1 {
            next_port += 1;
            UnmatchedAction::SubmitToPort(PortIndex(next_port - 1))
        } else {
            UnmatchedAction::PairWithDefault(default_tuple(build, 1 - side, defaults[1 - side])?)
        };
    }
    let condition = match build.param_exprs("match") {
        Some([expr, ..]) => Some(build.predicate(expr)?),
        _ => None,
    };
    let output = build.output_projection(PortIndex(0))?;
    let out_tuple = TupleBuf::default();
    let pairs = PairOutput {
        condition,
        output,
        out_tuple,
        unmatched,
        has_submitted: false,
    };
    Ok(Box::new(Join {
        clock: WindowClock::new(sides.iter().any(|side| side.windows.is_timed())),
        sides,
        candidates: Vec::new(),
        pair_output: pairs,
    }))
}

/// The tuple that stands for a missing partner of a side.
fn default_tuple(
    build: &mut BuildContext<'_>,
    side: usize,
    param: &str,
) -> Result<TupleBuf, Fault> {
    let layout = build.inputs[side].clone();
    let mut tuple = TupleBuf::default();
    tuple.begin(&layout);
    if let Some(tuple::Value::Tuple(values)) = build.value(param)? {
        for (at, value) in values.iter().enumerate() {
            tuple.set(&layout, at, value);
        }
    }
    Ok(tuple)
}

/// A row with a tuple of one side and one of the other.
fn side_inputs<'a>(
    side: usize,
    tuple: TupleRef<'a>,
    other: Option<TupleRef<'a>>,
) -> [Option<TupleRef<'a>>; 2] {
    if side == 0 {
        [Some(tuple), other]
    } else {
        [other, Some(tuple)]
    }
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

impl PairOutput {
    /// Sends a pair if it fits; whether it does.
    fn submit_if_match(
        &mut self,
        tuples: &[Option<TupleRef<'_>>; 2],
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let inputs = EvaluationInputs::new(tuples);
        if let Some(condition) = &mut self.condition
            && !condition.holds(&inputs, out)?
        {
            return Ok(false);
        }
        self.submit(&inputs, out)?;
        Ok(true)
    }

    fn submit(&mut self, inputs: &EvaluationInputs<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.output.write(inputs, out, &mut self.out_tuple)?;
        self.has_submitted = true;
        out.submit_owned(PortIndex(0), &mut self.out_tuple)
    }

    /// A tuple that has found no partner is no longer looked for.
    fn submit_unmatched(
        &mut self,
        side: usize,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let unmatched = std::mem::replace(&mut self.unmatched[side], UnmatchedAction::Drop);
        let sent = match &unmatched {
            UnmatchedAction::Drop => Ok(()),
            UnmatchedAction::SubmitToPort(port) => out.submit(*port, tuple),
            UnmatchedAction::PairWithDefault(default) => self.submit(
                &EvaluationInputs::new(&side_inputs(side, tuple, Some(default.as_ref()))),
                out,
            ),
        };
        self.unmatched[side] = unmatched;
        sent
    }

    /// A window marker after what was sent.
    fn submit_marker(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if std::mem::take(&mut self.has_submitted) {
            out.submit_punctuation(PortIndex(0), Punctuation::Window)
        } else {
            Ok(())
        }
    }
}
