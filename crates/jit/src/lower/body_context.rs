//! What the names of a body mean while it is being lowered.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use cranelift_codegen::ir;
use graph::{Function, StateId};
use tuple::{Layout, Type, Value};

use super::{FunctionLowering, InlinedOutput, LocalStorage, RingGrantAddresses};
use crate::lowered_value::LoweredValue;

/// The meaning of a body's names.
#[derive(Debug, Default)]
pub struct BodyContext {
    /// Its local variables.
    pub locals: Vec<LocalStorage>,
    /// Their types.
    pub types: Vec<Type>,
    /// Its input tuples, by slot.
    pub inputs: Vec<Option<BodyInput>>,
    /// The types of its input tuples, by slot.
    pub input_types: Vec<Type>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub first_slots: Vec<u32>,
    /// The operator's state.
    pub state: StateHome,
    /// The types of the state variables.
    pub state_types: Vec<Type>,
    /// The state variables that the body changes.
    pub changed_state: HashSet<StateId>,
    /// The address of the flag that says whether a shutdown was asked for, if it is known.
    pub stop_address: Option<i64>,
    /// Where its tuples go.
    pub targets: Vec<OutputTarget>,
    /// Whom the outlet acts for: an inlined operator, or nobody special.
    pub inlined_operator: u32,
    /// Where `return` goes, innermost last.
    pub return_targets: Vec<ReturnTarget>,
    /// The loops around, innermost last.
    pub loops: Vec<LoopTargets>,
}

/// An input tuple of a body.
#[derive(Clone, Debug)]
pub struct BodyInput {
    /// The tuple.
    pub tuple: LoweredValue,
    /// Bytes of the tuple with its tail, if it is whole in flat memory. They go with the tuple
    /// through every operator that it is passed on by: slots of the environment are those of the
    /// entry, and what an inlined operator has in a slot of its own is another tuple.
    pub bytes: Option<ir::Value>,
}

/// Where a state variable is.
#[derive(Clone, Copy, Debug, Default)]
pub enum StateHome {
    /// Nowhere: the body has none.
    #[default]
    None,
    /// At the addresses of the scalars and of the values.
    At(ir::Value, ir::Value),
}

/// Where `return` goes.
#[derive(Clone, Debug)]
pub struct ReturnTarget {
    /// The block; its parameters are the parts of the result.
    pub block: ir::Block,
    /// The type of the result.
    pub ty: Type,
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug)]
pub struct LoopTargets {
    /// Behind the loop.
    pub break_block: ir::Block,
    /// Its next turn.
    pub continue_block: ir::Block,
    /// Some `continue` goes there.
    pub is_continued: bool,
}

/// Where the tuples of an output port go.
#[derive(Clone, Debug)]
pub enum OutputTarget {
    /// To the outlet.
    Outlet(Arc<Layout>),
    /// Into operators whose code is inlined.
    Inlined(Arc<Layout>, Rc<InlinedOutput>),
    /// Into a ring, as a frame; through the outlet when it has no room at hand.
    RingFrame(Arc<Layout>, RingGrantAddresses),
}

impl OutputTarget {
    /// The layout of the port's tuples.
    pub fn layout(&self) -> &Arc<Layout> {
        match self {
            OutputTarget::Outlet(layout)
            | OutputTarget::Inlined(layout, _)
            | OutputTarget::RingFrame(layout, _) => layout,
        }
    }
}

impl BodyContext {
    /// Of a user function that ends at an exit.
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

impl FunctionLowering<'_, '_> {
    /// The default value of a type.
    pub fn default_value(&mut self, ty: &Type) -> LoweredValue {
        self.constant(&Value::default_of(ty), ty)
    }
}
