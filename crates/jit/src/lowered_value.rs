//! What an expression has become while code is being made for it.
//!
//! A value is taken apart as late as possible: an attribute of an input tuple stays a place in flat
//! memory until somebody needs its parts, a tuple stays one value an attribute until somebody needs
//! it in one piece. What nobody asks for costs nothing.
//!
//! # Who owns the memory
//! A value whose parts are addresses, or which is a place in memory, is only as good as the owner
//! of that memory. Every such value says how long that is:
//!
//! | life | owner | good until |
//! | --- | --- | --- |
//! | fixed | input tuples, state that nothing changes meanwhile | the function returns |
//! | turn | the arena, temporary values, constants (which last longer) | the turn of the loop that made it is over |
//! | variable | a local variable or state, or what is within | an assignment or a change in place |
//!
//! Freed memory cannot be read, because of four rules that hold wherever code is made:
//! * A value has the shortest life of all that it points into. A tuple that is one value an
//!   attribute has no life of its own: it is asked of its attributes
//!   ([`LoweredValue::is_volatile`]), however it was put together. What is part of a value is made
//!   by [`LoweredValue::part_of`], with the life of the whole.
//! * Whatever keeps a value beyond its expression takes it from `Lower::new_stable`, which copies
//!   what has the life of a variable: initial values, arguments beside an argument by reference,
//!   results of functions, what is inserted into a collection. The compiler refuses expressions
//!   that read and change one variable, so nothing changes within an expression.
//! * A variable that is set in a turn of a loop and read in a later one, or changed in place, lives
//!   in a `Value` and is given copies (`lower::locals`); hence no value with the life of a turn is
//!   left when the turn gives its memory back. Memory that is given back is filled in debug builds.
//! * A collection that a loop runs over is not changed by the loop (the compiler refuses it), and
//!   its current item is a part of it.

use std::rc::Rc;

use cranelift_codegen::ir;
use smallvec::SmallVec;

/// The IR values of a type's parts.
pub type ValueParts = SmallVec<[ir::Value; 2]>;

/// A value of compiled code. Its type goes along separately, as that of the expression.
#[derive(Clone, Debug)]
pub struct LoweredValue {
    /// Where its parts are.
    pub form: ValueForm,
    /// For all forms but [`ValueForm::Fields`].
    lifetime: ValueLifetime,
}

/// How long a value is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueLifetime {
    /// As long as the function runs: what leads to it may be loaded whenever that suits.
    Fixed,
    /// Until the turn of the loop that made it is over.
    LoopTurn,
    /// Until some variable is assigned or changed. Such a value may be used within the expression,
    /// but is copied before it is kept.
    Variable,
}

/// Where the parts of a value are.
#[derive(Clone, Debug)]
pub enum ValueForm {
    /// In registers.
    Parts(ValueParts),
    /// In a slot of flat memory, at an offset from an address.
    Flat(ir::Value, i32),
    /// In a [`tuple::Value`] at an offset from an address.
    Boxed(ir::Value, i32),
    /// A tuple: one value an attribute.
    Fields(Rc<[LoweredValue]>),
}

impl LoweredValue {
    /// Parts in registers, which point to nothing or to what has the life of a turn.
    pub fn from_parts(parts: impl IntoIterator<Item = ir::Value>) -> LoweredValue {
        LoweredValue::new_stable(ValueForm::Parts(parts.into_iter().collect()))
    }

    /// One part in a register.
    pub fn from_part(part: ir::Value) -> LoweredValue {
        LoweredValue::from_parts([part])
    }

    /// A tuple of values for its attributes.
    pub fn from_fields(fields: impl IntoIterator<Item = LoweredValue>) -> LoweredValue {
        LoweredValue::new_stable(ValueForm::Fields(fields.into_iter().collect()))
    }

    /// What no assignment changes.
    pub fn new_stable(form: ValueForm) -> LoweredValue {
        LoweredValue {
            form,
            lifetime: ValueLifetime::LoopTurn,
        }
    }

    /// What is there, and the same, as long as the function runs.
    pub fn new_fixed(form: ValueForm) -> LoweredValue {
        LoweredValue {
            form,
            lifetime: ValueLifetime::Fixed,
        }
    }

    /// What lies in a `Value` that assignments may change.
    pub fn of_variable(at: ir::Value) -> LoweredValue {
        LoweredValue::within_variable(at, 0)
    }

    /// What lies in a `Value` at an offset, which assignments may change.
    pub fn within_variable(at: ir::Value, offset: i32) -> LoweredValue {
        LoweredValue {
            form: ValueForm::Boxed(at, offset),
            lifetime: ValueLifetime::Variable,
        }
    }

    /// A part of this value, which lives as long.
    pub fn part_of(&self, form: ValueForm) -> LoweredValue {
        let life = if self.is_volatile() {
            ValueLifetime::Variable
        } else {
            self.lifetime
        };
        LoweredValue {
            form,
            lifetime: life,
        }
    }

    /// This value, marked as what assignments may change if `is_volatile`.
    pub fn with_volatility(self, is_volatile: bool) -> LoweredValue {
        if !is_volatile {
            return self;
        }
        let form = match self.form {
            ValueForm::Fields(fields) => {
                let each = fields.iter().cloned();
                ValueForm::Fields(each.map(|field| field.with_volatility(true)).collect())
            }
            form => form,
        };
        LoweredValue {
            form,
            lifetime: ValueLifetime::Variable,
        }
    }

    /// Whether assigning to some variable may change it or what it points to.
    pub fn is_volatile(&self) -> bool {
        match &self.form {
            ValueForm::Fields(fields) => fields.iter().any(LoweredValue::is_volatile),
            _ => self.lifetime == ValueLifetime::Variable,
        }
    }

    /// Whether it is there, and the same, as long as the function runs.
    pub fn is_fixed(&self) -> bool {
        self.lifetime == ValueLifetime::Fixed
    }

    /// This value for code that runs while none of the variables it points into can change.
    pub fn settled(&self) -> LoweredValue {
        let form = match &self.form {
            ValueForm::Fields(fields) => {
                ValueForm::Fields(fields.iter().map(LoweredValue::settled).collect())
            }
            form => form.clone(),
        };
        let life = match self.lifetime {
            ValueLifetime::Variable => ValueLifetime::LoopTurn,
            life => life,
        };
        LoweredValue {
            form,
            lifetime: life,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u32) -> ir::Value {
        ir::Value::from_u32(n)
    }

    #[test]
    fn a_tuple_is_as_volatile_as_its_attributes() {
        let kept = LoweredValue::from_part(at(0));
        let changing = LoweredValue::of_variable(at(1));
        assert!(!LoweredValue::from_fields([kept.clone(), kept.clone()]).is_volatile());
        let tuple =
            LoweredValue::from_fields([kept.clone(), LoweredValue::from_fields([kept, changing])]);
        assert!(tuple.is_volatile());
        assert!(
            tuple
                .part_of(ValueForm::Parts(ValueParts::new()))
                .is_volatile()
        );
        assert!(!tuple.settled().is_volatile());
    }

    #[test]
    fn all_of_a_volatile_tuple_is_volatile() {
        let tuple = LoweredValue::from_fields([
            LoweredValue::from_part(at(0)),
            LoweredValue::new_fixed(ValueForm::Flat(at(1), 8)),
        ]);
        let tuple = tuple.with_volatility(true);
        let ValueForm::Fields(fields) = &tuple.form else {
            panic!("a tuple of values");
        };
        assert!(fields.iter().all(|f| f.is_volatile() && !f.is_fixed()));
    }
}
