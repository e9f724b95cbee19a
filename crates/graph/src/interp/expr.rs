//! Evaluation of expressions.

use tuple::{List, Map, Set, Type, Value};

use crate::ops::{self, Key, fit, sentence};
use crate::{BinaryOp, Expr, ExprKind, Fault, MappedForm, State, UnaryOp};

use super::machine::{Machine, NOTHING};
use super::operand::{Base, Operand, Path};

impl Machine<'_, '_> {
    /// An expression's value.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let operand = self.operand(expr)?;
        self.own(operand)
    }

    /// A condition.
    pub(super) fn test(&mut self, expr: &Expr) -> Result<bool, Fault> {
        match self.operand(expr)? {
            Operand::Owned(Value::Boolean(holds)) => Ok(holds),
            Operand::Const(Value::Boolean(holds)) => Ok(*holds),
            _ => Err(sentence::mistyped("a condition").at(expr.pos)),
        }
    }

    /// An expression as an operand: a path where it is a part of a variable.
    pub(super) fn operand<'x>(&mut self, expr: &'x Expr) -> Result<Operand<'x>, Fault> {
        self.check_stack()?;
        self.evaluate(expr).map_err(|fault| fault.at(expr.pos))
    }

    fn evaluate<'x>(&mut self, expr: &'x Expr) -> Result<Operand<'x>, Fault> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(Operand::Const(value)),
            ExprKind::Local(id) => {
                let path = Path::to(Base::Local(self.frame + id.0 as usize));
                self.settle(path, State::is_scalar(&expr.ty))
            }
            ExprKind::State(id) if State::is_scalar(&expr.ty) => {
                self.scalar(*id).map(Operand::Owned)
            }
            ExprKind::State(id) => self.settle(Path::to(Base::State(*id)), false),
            ExprKind::Input { port, history } => self.whole(self.slot(*port, *history), &expr.ty),
            ExprKind::Attribute {
                port,
                history,
                index,
            } => self.attribute(self.slot(*port, *history), *index, &expr.ty),
            ExprKind::OutputCall(n) => self.attribute(self.call_slot(), *n, &expr.ty),
            ExprKind::Field(base, index) => self.field(base, *index, &expr.ty),
            ExprKind::Index(base, at) => self.index(base, at, &expr.ty),
            ExprKind::Unwrap(base) => self.unwrap(base, &expr.ty),
            ExprKind::UnwrapOr(base, other) => self.unwrap_or(base, other, &expr.ty),
            ExprKind::Conditional(condition, yes, no) => {
                if self.test(condition)? {
                    self.operand(yes)
                } else {
                    self.operand(no)
                }
            }
            _ => self.compute(expr).map(Operand::Owned),
        }
    }

    /// An expression that makes a value of its own.
    fn compute(&mut self, expr: &Expr) -> Result<Value, Fault> {
        match &expr.kind {
            ExprKind::CurrentPunct => {
                let mark = self
                    .to
                    .mark
                    .ok_or_else(|| sentence::mistyped("currentPunct()"))?;
                Ok(Value::Enum(mark as u32))
            }
            ExprKind::IsShutdown => Ok(Value::Boolean(self.to.submit.services().is_shutdown())),
            ExprKind::Tuple(parts) => {
                let values = parts.iter().map(|part| self.value(part));
                Ok(Value::Tuple(values.collect::<Result<_, Fault>>()?))
            }
            ExprKind::List(parts) => self.list(parts, &expr.ty),
            ExprKind::Set(parts) => {
                let values = parts.iter().map(|part| self.value(part));
                Ok(fit(
                    Value::Set(values.collect::<Result<Set, Fault>>()?),
                    &expr.ty,
                ))
            }
            ExprKind::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(k, v)| Ok((self.value(k)?, self.value(v)?)));
                Ok(fit(
                    Value::Map(entries.collect::<Result<Map, Fault>>()?),
                    &expr.ty,
                ))
            }
            ExprKind::Slice(base, lower, upper) => {
                self.slice(base, lower.as_deref(), upper.as_deref())
            }
            ExprKind::And(left, right) => Ok(Value::Boolean(self.test(left)? && self.test(right)?)),
            ExprKind::Or(left, right) => Ok(Value::Boolean(self.test(left)? || self.test(right)?)),
            ExprKind::Wrap(inner) => Ok(Value::Optional(Some(Box::new(self.value(inner)?)))),
            ExprKind::Call(callee, args) => self.call(*callee, args, expr),
            _ => self.operate(expr),
        }
    }

    /// Operators on one or two operands, and assignments.
    fn operate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        match &expr.kind {
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => self
                .binary(*op, left, right)
                .map(|value| fit(value, &expr.ty)),
            ExprKind::Mapped(op, form, left, right) => {
                self.mapped((*op, *form), left, right, &expr.ty)
            }
            ExprKind::In(item, collection) => {
                let item = self.operand(item)?;
                let collection = self.operand(collection)?;
                let found = ops::contains(&*self.look(&collection)?, &*self.look(&item)?)?;
                Ok(Value::Boolean(found))
            }
            ExprKind::Cast(inner) => {
                let operand = self.operand(inner)?;
                ops::cast(&*self.look(&operand)?, &inner.ty, &expr.ty)
            }
            ExprKind::IsPresent(inner) => {
                let operand = self.operand(inner)?;
                match &*self.look(&operand)? {
                    Value::Optional(held) => Ok(Value::Boolean(held.is_some())),
                    _ => Err(sentence::mistyped("`??`")),
                }
            }
            ExprKind::Assign(place, value) => self.assign(place, value).map(|()| NOTHING),
            ExprKind::AssignOp(op, place, value) => {
                self.assign_op(*op, place, value).map(|()| NOTHING)
            }
            ExprKind::Step {
                place,
                down,
                prefix,
            } => self.increment(place, *down, *prefix),
            _ => Err(sentence::mistyped("the expression")),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Result<Value, Fault> {
        let operand = self.operand(operand)?;
        ops::unary(op, &*self.look(&operand)?)
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Value, Fault> {
        let left = self.operand(left)?;
        let right = self.operand(right)?;
        ops::binary(op, &*self.look(&left)?, &*self.look(&right)?)
    }

    fn mapped(
        &mut self,
        (op, form): (BinaryOp, MappedForm),
        left: &Expr,
        right: &Expr,
        ty: &Type,
    ) -> Result<Value, Fault> {
        let left = self.operand(left)?;
        let right = self.operand(right)?;
        ops::mapped(op, form, &*self.look(&left)?, &*self.look(&right)?, ty)
    }

    fn list(&mut self, parts: &[Expr], ty: &Type) -> Result<Value, Fault> {
        let Type::List(element, _) = ty else {
            return Err(sentence::mistyped("a list literal"));
        };
        let mut list = List::with_capacity(element, parts.len());
        for part in parts {
            list.push(self.value(part)?);
        }
        Ok(fit(Value::List(list), ty))
    }

    fn field<'x>(&mut self, base: &'x Expr, index: u32, ty: &Type) -> Result<Operand<'x>, Fault> {
        let wrong = || sentence::mistyped("an attribute");
        match self.operand(base)? {
            Operand::At(path) => self.settle(path.then(Key::Field(index)), State::is_scalar(ty)),
            Operand::Const(Value::Tuple(parts)) => parts
                .get(index as usize)
                .map(Operand::Const)
                .ok_or_else(wrong),
            Operand::Owned(Value::Tuple(parts)) => {
                let part = parts.into_iter().nth(index as usize);
                part.map(Operand::Owned).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    fn index<'x>(&mut self, base: &'x Expr, at: &'x Expr, ty: &Type) -> Result<Operand<'x>, Fault> {
        let container = self.operand(base)?;
        let at = self.value(at)?;
        match container {
            Operand::At(path) if base.ty.is_list() || base.ty.is_map() => {
                self.settle(path.then(Key::At(at)), State::is_scalar(ty))
            }
            other => Ok(Operand::Owned(ops::index(&*self.look(&other)?, &at)?)),
        }
    }

    fn slice(
        &mut self,
        base: &Expr,
        lower: Option<&Expr>,
        upper: Option<&Expr>,
    ) -> Result<Value, Fault> {
        let base = self.operand(base)?;
        let lower = lower.map(|end| self.value(end)).transpose()?;
        let upper = upper.map(|end| self.value(end)).transpose()?;
        ops::slice(&*self.look(&base)?, lower.as_ref(), upper.as_ref())
    }

    fn unwrap<'x>(&mut self, base: &'x Expr, ty: &Type) -> Result<Operand<'x>, Fault> {
        match self.operand(base)? {
            Operand::At(path) => self.settle(path.then(Key::Held), State::is_scalar(ty)),
            Operand::Const(Value::Optional(held)) => held
                .as_deref()
                .map(Operand::Const)
                .ok_or_else(sentence::null),
            Operand::Owned(Value::Optional(held)) => held
                .map(|held| Operand::Owned(*held))
                .ok_or_else(sentence::null),
            _ => Err(sentence::mistyped("`!`")),
        }
    }

    fn unwrap_or<'x>(
        &mut self,
        base: &'x Expr,
        other: &'x Expr,
        ty: &Type,
    ) -> Result<Operand<'x>, Fault> {
        match self.operand(base)? {
            Operand::Const(Value::Optional(None)) | Operand::Owned(Value::Optional(None)) => {
                self.operand(other)
            }
            Operand::Const(Value::Optional(Some(held))) => Ok(Operand::Const(held)),
            Operand::Owned(Value::Optional(Some(held))) => Ok(Operand::Owned(*held)),
            Operand::At(path) => {
                let path_to_held = path.clone().then(Key::Held);
                let is_null = matches!(&*self.look(&Operand::At(path))?, Value::Optional(None));
                if is_null {
                    return self.operand(other);
                }
                self.settle(path_to_held, State::is_scalar(ty))
            }
            _ => Err(sentence::mistyped("`?:`")),
        }
    }
}
