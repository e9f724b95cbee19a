//! Asks the registry for each operator of a program and gives its state variables their initial
//! values.

use std::sync::Arc;

use graph::{Fault, FaultKind, Program, Services, State, StateId, StateVar};
use tuple::Layout;

use crate::abi::{Backend, FrameRoom, StateCell};
use crate::build::{Build, Wishes};
use crate::crossing::Borders;
use crate::report::Failure;
use crate::stop::Stop;
use crate::voice::Voice;
use crate::wait::Room;
use crate::{Logic, Make, Operator, OperatorEntry, Source};

/// An operator that the registry has made.
pub(crate) struct Made<'a> {
    pub operator: &'a graph::Operator,
    pub index: u32,
    pub entry: OperatorEntry,
    pub inputs: Vec<Arc<Layout>>,
    pub outputs: Vec<Arc<Layout>>,
    /// Its bodies; those of a built operator are its logic clause.
    pub logic: Logic,
    pub built: Option<Box<dyn Operator>>,
    /// See [`Operator::room`].
    pub room: Option<FrameRoom>,
    pub state: StateCell,
    pub wishes: Wishes,
    pub runner: Option<Runner>,
}

/// What a thread begins with.
pub(crate) struct Runner {
    pub node: u32,
    /// A built operator's source, with a state of its own; else the node's own code runs.
    pub source: Option<(Box<dyn Source>, State)>,
    /// A shutdown does not end it: it goes on until its input has ended.
    pub drains: bool,
    /// Raised if it has to end before that. See [`Build::thread`].
    pub interrupt: Stop,
    /// The core that its thread has for itself.
    pub core: Option<u32>,
}

/// Makes operators.
pub(crate) struct Maker<'m> {
    pub registry: &'m [OperatorEntry],
    pub backend: &'m mut dyn Backend,
    pub stop: Stop,
    pub room: Room,
    pub borders: Borders,
}

impl Maker<'_> {
    /// All operators of a program.
    pub fn make_all<'a>(
        &mut self,
        program: &'a Program,
        voices: &[Voice],
    ) -> Result<Vec<Made<'a>>, Failure> {
        let mut all = Vec::new();
        for (operator, voice) in program.operators.iter().zip(voices) {
            let made = self.make(operator, all.len() as u32, voice);
            all.push(made.map_err(|fault| Failure::of(operator, fault))?);
        }
        Ok(all)
    }

    fn make<'a>(
        &mut self,
        operator: &'a graph::Operator,
        index: u32,
        voice: &Voice,
    ) -> Result<Made<'a>, Fault> {
        let entry = self.entry(&operator.kind)?;
        let inputs: Vec<_> = operator
            .inputs
            .iter()
            .map(|p| Layout::of(&p.schema))
            .collect();
        let outputs: Vec<_> = operator
            .outputs
            .iter()
            .map(|p| Layout::of(&p.schema))
            .collect();
        let mut made = Made {
            operator,
            index,
            entry,
            inputs,
            outputs,
            logic: Logic::default(),
            built: None,
            room: None,
            state: StateCell::new(State::default()),
            wishes: Wishes::default(),
            runner: None,
        };
        let mut make = entry.make;
        while let Make::By(choose) = make {
            make = choose(operator);
        }
        match make {
            Make::By(_) => {}
            Make::Lower(lower) => self.lower(&mut made, lower(operator)?, voice)?,
            Make::Build(build) => self.build(&mut made, build, voice)?,
        }
        Ok(made)
    }

    fn entry(&self, kind: &str) -> Result<OperatorEntry, Fault> {
        let is_it = |entry: &&OperatorEntry| {
            let model = entry.model;
            kind.split_once("::") == Some((model.namespace, model.name))
        };
        let entry = self.registry.iter().find(is_it).copied();
        entry.ok_or_else(|| {
            let message = format!("there is no operator {kind} in this engine");
            Fault::new(FaultKind::Limit, message)
        })
    }

    fn lower(&mut self, made: &mut Made<'_>, logic: Logic, voice: &Voice) -> Result<(), Fault> {
        made.state = StateCell::new(self.initial(&logic.state, voice)?);
        made.wishes.keeps_markers = logic.keeps_markers;
        made.logic = logic;
        if made.operator.inputs.is_empty() {
            let node = made.index;
            made.runner = Some(Runner {
                node,
                source: None,
                drains: false,
                interrupt: Stop::default(),
                core: None,
            });
        }
        Ok(())
    }

    fn build(
        &mut self,
        made: &mut Made<'_>,
        build: fn(&mut Build<'_>) -> Result<Box<dyn Operator>, Fault>,
        voice: &Voice,
    ) -> Result<(), Fault> {
        let vars = &made.operator.logic.state;
        let mut state = self.initial(vars, voice)?;
        let mut services = voice;
        let mut from = Build {
            operator: made.operator,
            index: made.index,
            inputs: made.inputs.clone(),
            outputs: made.outputs.clone(),
            backend: &mut *self.backend,
            services: &mut services,
            state: &mut state,
            stop: self.stop.clone(),
            room: self.room.clone(),
            borders: &mut self.borders,
            wishes: Wishes::default(),
        };
        let mut built = build(&mut from)?;
        made.wishes = from.wishes;
        if let Some(gauges) = made.wishes.gauges.take() {
            voice.set_gauges(gauges);
        }
        made.state = StateCell::new(state);
        if made.operator.inputs.is_empty() || made.wishes.own_thread {
            let source = match built.source() {
                Some(source) => Some((source, self.initial(vars, voice)?)),
                None => None,
            };
            let node = made.index;
            made.runner = Some(Runner {
                node,
                source,
                drains: made.wishes.drains || made.wishes.own_thread,
                interrupt: made.wishes.interrupt.clone(),
                core: made.wishes.core,
            });
        }
        made.room = built.room();
        made.built = Some(built);
        made.logic = clauses(made.operator);
        Ok(())
    }

    /// State variables with their initial values; each may read the ones before it.
    fn initial(&mut self, vars: &[StateVar], voice: &Voice) -> Result<State, Fault> {
        let mut state = State::new(vars);
        let mut services = voice;
        let services: &mut dyn Services = &mut services;
        for (at, var) in vars.iter().enumerate() {
            if let Some(init) = &var.init {
                let value = self.backend.evaluate(init, &mut state, services);
                let value = value.map_err(|fault| fault.at(init.pos))?;
                state.set(StateId(at as u32), value);
            }
        }
        Ok(state)
    }
}

/// The logic clause of a built operator, as bodies of its own.
fn clauses(operator: &graph::Operator) -> Logic {
    let clause = |clauses: &[Option<graph::Body>], port: usize| {
        let body = clauses.get(port).cloned().flatten();
        body.unwrap_or_default()
    };
    let ports = 0..operator.inputs.len();
    let logic = &operator.logic;
    Logic {
        state: logic.state.clone(),
        on_tuple: ports
            .clone()
            .map(|port| clause(&logic.on_tuple, port))
            .collect(),
        on_punct: ports
            .map(|port| logic.on_punct.get(port).cloned().flatten())
            .collect(),
        ..Logic::default()
    }
}
