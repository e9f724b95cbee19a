//! Assignments to places.

use tuple::{Type, Value};

use crate::ops::{self, Key, fit, sentence};
use crate::{BinaryOp, Expr, Fault, MappedForm, Place, Root, Step};

use super::machine::Machine;
use super::operand::{Base, Path};

impl Machine<'_, '_> {
    /// The way to a place, its indices computed; whether it exists is not looked at.
    pub(super) fn place(&mut self, place: &Place) -> Result<Path, Fault> {
        let mut path = Path::to(match place.root {
            Root::Local(id) => Base::Local(self.frame + id.0 as usize),
            Root::State(id) => Base::State(id),
        });
        for step in &place.steps {
            path.keys.push(match step {
                Step::Field(index) => Key::Field(*index),
                Step::Index(at) => Key::At(self.value(at)?),
            });
        }
        Ok(path)
    }

    pub(super) fn assign(&mut self, place: &Place, value: &Expr) -> Result<(), Fault> {
        let path = self.place(place)?;
        let value = fit(self.value(value)?, &place.ty);
        self.store(&path, value)
            .map_err(|fault| fault.at(place.pos))
    }

    /// Assigns to what a path leads to; a map key at its end is inserted.
    fn store(&mut self, path: &Path, value: Value) -> Result<(), Fault> {
        let ty = self.base_type(path.base).cloned();
        let ty = ty.ok_or_else(|| sentence::mistyped("an assignment"))?;
        self.change(path, |root, keys| ops::store(root, &ty, keys, value))
    }

    pub(super) fn assign_op(
        &mut self,
        op: BinaryOp,
        place: &Place,
        value: &Expr,
    ) -> Result<(), Fault> {
        let path = self.place(place)?;
        let operand = self.value(value)?;
        let changed = self.change(&path, |root, keys| {
            ops::change(root, keys, &mut |old| {
                combine(op, old, (&operand, &value.ty), &place.ty)
            })
        });
        changed.map_err(|fault| fault.at(place.pos))
    }

    /// `++` and `--`: the value before or after.
    pub(super) fn increment(
        &mut self,
        place: &Place,
        down: bool,
        prefix: bool,
    ) -> Result<Value, Fault> {
        let op = if down { BinaryOp::Sub } else { BinaryOp::Add };
        let one = ops::one(&place.ty)?;
        let path = self.place(place)?;
        let changed = self.change(&path, |root, keys| {
            ops::change(root, keys, &mut |old| {
                let new = ops::binary(op, old, &one)?;
                let before = std::mem::replace(old, new);
                Ok(if prefix { old.clone() } else { before })
            })
        });
        changed.map_err(|fault| fault.at(place.pos))
    }
}

/// `old op= operand`, cut to the bound of the place.
fn combine(
    op: BinaryOp,
    old: &mut Value,
    (operand, operand_type): (&Value, &Type),
    ty: &Type,
) -> Result<(), Fault> {
    match (&mut *old, operand, op) {
        // Appending in place keeps a loop of `+=` linear.
        (Value::RString(s), Value::RString(more), BinaryOp::Add) => {
            s.0.extend_from_slice(&more.0);
            cut(s, ty);
        }
        (Value::UString(s), Value::UString(more), BinaryOp::Add) => s.0.extend_from_slice(&more.0),
        (Value::List(_) | Value::Map(_), _, _) => {
            let form = if operand_type.is_collection() {
                MappedForm::Both
            } else {
                MappedForm::Left
            };
            *old = ops::mapped(op, form, old, operand, ty)?;
        }
        _ => *old = ops::binary(op, old, operand)?,
    }
    Ok(())
}

fn cut(s: &mut tuple::RString, ty: &Type) {
    if let Type::BoundedRString(n) = ty {
        s.0.truncate(*n as usize);
    }
}
