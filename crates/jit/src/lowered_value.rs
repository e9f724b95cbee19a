//! The value of an expression while code is being generated for it.
//!
//! A value is taken apart as late as possible: an attribute of an input tuple stays in flat memory
//! until an operation needs its parts, and a tuple stays one value an attribute until an operation
//! needs it in one piece. An attribute that no operation reads costs nothing.
//!
//! # Who owns the memory
//! A value may consist of addresses, or lie in memory; it is then only valid as long as the owner
//! of that memory allows. Every such value has one of three lives:
//!
//! | life | owner | valid until |
//! | --- | --- | --- |
//! | fixed | input tuples, state that nothing changes meanwhile | the function returns |
//! | turn | the arena, temporary values, constants (which last longer) | the loop's turn is over |
//! | variable | a local variable, a state variable, or a part of one | it is assigned or changed |
//!
//! Freed memory cannot be read, because of four rules that hold wherever code is generated:
//! * A value has the shortest life of all that it points into. A tuple that is one value an
//!   attribute has the lives of its attributes ([`LoweredValue::is_volatile`]), however it was put
//!   together. A part of a value is made by [`LoweredValue::part_of`], with the life of the whole.
//! * Code that keeps a value beyond its expression takes it from `FunctionLowering::stable`, which
//!   copies values that have the life of a variable: initial values, arguments beside an argument
//!   by reference, results of functions, values inserted into a collection. The compiler refuses
//!   expressions that read and change one variable, so nothing changes within an expression.
//! * A variable that is set in a turn of a loop and read in a later one, or changed in place, lives
//!   in a `Value` and is given copies (`lower::values::locals`). Hence no value with the life of a
//!   turn is left when the turn gives its memory back. Debug builds fill memory that is given back.
//! * The compiler refuses loops that change the collection they run over, and the current item is a
//!   part of that collection.

use std::rc::Rc;

use cranelift_codegen::ir;
use smallvec::SmallVec;

/// The IR values of a type's parts.
pub type ValueParts = SmallVec<[ir::Value; 2]>;

/// A value of compiled code. Its type is passed along separately, as the type of the expression.
#[derive(Clone, Debug)]
pub struct LoweredValue {
    /// Location of the value's parts.
    pub form: ValueForm,
    /// Life of the value, for all forms but [`ValueForm::Fields`].
    lifetime: ValueLifetime,
}

/// Time for which a value is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueLifetime {
    /// Valid as long as the function runs: loads of it may move anywhere.
    Fixed,
    /// Valid until the end of the loop's turn in which it was computed.
    LoopTurn,
    /// Valid until some variable is assigned or changed. Such a value may be used within the
    /// expression, but is copied before it is kept.
    Variable,
}

/// Location of the parts of a value.
#[derive(Clone, Debug)]
pub enum ValueForm {
    /// One or more machine values, a part each.
    Parts(ValueParts),
    /// A slot of flat memory, at an offset from an address.
    Flat(ir::Value, i32),
    /// A [`tuple::Value`] at an offset from an address.
    Boxed(ir::Value, i32),
    /// A tuple as one value an attribute.
    Fields(Rc<[LoweredValue]>),
}

impl LoweredValue {
    /// A value in registers whose parts point to nothing, or to memory that lasts for the turn.
    pub fn from_parts(parts: impl IntoIterator<Item = ir::Value>) -> LoweredValue {
        LoweredValue::new_stable(ValueForm::Parts(parts.into_iter().collect()))
    }

    /// A value of one part in a register.
    pub fn from_part(part: ir::Value) -> LoweredValue {
        LoweredValue::from_parts([part])
    }

    /// A tuple of values for its attributes.
    pub fn from_fields(fields: impl IntoIterator<Item = LoweredValue>) -> LoweredValue {
        LoweredValue::new_stable(ValueForm::Fields(fields.into_iter().collect()))
    }

    /// A value that no assignment changes.
    pub fn new_stable(form: ValueForm) -> LoweredValue {
        LoweredValue {
            form,
            lifetime: ValueLifetime::LoopTurn,
        }
    }

    /// A value whose memory is there, and does not change, while the function runs.
    pub fn new_fixed(form: ValueForm) -> LoweredValue {
        LoweredValue {
            form,
            lifetime: ValueLifetime::Fixed,
        }
    }

    /// A value that lies in a `Value` that assignments may change.
    pub fn of_variable(at: ir::Value) -> LoweredValue {
        LoweredValue::within_variable(at, 0)
    }

    /// A value at an offset within a `Value` that assignments may change.
    pub fn within_variable(at: ir::Value, offset: i32) -> LoweredValue {
        LoweredValue {
            form: ValueForm::Boxed(at, offset),
            lifetime: ValueLifetime::Variable,
        }
    }

    /// A part of this value, which is valid as long as the whole.
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

    /// Sets whether assignments may change the value.
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

    /// Whether assigning to some variable may change the value or the memory that it points to.
    pub fn is_volatile(&self) -> bool {
        match &self.form {
            ValueForm::Fields(fields) => fields.iter().any(LoweredValue::is_volatile),
            _ => self.lifetime == ValueLifetime::Variable,
        }
    }

    /// Whether the value's memory is there, and does not change, as long as the function runs.
    pub fn is_fixed(&self) -> bool {
        self.lifetime == ValueLifetime::Fixed
    }

    /// A value of the same form with other machine values.
    pub fn map_words(&self, map: &mut dyn FnMut(ir::Value) -> ir::Value) -> LoweredValue {
        let form = match &self.form {
            ValueForm::Parts(parts) => {
                ValueForm::Parts(parts.iter().map(|&part| map(part)).collect())
            }
            ValueForm::Flat(at, offset) => ValueForm::Flat(map(*at), *offset),
            ValueForm::Boxed(at, offset) => ValueForm::Boxed(map(*at), *offset),
            ValueForm::Fields(fields) => {
                ValueForm::Fields(fields.iter().map(|field| field.map_words(map)).collect())
            }
        };
        LoweredValue {
            form,
            lifetime: self.lifetime,
        }
    }

    /// A copy that counts as unchangeable, for code that runs while no variable it points into
    /// changes.
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
