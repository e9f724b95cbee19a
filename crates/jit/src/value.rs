//! What an expression has become while code is being made for it.
//!
//! A value is taken apart as late as possible: an attribute of an input tuple stays a place in flat
//! memory until somebody needs its parts, a tuple stays one value an attribute until somebody needs
//! it in one piece. What nobody asks for costs nothing.

use std::rc::Rc;

use cranelift_codegen::ir;
use smallvec::SmallVec;

/// The IR values of a type's parts.
pub type Parts = SmallVec<[ir::Value; 2]>;

/// A value of compiled code. Its type goes along separately, as that of the expression.
#[derive(Clone, Debug)]
pub struct Val {
    /// Where its parts are.
    pub form: Form,
    /// Whether assigning to some variable may change it or what it points to. Such a value may be
    /// used within the expression, but is copied before it is kept.
    pub is_volatile: bool,
    /// Whether it is there, and the same, as long as the function runs: what leads to it may be loaded
    /// whenever that suits.
    pub is_fixed: bool,
}

/// Where the parts of a value are.
#[derive(Clone, Debug)]
pub enum Form {
    /// In registers.
    Parts(Parts),
    /// In a slot of flat memory, at an offset from an address.
    Flat(ir::Value, i32),
    /// In a [`tuple::Value`] at an offset from an address.
    Boxed(ir::Value, i32),
    /// A tuple: one value an attribute.
    Fields(Rc<[Val]>),
}

impl Val {
    /// Parts in registers.
    pub fn parts(parts: impl IntoIterator<Item = ir::Value>) -> Val {
        Val::stable(Form::Parts(parts.into_iter().collect()))
    }

    /// One part in a register.
    pub fn one(part: ir::Value) -> Val {
        Val::parts([part])
    }

    /// What no assignment changes.
    pub fn stable(form: Form) -> Val {
        Val {
            form,
            is_volatile: false,
            is_fixed: false,
        }
    }

    /// What lies in a `Value` that assignments may change.
    pub fn variable(at: ir::Value) -> Val {
        Val {
            is_volatile: true,
            ..Val::stable(Form::Boxed(at, 0))
        }
    }

    /// The same, elsewhere.
    pub fn with_form(&self, form: Form) -> Val {
        Val {
            form,
            is_volatile: self.is_volatile,
            is_fixed: self.is_fixed,
        }
    }

    /// The same, marked as what assignments may change if `is_volatile`.
    pub fn volatile_if(mut self, is_volatile: bool) -> Val {
        self.is_volatile |= is_volatile;
        self
    }
}
