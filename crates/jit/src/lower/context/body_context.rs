//! Meanings of a body's names while it is being lowered.

use std::collections::HashSet;
use std::rc::Rc;

use cranelift_codegen::ir;
use graph::{Function, HistoryDepths, StateId};
use tuple::Type;

use super::local_storage::LocalStorage;
use super::output_target::OutputTarget;
use super::state_layout::StateLayout;
use super::watermark_words::WatermarkWords;
use crate::lowered_value::LoweredValue;

/// The meaning of a body's names.
#[derive(Debug, Default)]
pub struct BodyContext {
    /// Storage of the body's local variables, by number.
    pub locals: Vec<LocalStorage>,
    /// Types of the local variables, by number.
    pub types: Vec<Type>,
    /// Input tuples of the body, by slot.
    pub inputs: Vec<Option<BodyInput>>,
    /// The types of its input tuples, by slot.
    pub input_types: Vec<Type>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub first_slots: Vec<u32>,
    /// The depths of the history that have a slot, by input port.
    pub history: Vec<HistoryDepths>,
    /// Addresses of the operator's state.
    pub state: StateStorage,
    /// Types and places of the state variables.
    pub state_layout: Rc<StateLayout>,
    /// The state variables that the body changes.
    pub changed_state: HashSet<StateId>,
    /// The address of the flag that says whether a shutdown was asked for, if it is known.
    pub stop_address: Option<i64>,
    /// The words of the operator's watermark, if they are known.
    pub watermark: Option<WatermarkWords>,
    /// Targets of submitted tuples, by output port.
    pub targets: Vec<OutputTarget>,
    /// Whether a tuple that the body submits is counted when it is given one.
    pub is_counted_with_input: bool,
    /// Number of the inlined operator that owns the body, or `NO_INLINED_OPERATOR`.
    pub inlined_operator: u32,
    /// The operator that owns the body, for samples of the thread; `None`: nobody samples.
    pub sampled: Option<SampledOperator>,
    /// Targets of `return`, innermost last.
    pub return_targets: Vec<ReturnTarget>,
    /// The loops around, innermost last.
    pub loops: Vec<LoopTargets>,
}

/// The operator that code is of, as samples of a thread tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledOperator {
    /// Number of the operator in the PE.
    pub operator: u32,
    /// Address of the word in which the thread says which operator it runs, if one thread alone
    /// runs the code.
    pub running: Option<i64>,
}

/// An input tuple of a body.
#[derive(Clone, Debug)]
pub struct BodyInput {
    /// Lowered form of the tuple.
    pub tuple: LoweredValue,
    /// Bytes of the tuple with its tail, if it is whole in flat memory. They go with the tuple
    /// through every operator that it is passed on by: slots of the environment belong to the
    /// function's own operator, and an inlined operator's slot of that number has another tuple.
    pub bytes: Option<ir::Value>,
}

/// Storage of an operator's state variables.
#[derive(Clone, Copy, Debug, Default)]
pub enum StateStorage {
    /// Nowhere: the body has none.
    #[default]
    None,
    /// Addresses of the scalars, of the other values and of the tables.
    At {
        /// Address of the scalar variables.
        scalars: ir::Value,
        /// Address of the scalar variables as a number, if it is known.
        scalars_address: Option<i64>,
        /// Address of the other variables.
        values: ir::Value,
        /// Address of the tables.
        tables: ir::Value,
    },
}

/// Target of a `return` statement.
#[derive(Clone, Debug)]
pub struct ReturnTarget {
    /// The block; its parameters are the parts of the result.
    pub block: ir::Block,
    /// The type of the result.
    pub ty: Type,
}

/// Targets of `break` and `continue`.
#[derive(Clone, Copy, Debug)]
pub struct LoopTargets {
    /// First block after the loop.
    pub break_block: ir::Block,
    /// Block that begins the loop's next turn.
    pub continue_block: ir::Block,
    /// Some `continue` goes there.
    pub is_continued: bool,
}

impl BodyContext {
    /// Context of a user function that ends at an exit.
    pub fn for_function(function: &Function, exit: ReturnTarget) -> BodyContext {
        BodyContext {
            types: function
                .body
                .locals
                .iter()
                .map(|local| local.ty.clone())
                .collect(),
            return_targets: vec![exit],
            ..BodyContext::default()
        }
    }
}
