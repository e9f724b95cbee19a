//! Expressions and statements that lowered windows are made of.

use graph::{BinaryOp, Expr, ExprKind, LocalId, Place, PlaceRoot, Stmt};
use tuple::{Type, Value};

use super::AggregateLowering;
use crate::lower;

impl AggregateLowering<'_> {
    /// A statement that sets a variable.
    pub(super) fn set(&self, variable: &Expr, value: Expr) -> Stmt {
        let root = match variable.kind {
            ExprKind::State(id) => PlaceRoot::State(id),
            ExprKind::Local(id) => PlaceRoot::Local(id),
            _ => unreachable!("only variables are set"),
        };
        let place = Place {
            root,
            steps: Vec::new(),
            ty: variable.ty.clone(),
            pos: self.pos,
        };
        let kind = ExprKind::Assign(place, Box::new(value));
        Stmt::Expr(lower::expr(kind, Type::Void, self.pos))
    }

    pub(super) fn constant(&self, value: Value) -> Expr {
        let ty = match value {
            Value::Uint32(_) => Type::Uint32,
            Value::Uint64(_) => Type::Uint64,
            Value::List(_) => Type::List(Type::Int32.into(), None),
            _ => Type::Int32,
        };
        lower::constant(value, ty, self.pos)
    }

    pub(super) fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let kind = ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        lower::expr(kind, a.ty.clone(), self.pos)
    }

    pub(super) fn compare(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        lower::expr(self.binary(op, a, b).kind, Type::Boolean, self.pos)
    }

    pub(super) fn cast(&self, value: &Expr, ty: &Type) -> Expr {
        if value.ty == *ty {
            return value.clone();
        }
        lower::expr(
            ExprKind::Cast(Box::new(value.clone())),
            ty.clone(),
            self.pos,
        )
    }

    /// A statement that adds 1 to a variable.
    pub(super) fn increment(&self, variable: &Expr) -> Stmt {
        let one = self.cast(&self.constant(Value::Uint32(1)), &variable.ty);
        let more = self.binary(BinaryOp::Add, variable, &one);
        self.set(variable, more)
    }

    /// A new local variable, as an expression that reads it, and its id.
    pub(super) fn local(&mut self, name: &str, ty: Type) -> (LocalId, Expr) {
        let id = self.body.local(name, ty.clone());
        (id, lower::expr(ExprKind::Local(id), ty, self.pos))
    }

    /// Whether an expression has a value.
    pub(super) fn equals(&self, value: &Expr, constant: Value) -> Expr {
        self.compare(BinaryOp::Eq, value, &self.constant(constant))
    }
}
