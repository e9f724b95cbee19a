//! What an expression has become while code is being made for it.
//!
//! A value is taken apart as late as possible: an attribute of an input tuple stays a place in flat
//! memory until somebody needs its parts, a tuple stays one value an attribute until somebody needs
//! it in one piece. What nobody asks for costs nothing.
//!
//! # Who owns the memory
//! A value whose parts are addresses, or which is a place in memory, is only as good as the owner of
//! that memory. Every such value says how long that is:
//!
//! | life | owner | good until |
//! | --- | --- | --- |
//! | fixed | input tuples, state that nothing changes meanwhile | the function returns |
//! | turn | the arena, temporary values, constants (which last longer) | the turn of the loop that made it is over |
//! | variable | a local variable or state, or what is within | an assignment or a change in place |
//!
//! Freed memory cannot be read, because of four rules that hold wherever code is made:
//! * A value has the shortest life of all that it points into. A tuple that is one value an attribute
//!   has no life of its own: it is asked of its attributes ([`Val::is_volatile`]), however it was put
//!   together. What is part of a value is made by [`Val::part_of`], with the life of the whole.
//! * Whatever keeps a value beyond its expression takes it from `Lower::stable`, which copies what has
//!   the life of a variable: initial values, arguments beside an argument by reference, results of
//!   functions, what is inserted into a collection. The compiler refuses expressions that read
//!   and change one variable, so nothing changes within an expression.
//! * A variable that is set in a turn of a loop and read in a later one, or changed in place, lives in
//!   a `Value` and is given copies (`lower::locals`); hence no value with the life of a turn is left
//!   when the turn gives its memory back. Memory that is given back is filled in debug builds.
//! * A collection that a loop runs over is not changed by the loop (the compiler refuses it), and its
//!   current item is a part of it.

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
    /// For all forms but [`Form::Fields`].
    life: Life,
}

/// How long a value is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// As long as the function runs: what leads to it may be loaded whenever that suits.
    Fixed,
    /// Until the turn of the loop that made it is over.
    Turn,
    /// Until some variable is assigned or changed. Such a value may be used within the expression, but
    /// is copied before it is kept.
    Variable,
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
    /// Parts in registers, which point to nothing or to what has the life of a turn.
    pub fn parts(parts: impl IntoIterator<Item = ir::Value>) -> Val {
        Val::stable(Form::Parts(parts.into_iter().collect()))
    }

    /// One part in a register.
    pub fn one(part: ir::Value) -> Val {
        Val::parts([part])
    }

    /// A tuple of values for its attributes.
    pub fn fields(fields: impl IntoIterator<Item = Val>) -> Val {
        Val::stable(Form::Fields(fields.into_iter().collect()))
    }

    /// What no assignment changes.
    pub fn stable(form: Form) -> Val {
        Val {
            form,
            life: Life::Turn,
        }
    }

    /// What is there, and the same, as long as the function runs.
    pub fn fixed(form: Form) -> Val {
        Val {
            form,
            life: Life::Fixed,
        }
    }

    /// What lies in a `Value` that assignments may change.
    pub fn variable(at: ir::Value) -> Val {
        Val::within_variable(at, 0)
    }

    /// What lies in a `Value` at an offset, which assignments may change.
    pub fn within_variable(at: ir::Value, offset: i32) -> Val {
        Val {
            form: Form::Boxed(at, offset),
            life: Life::Variable,
        }
    }

    /// A part of this value, which lives as long.
    pub fn part_of(&self, form: Form) -> Val {
        let life = if self.is_volatile() {
            Life::Variable
        } else {
            self.life
        };
        Val { form, life }
    }

    /// This value, marked as what assignments may change if `is_volatile`.
    pub fn volatile_if(self, is_volatile: bool) -> Val {
        if !is_volatile {
            return self;
        }
        let form = match self.form {
            Form::Fields(fields) => {
                let each = fields.iter().cloned();
                Form::Fields(each.map(|field| field.volatile_if(true)).collect())
            }
            form => form,
        };
        Val {
            form,
            life: Life::Variable,
        }
    }

    /// Whether assigning to some variable may change it or what it points to.
    pub fn is_volatile(&self) -> bool {
        match &self.form {
            Form::Fields(fields) => fields.iter().any(Val::is_volatile),
            _ => self.life == Life::Variable,
        }
    }

    /// Whether it is there, and the same, as long as the function runs.
    pub fn is_fixed(&self) -> bool {
        self.life == Life::Fixed
    }

    /// This value for code that runs while none of the variables it points into can change.
    pub fn settled(&self) -> Val {
        let form = match &self.form {
            Form::Fields(fields) => Form::Fields(fields.iter().map(Val::settled).collect()),
            form => form.clone(),
        };
        let life = match self.life {
            Life::Variable => Life::Turn,
            life => life,
        };
        Val { form, life }
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
        let kept = Val::one(at(0));
        let changing = Val::variable(at(1));
        assert!(!Val::fields([kept.clone(), kept.clone()]).is_volatile());
        let tuple = Val::fields([kept.clone(), Val::fields([kept, changing])]);
        assert!(tuple.is_volatile());
        assert!(tuple.part_of(Form::Parts(Parts::new())).is_volatile());
        assert!(!tuple.settled().is_volatile());
    }

    #[test]
    fn all_of_a_volatile_tuple_is_volatile() {
        let tuple = Val::fields([Val::one(at(0)), Val::fixed(Form::Flat(at(1), 8))]);
        let tuple = tuple.volatile_if(true);
        let Form::Fields(fields) = &tuple.form else {
            panic!("a tuple of values");
        };
        assert!(fields.iter().all(|f| f.is_volatile() && !f.is_fixed()));
    }
}
