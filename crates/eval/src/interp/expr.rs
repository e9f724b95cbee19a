//! Evaluation of expressions.

use graph::{BinaryOp, Expr, ExprKind, MappedForm, UnaryOp};
use tuple::{List, Map, Set, Type, Value};

use super::machine::{Machine, VOID_VALUE};
use super::operand::EvaluatedOperand;
use super::variable_path::{VariableBase, VariablePath};
use crate::ops::{self, ValueStep, faults, truncate_to_bound};
use crate::{Fault, State, clock_seconds};

impl Machine<'_, '_> {
    /// Evaluates an expression to a value of its own.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let operand = self.operand(expr)?;
        self.owned_value(operand)
    }

    /// Evaluates a boolean expression.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<bool, Fault> {
        match self.operand(expr)? {
            EvaluatedOperand::Owned(Value::Boolean(holds)) => Ok(holds),
            EvaluatedOperand::Const(Value::Boolean(holds)) => Ok(*holds),
            _ => Err(faults::mistyped("a condition").with_pos(expr.pos)),
        }
    }

    /// Evaluates an expression to an operand: a path where it is a part of a variable.
    pub(super) fn operand<'x>(&mut self, expr: &'x Expr) -> Result<EvaluatedOperand<'x>, Fault> {
        self.check_stack()?;
        self.evaluate(expr)
            .map_err(|fault| fault.with_pos(expr.pos))
    }

    fn evaluate<'x>(&mut self, expr: &'x Expr) -> Result<EvaluatedOperand<'x>, Fault> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(EvaluatedOperand::Const(value)),
            ExprKind::Local(id) => {
                let path =
                    VariablePath::from_base(VariableBase::Local(self.call_base + id.0 as usize));
                self.resolve_path(path, State::is_scalar(&expr.ty))
            }
            ExprKind::State(id) if State::is_scalar(&expr.ty) => {
                self.scalar(*id).map(EvaluatedOperand::Owned)
            }
            ExprKind::State(id) => {
                self.resolve_path(VariablePath::from_base(VariableBase::State(*id)), false)
            }
            ExprKind::Input { port, history } => {
                self.whole_tuple(self.slot(*port, *history), &expr.ty)
            }
            ExprKind::Attribute {
                port,
                history,
                index,
            } => self.attribute(self.slot(*port, *history), *index, &expr.ty),
            ExprKind::OutputCall(n) => self.attribute(self.output_call_slot(), *n, &expr.ty),
            ExprKind::Field(base, index) => self.field(base, *index, &expr.ty),
            ExprKind::Index(base, at) => self.index(base, at, &expr.ty),
            ExprKind::Unwrap(base) => self.unwrap(base, &expr.ty),
            ExprKind::UnwrapOr(base, other) => self.unwrap_or(base, other, &expr.ty),
            ExprKind::Conditional(condition, yes, no) => {
                if self.condition(condition)? {
                    self.operand(yes)
                } else {
                    self.operand(no)
                }
            }
            _ => self.compute(expr).map(EvaluatedOperand::Owned),
        }
    }

    /// Evaluates an expression that is no path to a value of its own.
    fn compute(&mut self, expr: &Expr) -> Result<Value, Fault> {
        match &expr.kind {
            ExprKind::CurrentPunct => {
                let mark = self
                    .evaluation
                    .current_punctuation
                    .ok_or_else(|| faults::mistyped("currentPunct()"))?;
                Ok(Value::Enum(mark as u32))
            }
            ExprKind::IsShutdown => Ok(Value::Boolean(
                self.evaluation.submit.services().is_shutdown(),
            )),
            ExprKind::ClockSeconds(clock) => Ok(Value::Float64(clock_seconds(*clock))),
            ExprKind::Tuple(parts) => {
                let values = parts.iter().map(|part| self.value(part));
                Ok(Value::Tuple(values.collect::<Result<_, Fault>>()?))
            }
            ExprKind::List(parts) => self.list(parts, &expr.ty),
            ExprKind::Set(parts) => {
                let values = parts.iter().map(|part| self.value(part));
                Ok(truncate_to_bound(
                    Value::Set(values.collect::<Result<Set, Fault>>()?),
                    &expr.ty,
                ))
            }
            ExprKind::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(k, v)| Ok((self.value(k)?, self.value(v)?)));
                Ok(truncate_to_bound(
                    Value::Map(entries.collect::<Result<Map, Fault>>()?),
                    &expr.ty,
                ))
            }
            ExprKind::Slice(base, lower, upper) => {
                self.slice(base, lower.as_deref(), upper.as_deref())
            }
            ExprKind::And(left, right) => Ok(Value::Boolean(
                self.condition(left)? && self.condition(right)?,
            )),
            ExprKind::Or(left, right) => Ok(Value::Boolean(
                self.condition(left)? || self.condition(right)?,
            )),
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
                .map(|value| truncate_to_bound(value, &expr.ty)),
            ExprKind::Mapped(op, form, left, right) => {
                self.mapped((*op, *form), left, right, &expr.ty)
            }
            ExprKind::In(item, collection) => {
                let item = self.operand(item)?;
                let collection = self.operand(collection)?;
                let found = ops::contains(
                    &*self.operand_value(&collection)?,
                    &*self.operand_value(&item)?,
                )?;
                Ok(Value::Boolean(found))
            }
            ExprKind::Cast(inner) => {
                let operand = self.operand(inner)?;
                ops::cast(&*self.operand_value(&operand)?, &inner.ty, &expr.ty)
            }
            ExprKind::IsPresent(inner) => {
                let operand = self.operand(inner)?;
                match &*self.operand_value(&operand)? {
                    Value::Optional(held) => Ok(Value::Boolean(held.is_some())),
                    _ => Err(faults::mistyped("`??`")),
                }
            }
            ExprKind::Assign(place, value) => self.assign(place, value).map(|()| VOID_VALUE),
            ExprKind::AssignOp(op, place, value) => {
                self.assign_op(*op, place, value).map(|()| VOID_VALUE)
            }
            ExprKind::Increment {
                place,
                is_decrement: down,
                is_prefix: prefix,
            } => self.increment(place, *down, *prefix),
            _ => Err(faults::mistyped("the expression")),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Result<Value, Fault> {
        let operand = self.operand(operand)?;
        ops::unary(op, &*self.operand_value(&operand)?)
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Value, Fault> {
        let left = self.operand(left)?;
        let right = self.operand(right)?;
        ops::binary(
            op,
            &*self.operand_value(&left)?,
            &*self.operand_value(&right)?,
        )
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
        ops::binary_mapped(
            op,
            form,
            &*self.operand_value(&left)?,
            &*self.operand_value(&right)?,
            ty,
        )
    }

    fn list(&mut self, parts: &[Expr], ty: &Type) -> Result<Value, Fault> {
        let Type::List(element, _) = ty else {
            return Err(faults::mistyped("a list literal"));
        };
        let mut list = List::with_capacity(element, parts.len());
        for part in parts {
            list.push(self.value(part)?);
        }
        Ok(truncate_to_bound(Value::List(list), ty))
    }

    fn field<'x>(
        &mut self,
        base: &'x Expr,
        index: u32,
        ty: &Type,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        let wrong = || faults::mistyped("an attribute");
        match self.operand(base)? {
            EvaluatedOperand::Path(path) => self.resolve_path(
                path.with_step(ValueStep::Field(index)),
                State::is_scalar(ty),
            ),
            EvaluatedOperand::Const(Value::Tuple(parts)) => parts
                .get(index as usize)
                .map(EvaluatedOperand::Const)
                .ok_or_else(wrong),
            EvaluatedOperand::Owned(Value::Tuple(parts)) => {
                let part = parts.into_iter().nth(index as usize);
                part.map(EvaluatedOperand::Owned).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    fn index<'x>(
        &mut self,
        base: &'x Expr,
        at: &'x Expr,
        ty: &Type,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        let container = self.operand(base)?;
        let at = self.value(at)?;
        match container {
            EvaluatedOperand::Path(path) if base.ty.is_list() || base.ty.is_map() => {
                self.resolve_path(path.with_step(ValueStep::Index(at)), State::is_scalar(ty))
            }
            other => Ok(EvaluatedOperand::Owned(ops::index(
                &*self.operand_value(&other)?,
                &at,
            )?)),
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
        ops::slice(&*self.operand_value(&base)?, lower.as_ref(), upper.as_ref())
    }

    fn unwrap<'x>(&mut self, base: &'x Expr, ty: &Type) -> Result<EvaluatedOperand<'x>, Fault> {
        match self.operand(base)? {
            EvaluatedOperand::Path(path) => {
                self.resolve_path(path.with_step(ValueStep::Unwrap), State::is_scalar(ty))
            }
            EvaluatedOperand::Const(Value::Optional(held)) => held
                .as_deref()
                .map(EvaluatedOperand::Const)
                .ok_or_else(faults::null_unwrapped),
            EvaluatedOperand::Owned(Value::Optional(held)) => held
                .map(|held| EvaluatedOperand::Owned(*held))
                .ok_or_else(faults::null_unwrapped),
            _ => Err(faults::mistyped("`!`")),
        }
    }

    fn unwrap_or<'x>(
        &mut self,
        base: &'x Expr,
        other: &'x Expr,
        ty: &Type,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        match self.operand(base)? {
            EvaluatedOperand::Const(Value::Optional(None))
            | EvaluatedOperand::Owned(Value::Optional(None)) => self.operand(other),
            EvaluatedOperand::Const(Value::Optional(Some(held))) => {
                Ok(EvaluatedOperand::Const(held))
            }
            EvaluatedOperand::Owned(Value::Optional(Some(held))) => {
                Ok(EvaluatedOperand::Owned(*held))
            }
            EvaluatedOperand::Path(path) => {
                let path_to_held = path.clone().with_step(ValueStep::Unwrap);
                let is_null = matches!(
                    &*self.operand_value(&EvaluatedOperand::Path(path))?,
                    Value::Optional(None)
                );
                if is_null {
                    return self.operand(other);
                }
                self.resolve_path(path_to_held, State::is_scalar(ty))
            }
            _ => Err(faults::mistyped("`?:`")),
        }
    }
}
