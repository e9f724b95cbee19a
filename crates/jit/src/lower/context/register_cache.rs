//! Words of memory that a function which processes many tuples keeps in registers.
//!
//! | word | loaded | written back |
//! | --- | --- | --- |
//! | counter of tuples | never: a number that is to be added | before a call, at the end |
//! | state variable of one part | at the start, after a call | before a call, at the end |
//! | latest event time | as a state variable | as a state variable |
//! | clock of ticks | once for [`TICK_READS`] reads, and after a call or a loop | never |
//!
//! Registers are few, so a variable that changes in arms alone that seldom run
//! ([`BodyUsage::often_changed_state`]) stays in memory, and so do the words of operators that get
//! tuples from such arms.
//!
//! These calls are those that reach outside ([`crate::code::ImportedFunction::reaches_outside`]):
//! they may run other bodies of the same operators, or block. Other threads may see a counter that
//! is stale, by no more than [`PENDING_MAX`] tuples of the function's own operator. Edges that each
//! tuple goes over at once ([`InlinedEdge::passed_on`]) share a number.

use cranelift_codegen::ir::{self, types};
use cranelift_frontend::Variable;
use graph::StateId;
use tuple::Type;

use super::body_usage::BodyUsage;
use super::output_target::{InlinedEdge, InlinedOutput, OutputEdge, OutputTarget};
use super::state_layout::StateLayout;
use super::watermark_words::WatermarkWords;
use crate::type_parts;

/// Number of tuples after which a counter is written back.
pub const PENDING_MAX: i64 = 1_024;

/// Reads of the clock of ticks for which the time is read once, if nothing lies between them but
/// the code of a few tuples without calls that reach outside and without loops: that takes a small
/// part of a tick, which is up to 10 ms. A look at the clock takes as long as a small operator.
pub const TICK_READS: i64 = 16;

/// Nodes of the bodies of a function that keeps words in registers. Each call costs code that
/// writes them back.
const NODES_MAX: u32 = 4_000;

/// Most counters in registers.
const COUNTERS_MAX: usize = 12;

/// Most state variables and event times in registers.
const VARIABLES_MAX: usize = 8;

/// Bytes of a state variable of one part.
const STATE_SLOT_BYTES: i64 = 16;

/// Words of the operator that a function is of.
#[derive(Clone, Copy)]
pub struct OwnWords<'a> {
    /// Types and places of its state variables.
    pub layout: &'a StateLayout,
    /// Address of its scalar state variables, if it is known.
    pub scalars: Option<i64>,
    /// The words of its watermark, if they are known.
    pub watermark: Option<WatermarkWords>,
}

/// Words of memory that a function keeps in registers.
#[derive(Debug, Default)]
pub struct RegisterCache {
    /// Counters of the tuples of an edge.
    pub counters: Vec<PendingCount>,
    /// State variables of one part, and latest event times.
    pub variables: Vec<CachedVariable>,
    /// The clock of ticks, if some body reads it.
    pub ticks: Option<CachedTicks>,
}

/// A time of the clock of ticks.
#[derive(Clone, Copy, Debug)]
pub struct CachedTicks {
    /// Variable with the time in seconds.
    pub seconds: Variable,
    /// Variable with the number of reads for which it is still good.
    pub reads_left: Variable,
}

/// A number that is to be added to counters.
#[derive(Clone, Debug)]
pub struct PendingCount {
    /// The output port, by the address of its counter, and which of its edges.
    edge: (i64, usize),
    /// The addresses of the counters.
    pub counters: Vec<i64>,
    /// Variable with the number.
    pub pending: Variable,
}

/// A variable in memory that is in a register meanwhile.
#[derive(Clone, Debug)]
pub struct CachedVariable {
    /// Whether it is the latest event time of a watermark, not a state variable.
    pub is_event_time: bool,
    /// The address in memory.
    pub address: i64,
    /// The type of the variable.
    pub ty: Type,
    /// Variable with the value.
    pub variable: Variable,
}

/// A body, and where its tuples go.
struct Submitter<'a> {
    usage: &'a BodyUsage,
    targets: &'a [OutputTarget],
    /// Whether its tuples are counted with those that it is given.
    is_counted: bool,
}

impl RegisterCache {
    /// The words of a function with a body, if its state is at a known address, and targets.
    pub fn new(
        usage: &BodyUsage,
        own: OwnWords<'_>,
        targets: &[OutputTarget],
        declare: &mut dyn FnMut(ir::Type) -> Variable,
    ) -> RegisterCache {
        let mut cache = RegisterCache::default();
        let mut nodes = usage.nodes;
        if let Some(scalars) = own.scalars {
            cache.add_variables(usage, own.layout, scalars, declare);
        }
        cache.add_event_time(usage, own.watermark, declare);
        cache.add_ticks(usage, declare);
        let submitter = Submitter {
            usage,
            targets,
            is_counted: false,
        };
        match cache.add_targets(submitter, &mut nodes, declare) {
            Some(()) => cache,
            None => RegisterCache::default(),
        }
    }

    /// The variable with what is to be added to the counters of an output port's edge.
    pub fn pending(&self, output: &InlinedOutput, edge: usize) -> Option<Variable> {
        let key = (output.submitted, edge);
        let found = self.counters.iter().find(|count| count.edge == key);
        found.map(|count| count.pending)
    }

    /// The variable with a state variable, given the address of its operator's scalars.
    pub fn state_variable(&self, scalars: i64, state: StateId) -> Option<Variable> {
        self.variable_at(state_address(scalars, state))
    }

    /// The variable with the word at an address.
    pub fn variable_at(&self, address: i64) -> Option<Variable> {
        let found = self.variables.iter().find(|word| word.address == address);
        found.map(|word| word.variable)
    }

    /// Adds what the bodies behind a body's targets use, of those that often get a tuple; `None` if
    /// all bodies are too large.
    fn add_targets(
        &mut self,
        submitter: Submitter<'_>,
        nodes: &mut u32,
        declare: &mut dyn FnMut(ir::Type) -> Variable,
    ) -> Option<()> {
        for (port, target) in submitter.targets.iter().enumerate() {
            let OutputTarget::Inlined(_, output) = target else {
                continue;
            };
            if !submitter.usage.often_submits_to(port as u32) {
                *nodes += nodes_behind(output);
                if *nodes > NODES_MAX {
                    return None;
                }
                continue;
            }
            if !submitter.is_counted {
                self.add_counters(output, declare);
            }
            for (at, edge) in output.edges.iter().enumerate() {
                let Some(edge) = edge.operator() else {
                    continue;
                };
                let operator = &edge.operator;
                let (_, usage) = &*operator.on_tuple[edge.port.index()];
                *nodes += 1 + usage.nodes;
                if *nodes > NODES_MAX {
                    return None;
                }
                let layout = &operator.state_layout;
                self.add_variables(usage, layout, operator.state.scalars, declare);
                self.add_event_time(usage, operator.watermark, declare);
                self.add_ticks(usage, declare);
                let is_counted = submitter.is_counted || self.pending(output, at).is_some();
                let behind = Submitter {
                    usage,
                    targets: &operator.targets,
                    is_counted: is_counted && edge.passed_on().is_some(),
                };
                self.add_targets(behind, nodes, declare)?;
            }
        }
        Some(())
    }

    fn add_counters(
        &mut self,
        output: &InlinedOutput,
        declare: &mut dyn FnMut(ir::Type) -> Variable,
    ) {
        for edge in 0..output.edges.len().max(1) {
            let is_full = self.counters.len() == COUNTERS_MAX;
            let counters = counters_from(output, edge);
            if is_full || counters.is_empty() || self.pending(output, edge).is_some() {
                continue;
            }
            self.counters.push(PendingCount {
                edge: (output.submitted, edge),
                counters,
                pending: declare(types::I64),
            });
        }
    }

    fn add_variables(
        &mut self,
        usage: &BodyUsage,
        layout: &StateLayout,
        scalars: i64,
        declare: &mut dyn FnMut(ir::Type) -> Variable,
    ) {
        let mut changed: Vec<StateId> = usage.often_changed_state.iter().copied().collect();
        changed.sort_unstable();
        for state in changed {
            let ty = layout.ty(state);
            let is_word = type_parts::is_scalar(ty) && type_parts::part_count(ty) == 1;
            let is_fit = is_word && layout.home(state).is_none();
            let is_full = self.variables.len() == VARIABLES_MAX;
            if !is_fit || is_full || self.state_variable(scalars, state).is_some() {
                continue;
            }
            self.variables.push(CachedVariable {
                is_event_time: false,
                address: state_address(scalars, state),
                ty: ty.clone(),
                variable: declare(type_parts::parts(ty)[0]),
            });
        }
    }

    fn add_ticks(&mut self, usage: &BodyUsage, declare: &mut dyn FnMut(ir::Type) -> Variable) {
        if usage.reads_ticks && self.ticks.is_none() {
            self.ticks = Some(CachedTicks {
                seconds: declare(types::F64),
                reads_left: declare(types::I64),
            });
        }
    }

    fn add_event_time(
        &mut self,
        usage: &BodyUsage,
        watermark: Option<WatermarkWords>,
        declare: &mut dyn FnMut(ir::Type) -> Variable,
    ) {
        let Some(words) = watermark.filter(|_| usage.advances_watermark) else {
            return;
        };
        let is_full = self.variables.len() == VARIABLES_MAX;
        if is_full || self.variable_at(words.latest).is_some() {
            return;
        }
        self.variables.push(CachedVariable {
            is_event_time: true,
            address: words.latest,
            ty: Type::Int64,
            variable: declare(types::I64),
        });
    }
}

/// The address of a state variable of one part.
fn state_address(scalars: i64, state: StateId) -> i64 {
    scalars + STATE_SLOT_BYTES * i64::from(state.0)
}

/// The addresses of the counters of an edge, and of those that its tuples go over at once.
fn counters_from(output: &InlinedOutput, edge: usize) -> Vec<i64> {
    let mut counters = output.counters(edge);
    let mut last = output.edges.get(edge).and_then(OutputEdge::operator);
    while let Some(behind) = last.and_then(InlinedEdge::passed_on) {
        counters.extend(behind.counters(0));
        last = behind.operators().next();
    }
    counters
}

/// Nodes of all bodies that are inlined behind an output port.
fn nodes_behind(output: &InlinedOutput) -> u32 {
    let edges = output.operators().map(|edge| {
        let (_, usage) = &*edge.operator.on_tuple[edge.port.index()];
        let behind = edge.operator.targets.iter().map(|target| match target {
            OutputTarget::Inlined(_, output) => nodes_behind(output),
            OutputTarget::Outlet(_) => 0,
        });
        1 + usage.nodes + behind.sum::<u32>()
    });
    edges.sum()
}
