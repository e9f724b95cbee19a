//! Assignments: to variables, state, and parts of their values.

use graph::{BinaryOp, Expr, MappedForm, Place, PlaceRoot, PlaceStep};
use tuple::{Type, Value};

use super::machine::Machine;
use super::variable_path::{VariableBase, VariablePath};
use crate::Fault;
use crate::ops::{self, ValueStep, faults, truncate_to_bound};

impl Machine<'_, '_> {
    /// The way to a place, its indices computed; whether it exists is not looked at.
    pub(super) fn place_path(&mut self, place: &Place) -> Result<VariablePath, Fault> {
        let mut path = VariablePath::from_base(match place.root {
            PlaceRoot::Local(id) => VariableBase::Local(self.call_base + id.0 as usize),
            PlaceRoot::State(id) => VariableBase::State(id),
        });
        for step in &place.steps {
            path.steps.push(match step {
                PlaceStep::Field(index) => ValueStep::Field(*index),
                PlaceStep::Index(at) => ValueStep::Index(self.value(at)?),
            });
        }
        Ok(path)
    }

    pub(super) fn assign(&mut self, place: &Place, value: &Expr) -> Result<(), Fault> {
        let path = self.place_path(place)?;
        let value = truncate_to_bound(self.value(value)?, &place.ty);
        self.store(&path, value)
            .map_err(|fault| fault.with_pos(place.pos))
    }

    /// Assigns to what a path leads to; a map key at its end is inserted.
    fn store(&mut self, path: &VariablePath, value: Value) -> Result<(), Fault> {
        let ty = self.base_type(path.base).cloned();
        let ty = ty.ok_or_else(|| faults::mistyped("an assignment"))?;
        self.change(path, |root, keys| ops::store_part(root, &ty, keys, value))
    }

    pub(super) fn assign_op(
        &mut self,
        op: BinaryOp,
        place: &Place,
        value: &Expr,
    ) -> Result<(), Fault> {
        let path = self.place_path(place)?;
        let operand = self.value(value)?;
        let changed = self.change(&path, |root, keys| {
            ops::change_part(root, keys, &mut |old| {
                apply_assign_op(op, old, (&operand, &value.ty), &place.ty)
            })
        });
        changed.map_err(|fault| fault.with_pos(place.pos))
    }

    /// `++` and `--`: the value before or after.
    pub(super) fn increment(
        &mut self,
        place: &Place,
        down: bool,
        prefix: bool,
    ) -> Result<Value, Fault> {
        let op = if down { BinaryOp::Sub } else { BinaryOp::Add };
        let one = ops::one_of_type(&place.ty)?;
        let path = self.place_path(place)?;
        let changed = self.change(&path, |root, keys| {
            ops::change_part(root, keys, &mut |old| {
                let new = ops::binary(op, old, &one)?;
                let before = std::mem::replace(old, new);
                Ok(if prefix { old.clone() } else { before })
            })
        });
        changed.map_err(|fault| fault.with_pos(place.pos))
    }
}

/// `old op= operand`, cut to the bound of the place.
fn apply_assign_op(
    op: BinaryOp,
    old: &mut Value,
    (operand, operand_type): (&Value, &Type),
    ty: &Type,
) -> Result<(), Fault> {
    match (&mut *old, operand, op) {
        // Appending in place keeps a loop of `+=` linear.
        (Value::RString(s), Value::RString(more), BinaryOp::Add) => {
            ops::grown_len(s.0.len(), more.0.len(), "string")?;
            s.0.extend_from_slice(&more.0);
            truncate_string(s, ty);
        }
        (Value::UString(s), Value::UString(more), BinaryOp::Add) => {
            ops::grown_len(s.0.len(), more.0.len(), "string")?;
            s.0.extend_from_slice(&more.0);
        }
        (Value::List(_) | Value::Map(_), _, _) => {
            let form = if operand_type.is_collection() {
                MappedForm::Elementwise
            } else {
                MappedForm::CollectionScalar
            };
            *old = ops::binary_mapped(op, form, old, operand, ty)?;
        }
        _ => *old = ops::binary(op, old, operand)?,
    }
    Ok(())
}

fn truncate_string(s: &mut tuple::RString, ty: &Type) {
    if let Type::BoundedRString(n) = ty {
        s.0.truncate(*n as usize);
    }
}
