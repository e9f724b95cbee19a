//! The origins of the tuples of each stream.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use graph::{InPortId, OperatorId, OriginId, OutPortId, PortIndex, Program};

use crate::streams::OperatorUnits;
use crate::streams::StreamConsumers;

/// The origins of a program's streams.
pub(super) struct StreamOrigins {
    /// By operator: the origins of the tuples that it submits.
    submitted_by_operator: Vec<Rc<BTreeSet<OriginId>>>,
    /// The origins: operators without a port, queues with the port that they feed.
    origin_ids: BTreeMap<(OperatorId, Option<PortIndex>), OriginId>,
    own_thread_operators: BTreeSet<OperatorId>,
    pub units: OperatorUnits,
}

impl StreamOrigins {
    /// The origins of a program's streams, where these input ports have queues that are origins.
    pub fn new(
        program: &Program,
        stream_consumers: &StreamConsumers,
        queues: &BTreeSet<InPortId>,
    ) -> StreamOrigins {
        let mut origins = StreamOrigins {
            submitted_by_operator: vec![Rc::default(); program.operators.len()],
            origin_ids: number_origins(program, queues),
            own_thread_operators: own_thread_operators(program).collect(),
            units: OperatorUnits::new(program, stream_consumers),
        };
        for at in 0..origins.units.operators_of.len() {
            let submitted = origins.unit_origins(program, at);
            for operator in origins.units.operators_of[at].clone() {
                let own = origins.of_operator(operator);
                let own = own.filter(|_| origins.has_own_thread(operator));
                origins.submitted_by_operator[operator.0 as usize] = match own {
                    Some(own) => Rc::new(BTreeSet::from([own])),
                    None => submitted.clone(),
                };
            }
        }
        origins
    }

    /// The origins of the tuples of a stream.
    pub fn of_stream(&self, stream: OutPortId) -> &BTreeSet<OriginId> {
        &self.submitted_by_operator[stream.operator.0 as usize]
    }

    /// The origins of the tuples that a stream brings to an input port: behind a queue that is an
    /// origin, that queue alone.
    pub fn of_arrivals(&self, from: OutPortId, to: InPortId) -> BTreeSet<OriginId> {
        match self.of_queue(to) {
            Some(queue) => BTreeSet::from([queue]),
            None => self.of_stream(from).clone(),
        }
    }

    /// Whether an operator with input ports submits from a thread of its own.
    pub fn has_own_thread(&self, operator: OperatorId) -> bool {
        self.own_thread_operators.contains(&operator)
    }

    /// The origin of the tuples that an operator submits by itself.
    pub fn of_operator(&self, operator: OperatorId) -> Option<OriginId> {
        self.origin_ids.get(&(operator, None)).copied()
    }

    /// The origin that the queue of an input port is; `None` if it keeps the order of others.
    pub fn of_queue(&self, to: InPortId) -> Option<OriginId> {
        self.origin_ids.get(&(to.operator, Some(to.port))).copied()
    }

    /// The numbers of all origins: operators without a port, queues with the port that they feed.
    pub fn origin_ids(&self) -> BTreeMap<(OperatorId, Option<PortIndex>), OriginId> {
        self.origin_ids.clone()
    }

    /// The origins of the tuples that a unit's operators submit, without those of operators with a
    /// thread of their own.
    fn unit_origins(&self, program: &Program, at: usize) -> Rc<BTreeSet<OriginId>> {
        let mut all: Rc<BTreeSet<OriginId>> = Rc::default();
        let mut add = |more: &Rc<BTreeSet<OriginId>>| {
            if all.is_empty() {
                all = more.clone();
            } else if !more.is_subset(&all) {
                Rc::make_mut(&mut all).extend(more.iter());
            }
        };
        for &operator in &self.units.operators_of[at] {
            if let Some(own) = self.of_operator(operator) {
                add(&Rc::new(BTreeSet::from([own])));
            }
            for (port, input) in (0..)
                .map(PortIndex)
                .zip(&program.operators[operator.0 as usize].inputs)
            {
                match self.of_queue(InPortId { operator, port }) {
                    Some(queue) => add(&Rc::new(BTreeSet::from([queue]))),
                    None => {
                        let sources = input.sources.iter();
                        sources.for_each(|from| {
                            add(&self.submitted_by_operator[from.operator.0 as usize])
                        });
                    }
                }
            }
        }
        all
    }
}

fn own_thread_operators(program: &Program) -> impl Iterator<Item = OperatorId> {
    let all = (0..).map(OperatorId).zip(&program.operators);
    all.filter(|(_, operator)| operator.has_own_thread)
        .map(|(id, _)| id)
}

/// Numbers the origins of a program in order of its operators: each operator before its queues.
fn number_origins(
    program: &Program,
    queues: &BTreeSet<InPortId>,
) -> BTreeMap<(OperatorId, Option<PortIndex>), OriginId> {
    let all = (0..).map(OperatorId).zip(&program.operators);
    let own = all.filter(|(_, o)| o.inputs.is_empty() || o.has_own_thread || o.timers.submit());
    let own = own.map(|(id, _)| (id, None));
    let queued = queues.iter().map(|to| (to.operator, Some(to.port)));
    let origins: BTreeSet<_> = own.chain(queued).collect();
    origins.into_iter().zip((0..).map(OriginId)).collect()
}
