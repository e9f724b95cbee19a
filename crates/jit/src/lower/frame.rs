//! What the names of a body mean while it is being lowered.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use cranelift_codegen::ir;
use graph::{Function, StateId};
use tuple::{Layout, Type, Value};

use super::{Branch, Granted, Lower, Storage};
use crate::value::Val;

/// The meaning of a body's names.
#[derive(Debug, Default)]
pub struct Frame {
    /// Its local variables.
    pub locals: Vec<Storage>,
    /// Their types.
    pub types: Vec<Type>,
    /// Its input tuples, by slot.
    pub inputs: Vec<Option<Input>>,
    /// The types of its input tuples, by slot.
    pub input_types: Vec<Type>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub ports: Vec<u32>,
    /// The operator's state.
    pub state: StateHome,
    /// The types of the state variables.
    pub state_types: Vec<Type>,
    /// The state variables that the body changes.
    pub changed: HashSet<StateId>,
    /// The address of the flag that says whether a shutdown was asked for, if it is known.
    pub stop: Option<i64>,
    /// Where its tuples go.
    pub targets: Vec<Target>,
    /// Whom the outlet acts for: an inlined operator, or nobody special.
    pub actor: u32,
    /// Where `return` goes, innermost last.
    pub exits: Vec<Exit>,
    /// The loops around, innermost last.
    pub loops: Vec<Loop>,
}

/// An input tuple of a body.
#[derive(Clone, Debug)]
pub struct Input {
    /// The tuple.
    pub tuple: Val,
    /// Bytes of the tuple with its tail, if it is whole in flat memory. They go with the tuple through
    /// every operator that it is passed on by: slots of the environment are those of the entry, and
    /// what an inlined operator has in a slot of its own is another tuple.
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
pub struct Exit {
    /// The block; its parameters are the parts of the result.
    pub block: ir::Block,
    /// The type of the result.
    pub ty: Type,
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Behind the loop.
    pub done: ir::Block,
    /// Its next turn.
    pub next: ir::Block,
    /// Some `continue` goes there.
    pub is_continued: bool,
}

/// Where the tuples of an output port go.
#[derive(Clone, Debug)]
pub enum Target {
    /// To the outlet.
    Outlet(Arc<Layout>),
    /// Into operators whose code is inlined.
    Inlined(Arc<Layout>, Rc<Branch>),
    /// Into a ring, as a frame; through the outlet when it has no room at hand.
    Frame(Arc<Layout>, Granted),
}

impl Target {
    /// The layout of the port's tuples.
    pub fn layout(&self) -> &Arc<Layout> {
        match self {
            Target::Outlet(layout) | Target::Inlined(layout, _) | Target::Frame(layout, _) => {
                layout
            }
        }
    }
}

impl Frame {
    /// Of a user function that ends at an exit.
    pub fn of_function(function: &Function, exit: Exit) -> Frame {
        Frame {
            types: function
                .body
                .locals
                .iter()
                .map(|local| local.ty.clone())
                .collect(),
            exits: vec![exit],
            ..Frame::default()
        }
    }
}

impl Lower<'_, '_> {
    /// The default value of a type.
    pub fn default_value(&mut self, ty: &Type) -> Val {
        self.constant(&Value::default_of(ty), ty)
    }
}
