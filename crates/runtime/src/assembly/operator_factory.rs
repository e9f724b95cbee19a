//! Makes the operators of a program: asks the registry for each, and gives its state variables
//! their initial values.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use eval::{Fault, FaultKind, Services, State, StateMemory};
use graph::{PortIndex, Program, PunctuationOutputMode, StateId, StateVar};
use tuple::Layout;

use crate::abi::{Backend, FrameForm, FrameGrant, StateCell};
use crate::assembly::pe_topology::output_port_model;
use crate::blocking::stop_signal::StopSignal;
use crate::blocking::thread_waits::RoomNotifier;
use crate::contract::build_context::{BuildContext, OperatorRequirements};
use crate::edge::crossing_resources::CrossingResources;
use crate::execution::built_operator::BuiltOperator;
use crate::execution::source_thread::SourceThread;
use crate::services::operator_services::OperatorServices;
use crate::services::report::Failure;
use crate::{LoweredLogic, OperatorConstructor, OperatorEntry};

/// An operator that exists, but has no code and no thread yet.
pub(crate) struct ConstructedOperator<'a> {
    pub operator: &'a graph::OperatorNode,
    pub index: u32,
    pub entry: OperatorEntry,
    pub inputs: Vec<Arc<Layout>>,
    pub outputs: Vec<Arc<Layout>>,
    /// Bodies of the operator; those of a built operator are its logic clause.
    pub logic: LoweredLogic,
    pub built: Option<BuiltOperator>,
    /// Room for frames that compiled code may fill: see [`BuiltOperator::frame_grant`].
    pub frame_grant: Option<FrameGrant>,
    /// By output port: form of tuples that are submitted in batches.
    pub batch_forms: Vec<Option<FrameForm>>,
    pub state: StateCell,
    pub requirements: OperatorRequirements,
    pub source_thread: Option<SourceThread>,
}

impl ConstructedOperator<'_> {
    /// Output ports to which the run time forwards the window markers of an input port.
    pub fn markers_forwarded_to(&self, port: PortIndex) -> Vec<PortIndex> {
        if self.requirements.keeps_markers || self.requirements.own_thread {
            return Vec::new();
        }
        if self.logic.continues_ports {
            return vec![port];
        }
        let outputs = (0..self.operator.outputs.len() as u32).map(PortIndex);
        let forwards = |out: &PortIndex| {
            let model = output_port_model(self.entry.model, out.index());
            model.is_some_and(|m| m.punctuation == PunctuationOutputMode::Preserving(port))
        };
        outputs.filter(forwards).collect()
    }
}

/// Makes the operators of one program from the registry.
pub(crate) struct OperatorFactory<'m> {
    pub registry: &'m [OperatorEntry],
    pub backend: &'m mut dyn Backend,
    pub stop_signal: StopSignal,
    pub room_notifier: RoomNotifier,
    pub crossing_resources: CrossingResources,
}

impl OperatorFactory<'_> {
    /// All operators of a program, in its order.
    pub fn make_all<'a>(
        &mut self,
        program: &'a Program,
        services: &[OperatorServices],
    ) -> Result<Vec<ConstructedOperator<'a>>, Failure> {
        let mut all = Vec::new();
        for (operator, operator_services) in program.operators.iter().zip(services) {
            let constructed = self.make(operator, all.len() as u32, operator_services);
            all.push(constructed.map_err(|fault| Failure::for_operator(operator, fault))?);
        }
        Ok(all)
    }

    fn make<'a>(
        &mut self,
        operator: &'a graph::OperatorNode,
        index: u32,
        operator_services: &OperatorServices,
    ) -> Result<ConstructedOperator<'a>, Fault> {
        let entry = self.find_entry(&operator.kind)?;
        let inputs: Vec<_> = operator
            .inputs
            .iter()
            .map(|p| Layout::new(&p.schema))
            .collect();
        let outputs: Vec<_> = operator
            .outputs
            .iter()
            .map(|p| Layout::new(&p.schema))
            .collect();
        let mut constructed = ConstructedOperator {
            operator,
            index,
            entry,
            inputs,
            outputs,
            logic: LoweredLogic::default(),
            built: None,
            frame_grant: None,
            batch_forms: Vec::new(),
            state: StateCell::new(State::default()),
            requirements: OperatorRequirements::default(),
            source_thread: None,
        };
        let mut make = entry.constructor;
        while let OperatorConstructor::Choose(choose) = make {
            make = choose(operator);
        }
        match make {
            OperatorConstructor::Choose(_) => {}
            OperatorConstructor::Lower(lower) => {
                self.lower(&mut constructed, lower(operator)?, operator_services)?
            }
            OperatorConstructor::Build(build) => {
                let build = |from: &mut BuildContext<'_>| build(from).map(BuiltOperator::Authored);
                self.build(&mut constructed, build, operator_services)?
            }
            OperatorConstructor::Insert(constructor) => {
                let build = |from: &mut BuildContext<'_>| {
                    (constructor.make)(from).map(BuiltOperator::Inserted)
                };
                self.build(&mut constructed, build, operator_services)?
            }
        }
        Ok(constructed)
    }

    fn find_entry(&self, kind: &str) -> Result<OperatorEntry, Fault> {
        OperatorEntry::find(self.registry, kind).ok_or_else(|| {
            let message = format!("there is no operator {kind} in this engine");
            Fault::new(FaultKind::Limit, message)
        })
    }

    fn lower(
        &mut self,
        constructed: &mut ConstructedOperator<'_>,
        logic: LoweredLogic,
        operator_services: &OperatorServices,
    ) -> Result<(), Fault> {
        let state = State::with_tables(&logic.state, &logic.tables);
        let state = self.initialized(state, &logic.state, operator_services)?;
        if !state.tables.is_empty() {
            set_state_gauges(&state, &logic, operator_services);
            bound_state(&state, constructed.operator);
        }
        constructed.state = StateCell::new(state);
        constructed.requirements.keeps_markers = logic.keeps_markers;
        let timer = logic.on_timer.as_ref().map(|timer| timer.period_s);
        constructed.requirements.timers.extend(timer);
        constructed.logic = logic;
        if constructed.operator.inputs.is_empty() {
            constructed.source_thread = Some(SourceThread {
                operator: constructed.index,
                source: None,
                drains: false,
                interrupt: StopSignal::default(),
                core: None,
                is_pooled: false,
            });
        }
        Ok(())
    }

    fn build(
        &mut self,
        constructed: &mut ConstructedOperator<'_>,
        build: impl FnOnce(&mut BuildContext<'_>) -> Result<BuiltOperator, Fault>,
        operator_services: &OperatorServices,
    ) -> Result<(), Fault> {
        let vars = &constructed.operator.logic.state;
        let mut state = self.initial_state(vars, operator_services)?;
        let mut services = operator_services;
        let mut from = BuildContext {
            operator: constructed.operator,
            index: constructed.index,
            inputs: constructed.inputs.clone(),
            outputs: constructed.outputs.clone(),
            backend: &mut *self.backend,
            services: &mut services,
            state: &mut state,
            stop_signal: self.stop_signal.clone(),
            room_notifier: self.room_notifier.clone(),
            crossing_resources: &mut self.crossing_resources,
            requirements: OperatorRequirements::default(),
        };
        let mut built = build(&mut from)?;
        constructed.requirements = from.requirements;
        if let Some(gauges) = constructed.requirements.gauges.take() {
            operator_services.set_gauges(gauges);
        } else if constructed.requirements.counts_state {
            let memory = state.memory().clone();
            operator_services.set_gauges(Box::new(move || state_metrics(&memory).into()));
            bound_state(&state, constructed.operator);
        }
        constructed.state = StateCell::new(state);
        if constructed.operator.inputs.is_empty() || constructed.requirements.own_thread {
            let source = match built.take_source() {
                Some(source) => Some((source, self.initial_state(vars, operator_services)?)),
                None => None,
            };
            constructed.source_thread = Some(SourceThread {
                operator: constructed.index,
                source,
                drains: constructed.requirements.drains || constructed.requirements.own_thread,
                interrupt: constructed.requirements.interrupt.clone(),
                core: None,
                is_pooled: false,
            });
        }
        constructed.frame_grant = built.frame_grant();
        constructed.batch_forms = built.batch_forms();
        constructed.built = Some(built);
        constructed.logic = logic_clauses(constructed.operator);
        Ok(())
    }

    /// State variables with their initial values. An initial value may read the variables before
    /// it.
    fn initial_state(
        &mut self,
        vars: &[StateVar],
        operator_services: &OperatorServices,
    ) -> Result<State, Fault> {
        self.initialized(State::new(vars), vars, operator_services)
    }

    /// A state with the initial values of its variables.
    fn initialized(
        &mut self,
        mut state: State,
        vars: &[StateVar],
        operator_services: &OperatorServices,
    ) -> Result<State, Fault> {
        let mut services = operator_services;
        let services: &mut dyn Services = &mut services;
        for (at, var) in vars.iter().enumerate() {
            if let Some(init) = &var.init {
                let value = self.backend.evaluate(init, &mut state, services);
                let value = value.map_err(|fault| fault.with_pos(init.pos))?;
                state.set(StateId(at as u32), value);
            }
        }
        Ok(state)
    }
}

/// Metrics of an operator that has tables: their entries and bytes, and its partitions.
fn set_state_gauges(state: &State, logic: &LoweredLogic, operator_services: &OperatorServices) {
    let memory = Arc::clone(state.memory());
    let of_panes = logic
        .panes
        .filter(|panes| panes.part_has_new_tuples.is_some());
    let of_panes = of_panes.map(|panes| panes.parts);
    let of_slices = logic.slices.and_then(|slices| slices.partitions);
    let windows = logic.window.and_then(|window| window.table);
    let windows = windows.or(of_panes).or(of_slices);
    let partitions = windows.map(|table| state.tables[table.0 as usize].shared_len());
    operator_services.set_gauges(Box::new(move || {
        let partitions = partitions.as_ref().map(|count| {
            let count = count.load(Ordering::Relaxed) as i64;
            ("nCurrentPartitions".to_owned(), count)
        });
        partitions
            .into_iter()
            .chain(state_metrics(&memory))
            .collect()
    }));
}

/// Metrics of an operator's state.
fn state_metrics(memory: &StateMemory) -> [(String, i64); 2] {
    [
        ("nStateEntries".to_owned(), memory.entries() as i64),
        ("nStateBytes".to_owned(), memory.bytes() as i64),
    ]
}

/// Bounds an operator's state by config `stateBytesMax`.
fn bound_state(state: &State, operator: &graph::OperatorNode) {
    if let Some(bytes) = state_bytes_max(operator) {
        state.memory().set_bytes_max(bytes);
    }
}

/// The most bytes that config `stateBytesMax` allows an operator's state.
fn state_bytes_max(operator: &graph::OperatorNode) -> Option<u64> {
    let mut entries = operator.config.iter();
    let entry = entries.find(|entry| &*entry.name == "stateBytesMax")?;
    entry.values.first()?.parse().ok()
}

/// The logic clause of a built operator, as lowered bodies.
fn logic_clauses(operator: &graph::OperatorNode) -> LoweredLogic {
    let clause = |clauses: &[Option<graph::Body>], port: usize| {
        let body = clauses.get(port).cloned().flatten();
        body.unwrap_or_default()
    };
    let ports = 0..operator.inputs.len();
    let logic = &operator.logic;
    LoweredLogic {
        state: logic.state.clone(),
        on_tuple: ports
            .clone()
            .map(|port| clause(&logic.on_tuple, port))
            .collect(),
        on_punct: ports
            .map(|port| logic.on_punct.get(port).cloned().flatten())
            .collect(),
        ..LoweredLogic::default()
    }
}
