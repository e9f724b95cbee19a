//! The running Join.

use graph::Fault;
use runtime::abi::{Predicate, Projection};
use runtime::window::{Arrival, Cause, Observer, Partition};
use runtime::{Build, Operator, Outlet, Row, TimerId};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::side::{Id, Side, Store};
use crate::relational::clock::Clock;

struct Join {
    sides: [Side; 2],
    clock: Clock,
    found: Vec<Id>,
    pairs: Pairs,
}

/// What turns pairs, and tuples without a partner, into output.
struct Pairs {
    condition: Option<Predicate>,
    output: Projection,
    out_tuple: TupleBuf,
    /// By side: what becomes of a tuple that never finds a partner.
    unmatched: [Unmatched; 2],
    /// A tuple was sent on port 0 since the last marker.
    sent: bool,
}

/// What becomes of a tuple that never finds a partner.
enum Unmatched {
    /// Nothing.
    Dropped,
    /// It is sent as it is on this port.
    Sent(u32),
    /// It is paired with this tuple of the other side.
    Paired(TupleBuf),
}

/// Makes the operator.
pub fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let sides = [
        Side::new(build, 0, "partitionByLHS", "equalityLHS")?,
        Side::new(build, 1, "partitionByRHS", "equalityRHS")?,
    ];
    let algorithm = build.literal("algorithm").unwrap_or("inner");
    let outer = [
        matches!(algorithm, "outer" | "leftOuter"),
        matches!(algorithm, "outer" | "rightOuter"),
    ];
    let defaults = ["defaultTupleLHS", "defaultTupleRHS"];
    let mut next_port = 1;
    let mut unmatched = [Unmatched::Dropped, Unmatched::Dropped];
    for side in 0..2 {
        if !outer[side] {
            continue;
        }
        unmatched[side] = if build.outputs.len() > 1 {
            next_port += 1;
            Unmatched::Sent(next_port - 1)
        } else {
            Unmatched::Paired(default_tuple(build, 1 - side, defaults[1 - side])?)
        };
    }
    let condition = match build.exprs("match") {
        Some([expr, ..]) => Some(build.predicate(expr)?),
        _ => None,
    };
    let output = build.output(0)?;
    let out_tuple = TupleBuf::default();
    let pairs = Pairs {
        condition,
        output,
        out_tuple,
        unmatched,
        sent: false,
    };
    Ok(Box::new(Join {
        clock: Clock::new(sides.iter().any(|side| side.windows.is_timed())),
        sides,
        found: Vec::new(),
        pairs,
    }))
}

/// The tuple that stands for a missing partner of a side.
fn default_tuple(build: &mut Build<'_>, side: usize, param: &str) -> Result<TupleBuf, Fault> {
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
fn row<'a>(
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
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let side = port as usize;
        let now_ns = self.clock.now_ns();
        self.sides[side].keys(&Row::new(&row(side, tuple, None)), out)?;
        self.expire(1 - side, now_ns, out)?;
        let matched = self.probe(side, tuple, out)?;
        self.keep(side, tuple, matched, now_ns, out)?;
        self.pairs.mark(out)
    }

    fn timer(&mut self, _timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let now_ns = self.clock.now_ns();
        self.expire(0, now_ns, out)?;
        self.expire(1, now_ns, out)?;
        self.pairs.mark(out)
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
        self.found.clear();
        if own.has_equality() {
            other.store.find(own.equality.bytes(), &mut self.found);
        } else {
            other.all(&mut self.found);
        }
        let mut matched = false;
        for &id in &self.found {
            let partner = other.store.get(id).tuple.as_ref();
            if self.pairs.pair(&row(side, tuple, Some(partner)), out)? {
                other.store.set_matched(id);
                matched = true;
            }
        }
        Ok(matched)
    }

    /// Puts a tuple into the window of its own side.
    fn keep(
        &mut self,
        side: usize,
        tuple: TupleRef<'_>,
        matched: bool,
        now_ns: u64,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let own = &mut self.sides[side];
        if own.passes {
            return if matched {
                Ok(())
            } else {
                self.pairs.alone(side, tuple, out)
            };
        }
        let (evict_by, trigger_by) = own.windows.deltas(tuple, &own.layout);
        let id = own.store.add(tuple, own.equality.bytes(), matched);
        let key = own.partition.bytes();
        let arrival = Arrival {
            key,
            now_ns,
            evict_by,
            trigger_by,
            item: id,
        };
        let pairs = &mut self.pairs;
        own.windows.insert(
            arrival,
            &mut Leaving {
                side,
                store: &mut own.store,
                pairs,
                out,
            },
        )
    }

    /// Lets the tuples of a side leave whose time is over.
    fn expire(&mut self, side: usize, now_ns: u64, out: &mut dyn Outlet) -> Result<(), Fault> {
        let own = &mut self.sides[side];
        let pairs = &mut self.pairs;
        own.windows.expire(
            now_ns,
            &mut Leaving {
                side,
                store: &mut own.store,
                pairs,
                out,
            },
        )
    }
}

/// The window's observer for one call on the operator.
struct Leaving<'a> {
    side: usize,
    store: &'a mut Store,
    pairs: &'a mut Pairs,
    out: &'a mut dyn Outlet,
}

impl Observer<Id> for Leaving<'_> {
    /// The trigger is every tuple, which `process` serves.
    fn fire(&mut self, _: Option<&Partition<Id>>, _: usize) -> Result<(), Fault> {
        Ok(())
    }

    fn leave(&mut self, id: Id, cause: Cause) -> Result<(), Fault> {
        self.store.remove(id);
        let kept = self.store.get(id);
        if kept.matched || cause == Cause::Partition {
            return Ok(());
        }
        self.pairs.alone(self.side, kept.tuple.as_ref(), self.out)
    }
}

impl Pairs {
    /// Sends a pair if it fits; whether it does.
    fn pair(
        &mut self,
        tuples: &[Option<TupleRef<'_>>; 2],
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let row = Row::new(tuples);
        if let Some(condition) = &mut self.condition
            && !condition.holds(&row, out)?
        {
            return Ok(false);
        }
        self.send(&row, out)?;
        Ok(true)
    }

    fn send(&mut self, row: &Row<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.output.write(row, out, &mut self.out_tuple)?;
        self.sent = true;
        out.submit_made(0, &mut self.out_tuple)
    }

    /// A tuple that has found no partner is no longer looked for.
    fn alone(
        &mut self,
        side: usize,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let unmatched = std::mem::replace(&mut self.unmatched[side], Unmatched::Dropped);
        let sent = match &unmatched {
            Unmatched::Dropped => Ok(()),
            Unmatched::Sent(port) => out.submit(*port, tuple),
            Unmatched::Paired(default) => {
                self.send(&Row::new(&row(side, tuple, Some(default.as_ref()))), out)
            }
        };
        self.unmatched[side] = unmatched;
        sent
    }

    /// A window marker after what was sent.
    fn mark(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if std::mem::take(&mut self.sent) {
            out.punctuate(0, Punctuation::Window)
        } else {
            Ok(())
        }
    }
}
