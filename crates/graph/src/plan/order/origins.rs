//! Which origins the tuples of each stream come from.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Origin;
use super::units::Units;
use crate::plan::flow::{Consumer, Flow};
use crate::{Edge, OperatorId, Program};

/// The origins of a program's streams.
pub(in crate::plan) struct Origins {
    /// By operator: the origins of what it submits.
    submitted: Vec<Rc<BTreeSet<Origin>>>,
    /// Operators that are origins, and queues (with their ports).
    begins: BTreeMap<(OperatorId, Option<u32>), Origin>,
    own_threads: BTreeSet<OperatorId>,
    pub(super) units: Units,
}

impl Origins {
    /// Of a program in which these ports have queues that are origins.
    pub fn new(program: &Program, flow: &Flow, queues: &BTreeSet<Consumer>) -> Origins {
        let mut origins = Origins {
            submitted: vec![Rc::default(); program.operators.len()],
            begins: begins(program, queues),
            own_threads: own_threads(program).collect(),
            units: Units::new(program, flow),
        };
        for at in 0..origins.units.all.len() {
            let submitted = origins.unit(program, at);
            for operator in origins.units.all[at].clone() {
                let own = origins.own(operator);
                let own = own.filter(|_| origins.has_own_thread(operator));
                origins.submitted[operator.0 as usize] = match own {
                    Some(own) => Rc::new(BTreeSet::from([own])),
                    None => submitted.clone(),
                };
            }
        }
        origins
    }

    /// Of the tuples of a stream.
    pub fn of(&self, stream: Edge) -> &BTreeSet<Origin> {
        &self.submitted[stream.operator.0 as usize]
    }

    /// Of what comes to a port by a stream.
    pub(super) fn arriving(&self, from: Edge, to: Consumer) -> BTreeSet<Origin> {
        match self.queue(to) {
            Some(queue) => BTreeSet::from([queue]),
            None => self.of(from).clone(),
        }
    }

    /// Whether an operator with input ports submits from a thread of its own.
    pub fn has_own_thread(&self, operator: OperatorId) -> bool {
        self.own_threads.contains(&operator)
    }

    /// The origin that an operator is.
    pub(super) fn own(&self, operator: OperatorId) -> Option<Origin> {
        self.begins.get(&(operator, None)).copied()
    }

    /// The origin that the queue of a port is.
    pub(super) fn queue(&self, to: Consumer) -> Option<Origin> {
        self.begins.get(&(to.operator, Some(to.port))).copied()
    }

    pub(super) fn begins(&self) -> BTreeMap<(OperatorId, Option<u32>), Origin> {
        self.begins.clone()
    }

    /// What a unit's operators submit, without what submits from its own thread.
    fn unit(&self, program: &Program, at: usize) -> Rc<BTreeSet<Origin>> {
        let mut all: Rc<BTreeSet<Origin>> = Rc::default();
        let mut add = |more: &Rc<BTreeSet<Origin>>| {
            if all.is_empty() {
                all = more.clone();
            } else if !more.is_subset(&all) {
                Rc::make_mut(&mut all).extend(more.iter());
            }
        };
        for &operator in &self.units.all[at] {
            if let Some(own) = self.own(operator) {
                add(&Rc::new(BTreeSet::from([own])));
            }
            for (port, input) in (0..).zip(&program.operators[operator.0 as usize].inputs) {
                match self.queue(Consumer { operator, port }) {
                    Some(queue) => add(&Rc::new(BTreeSet::from([queue]))),
                    None => {
                        let sources = input.sources.iter();
                        sources.for_each(|from| add(&self.submitted[from.operator.0 as usize]));
                    }
                }
            }
        }
        all
    }
}

fn own_threads(program: &Program) -> impl Iterator<Item = OperatorId> {
    let all = (0..).map(OperatorId).zip(&program.operators);
    all.filter(|(_, operator)| operator.own_thread)
        .map(|(id, _)| id)
}

/// Numbers the origins of a program.
fn begins(
    program: &Program,
    queues: &BTreeSet<Consumer>,
) -> BTreeMap<(OperatorId, Option<u32>), Origin> {
    let all = (0..).map(OperatorId).zip(&program.operators);
    let own = all.filter(|(_, o)| o.inputs.is_empty() || o.own_thread || o.is_timed);
    let own = own.map(|(id, _)| (id, None));
    let queued = queues.iter().map(|to| (to.operator, Some(to.port)));
    let places: BTreeSet<_> = own.chain(queued).collect();
    places.into_iter().zip(0..).collect()
}
