//! Join over panes: pairs the tuples of both sides that are in one pane of event time, when the
//! watermark of both inputs has passed its end.
//!
//! ```text
//!   pane   L1 R1 L2 R2 L3        in the order of arrival
//!   fires  L1-R1 L1-R2           each left tuple with the right ones that match
//!          L2-R2                 an outer join: left ones without a partner at their place,
//!          L3-?  ?-R3            right ones at the end
//!          window marker
//! ```
//! The panes are those of all windows over event time ([`Panes`]): a late tuple fires its panes
//! again with all pairs.

use std::sync::Arc;

use eval::{Fault, Pane, StateMemory};
use graph::{Policy, PortIndex, TimeInterval};
use runtime::window::{KeyIds, PaneItems, PaneObserver, Panes};
use runtime::{
    BuildContext, EvaluationInputs, IncompleteWindows, Operator, Outlet, count_late_tuple,
};
use tuple::{EventTime, Layout, TupleBuf, TupleRef};

use super::pair_output::{PairOutput, side_inputs};
use crate::key_evaluator::KeyEvaluator;
use crate::relational::pane_window::{INCOMPLETE_PANES_HELP, set_current_pane};

/// The operator instance of a Join over panes.
struct PaneJoin {
    panes: Panes<PaneTuple>,
    sides: [PaneSide; 2],
    pairing: PanePairing,
}

/// One input of the Join.
struct PaneSide {
    /// The panes, with where the tuples of this side have their event time.
    interval: TimeInterval,
    layout: Arc<Layout>,
    equality_key: KeyEvaluator,
}

/// A tuple of either side.
#[derive(Default)]
struct PaneTuple {
    side: usize,
    tuple: TupleBuf,
    /// Bytes of the equality key; empty without equality parameters.
    key: Vec<u8>,
    /// Whether the key equals itself; with a NaN it equals no key.
    has_equal_key: bool,
}

/// Pairs the tuples of a pane that fires.
struct PanePairing {
    pair_output: PairOutput,
    right: RightTuples,
    /// Whether a right tuple has found a partner, by its place among the pane's tuples.
    is_matched: Vec<bool>,
    spare: Vec<PaneTuple>,
    /// Counts of the kept tuples.
    memory: Arc<StateMemory>,
}

/// The right tuples of the pane that fires, found by key.
#[derive(Default)]
struct RightTuples {
    /// Without equality parameters all have the empty key.
    key_ids: KeyIds,
    /// By key id: places among the pane's tuples. Those of free ids are memory.
    by_key: Vec<Vec<usize>>,
}

/// Builds the operator instance of a Join both of whose windows are panes of this interval.
pub fn build(
    build: &mut BuildContext<'_>,
    interval: TimeInterval,
) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(PaneJoin {
        panes: Panes::new(interval, false),
        sides: [
            PaneSide::new(build, 0, "equalityLHS")?,
            PaneSide::new(build, 1, "equalityRHS")?,
        ],
        pairing: PanePairing {
            pair_output: PairOutput::new(build)?,
            right: RightTuples::default(),
            is_matched: Vec::new(),
            spare: Vec::new(),
            memory: build.state_memory(),
        },
    }))
}

impl PaneSide {
    fn new(build: &mut BuildContext<'_>, port: usize, equality: &str) -> Result<PaneSide, Fault> {
        let window = build.operator.inputs[port].window.as_ref();
        let Some(Policy::Interval(interval)) = window.map(|window| &window.evict) else {
            return Err(Fault::value(
                "both windows of a Join over panes are timeInterval",
            ));
        };
        Ok(PaneSide {
            interval: *interval,
            layout: build.inputs[port].clone(),
            equality_key: KeyEvaluator::new(build.param_projection(equality)?),
        })
    }

    fn event_time(&self, tuple: TupleRef<'_>) -> Option<EventTime> {
        let value = tuple.get(&self.layout, self.interval.attribute as usize);
        EventTime::from_value(&value, self.interval.resolution)
    }
}

impl Operator for PaneJoin {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let own = &mut self.sides[port.index()];
        let at = own.event_time(tuple);
        if at.is_some_and(|at| self.panes.is_too_late(at)) {
            count_late_tuple(out);
        }
        let Some(at) = at.filter(|at| !self.panes.is_outside_panes(*at)) else {
            return Ok(());
        };
        let inputs = side_inputs(port.index(), tuple, None);
        own.equality_key
            .evaluate(&EvaluationInputs::new(&inputs), out)?;
        let item = self.pairing.make_item(port, tuple, &own.equality_key)?;
        let pairing = &mut self.pairing;
        self.panes
            .insert(&[], at, item, &mut PaneFiring { pairing, out })
    }

    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        let pairing = &mut self.pairing;
        let advanced = self.panes.advance(at, &mut PaneFiring { pairing, out });
        set_current_pane(None, out);
        advanced
    }

    /// Sends the marker that a pane with a fault has left, if no pane fired after it.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.pairing.pair_output.submit_marker(out)
    }

    fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        let (windows, tuples) = self.panes.incomplete_counts();
        Some(IncompleteWindows {
            windows,
            tuples,
            help: INCOMPLETE_PANES_HELP,
        })
    }
}

/// The observer of the panes during one call of the operator.
struct PaneFiring<'a> {
    pairing: &'a mut PanePairing,
    out: &'a mut dyn Outlet,
}

impl PaneObserver<PaneTuple> for PaneFiring<'_> {
    fn fire(&mut self, pane: Pane, items: PaneItems<'_, PaneTuple>) -> Result<(), Fault> {
        set_current_pane(Some(pane), self.out);
        self.pairing.submit_pane(&items, self.out)
    }

    fn merge(
        &mut self,
        _: Option<&mut PaneTuple>,
        _: &PaneTuple,
    ) -> Result<Option<PaneTuple>, Fault> {
        Err(Fault::value("tuples of a Join are not merged"))
    }

    fn leave(&mut self, item: PaneTuple) {
        self.pairing.memory.remove(item.state_bytes());
        self.pairing.spare.push(item);
    }
}

impl PaneTuple {
    /// Bytes that are counted as state.
    fn state_bytes(&self) -> usize {
        size_of::<PaneTuple>() + self.tuple.len() + self.key.len()
    }
}

impl PanePairing {
    /// Makes an item of a tuple, and counts it.
    fn make_item(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        key: &KeyEvaluator,
    ) -> Result<PaneTuple, Fault> {
        let mut item = self.spare.pop().unwrap_or_default();
        item.side = port.index();
        item.tuple.copy_from(tuple);
        item.key.clear();
        item.key.extend_from_slice(key.bytes());
        item.has_equal_key = key.equals_itself();
        match self.memory.add(item.state_bytes()) {
            Ok(()) => Ok(item),
            Err(beyond) => {
                self.spare.push(item);
                Err(beyond.into())
            }
        }
    }

    /// Submits the pairs of a pane, then a window marker if there was any.
    fn submit_pane(
        &mut self,
        items: &PaneItems<'_, PaneTuple>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        // Left by a pane that met a fault.
        self.pair_output.submit_marker(out)?;
        self.right.fill(items);
        self.is_matched.clear();
        self.is_matched.resize(items.len(), false);
        for left in items.iter().filter(|item| item.side == 0) {
            let mut is_matched = false;
            for &at in self.right.with_key_of(left) {
                let partner = items.get(at).map(|right| right.tuple.as_ref());
                let inputs = [Some(left.tuple.as_ref()), partner];
                if self.pair_output.submit_if_match(&inputs, out)? {
                    self.is_matched[at] = true;
                    is_matched = true;
                }
            }
            if !is_matched {
                let tuple = left.tuple.as_ref();
                self.pair_output.submit_unmatched(0, tuple, out)?;
            }
        }
        for (at, right) in items.iter().enumerate() {
            if right.side == 1 && !self.is_matched[at] {
                let tuple = right.tuple.as_ref();
                self.pair_output.submit_unmatched(1, tuple, out)?;
            }
        }
        self.pair_output.submit_marker(out)
    }
}

impl RightTuples {
    /// Takes the right tuples of a pane in place of those of the pane before.
    fn fill(&mut self, items: &PaneItems<'_, PaneTuple>) {
        let used = self.key_ids.len();
        self.by_key[..used].iter_mut().for_each(Vec::clear);
        self.key_ids.clear();
        for (at, item) in items.iter().enumerate() {
            if item.side == 0 || !item.has_equal_key {
                continue;
            }
            let id = self.key_ids.find(&item.key);
            let id = id.unwrap_or_else(|| self.key_ids.assign(&item.key)) as usize;
            if id == self.by_key.len() {
                self.by_key.push(Vec::new());
            }
            self.by_key[id].push(at);
        }
    }

    /// Places of the tuples with the key of a left one.
    fn with_key_of(&self, left: &PaneTuple) -> &[usize] {
        let id = match left.has_equal_key {
            true => self.key_ids.find(&left.key),
            false => None,
        };
        id.map_or(&[], |id| &self.by_key[id as usize])
    }
}
