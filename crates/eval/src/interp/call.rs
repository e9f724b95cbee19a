//! Calls of library and user functions.
//!
//! Arguments are lent: a part of a variable is taken out of it, handed to the callee, and put back
//! afterwards, whether the call succeeds or not. No code can look at the gap meanwhile: the callee
//! sees only its arguments, and an argument that shares a variable with another is copied.

use graph::{Arg, Callee, Expr, Function, FunctionId, NativeId};
use smallvec::SmallVec;
use tuple::{Type, Value};

use super::machine::{Machine, VOID_VALUE};
use super::operand::EvaluatedOperand;
use super::stack::MAX_CALL_DEPTH;
use super::variable_path::VariablePath;
use crate::ops::{self, faults, truncate_to_bound};
use crate::{Fault, NativeCall, NativeFn, Services};

/// A path, and the type of the place if the callee may change it.
type ArgumentOrigin<'x> = (VariablePath, Option<&'x Type>);

/// The arguments of a call.
struct TakenArguments<'x> {
    values: SmallVec<[Value; 4]>,
    /// Variable that each argument was taken from.
    origins: SmallVec<[Option<ArgumentOrigin<'x>>; 4]>,
}

impl Machine<'_, '_> {
    pub(super) fn call(
        &mut self,
        callee: Callee,
        args: &[Arg],
        expr: &Expr,
    ) -> Result<Value, Fault> {
        self.count_step()?;
        let mut lent = self.take_arguments(args)?;
        let result = match callee {
            Callee::Native(id) => self.call_native(id, &mut lent.values, args, expr),
            Callee::User(id) => self.call_user(id, &mut lent.values),
        };
        let returned = self.restore_arguments(lent);
        let value = result?;
        returned?;
        Ok(value)
    }

    /// Computes the arguments from left to right, then takes out what can be lent.
    fn take_arguments<'x>(&mut self, args: &'x [Arg]) -> Result<TakenArguments<'x>, Fault> {
        let mut operands: SmallVec<[(EvaluatedOperand<'x>, Option<&'x Type>); 4]> = SmallVec::new();
        for arg in args {
            operands.push(match arg {
                Arg::Value(expr) => (self.operand(expr)?, None),
                Arg::Place(place) => (
                    EvaluatedOperand::Path(self.place_path(place)?),
                    Some(&place.ty),
                ),
            });
        }
        self.copy_shared(&mut operands, args)?;
        let mut lent = TakenArguments {
            values: SmallVec::new(),
            origins: SmallVec::new(),
        };
        for ((operand, ty), arg) in operands.into_iter().zip(args) {
            match self.take_argument(operand) {
                Ok((value, home)) => {
                    lent.values.push(value);
                    lent.origins.push(home.map(|path| (path, ty)));
                }
                Err(fault) => {
                    self.restore_arguments(lent)?;
                    return Err(fault.with_pos(arg.pos()));
                }
            }
        }
        Ok(lent)
    }

    /// Copies the arguments by value that share a variable with another argument.
    fn copy_shared(
        &self,
        operands: &mut [(EvaluatedOperand<'_>, Option<&Type>)],
        args: &[Arg],
    ) -> Result<(), Fault> {
        for at in 0..operands.len() {
            let EvaluatedOperand::Path(path) = &operands[at].0 else {
                continue;
            };
            let shares = |other: &EvaluatedOperand<'_>| matches!(other, EvaluatedOperand::Path(p) if p.base == path.base);
            let mut others = operands.iter().enumerate().filter(|(n, _)| *n != at);
            if operands[at].1.is_none() && others.any(|(_, (other, _))| shares(other)) {
                let value = self.operand_value(&operands[at].0);
                let value = value.map_err(|fault| fault.with_pos(args[at].pos()))?;
                let value = value.into_owned();
                operands[at].0 = EvaluatedOperand::Owned(value);
            }
        }
        Ok(())
    }

    fn take_argument(
        &mut self,
        operand: EvaluatedOperand<'_>,
    ) -> Result<(Value, Option<VariablePath>), Fault> {
        match operand {
            EvaluatedOperand::Owned(value) => Ok((value, None)),
            EvaluatedOperand::Const(value) => Ok((value.clone(), None)),
            EvaluatedOperand::Path(path) => {
                let value = self.change(&path, ops::take_part)?;
                Ok((value, Some(path)))
            }
        }
    }

    fn restore_arguments(&mut self, lent: TakenArguments<'_>) -> Result<(), Fault> {
        for (value, home) in lent.values.into_iter().zip(lent.origins) {
            let Some((path, ty)) = home else { continue };
            let mut value = Some(match ty {
                Some(ty) => truncate_to_bound(value, ty),
                None => value,
            });
            self.change(&path, |root, keys| {
                ops::change_part(root, keys, &mut |gap| {
                    *gap = value.take().unwrap_or(VOID_VALUE);
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    fn call_native(
        &mut self,
        id: NativeId,
        values: &mut [Value],
        args: &[Arg],
        expr: &Expr,
    ) -> Result<Value, Fault> {
        let native = self.natives.get(id.0 as usize);
        let native = native.ok_or_else(|| faults::mistyped("the library function"))?;
        let types: SmallVec<[Type; 4]> = args.iter().map(|arg| arg.ty().clone()).collect();
        let services = self.evaluation.submit.services();
        // Arrays for the usual counts: a call should not allocate for its arguments.
        match values {
            [] => invoke(native, &mut [], &types, expr, services),
            [a] => invoke(native, &mut [a], &types, expr, services),
            [a, b] => invoke(native, &mut [a, b], &types, expr, services),
            [a, b, c] => invoke(native, &mut [a, b, c], &types, expr, services),
            [a, b, c, d] => invoke(native, &mut [a, b, c, d], &types, expr, services),
            many => invoke(
                native,
                &mut many.iter_mut().collect::<Vec<_>>(),
                &types,
                expr,
                services,
            ),
        }
    }

    fn call_user(&mut self, id: FunctionId, values: &mut [Value]) -> Result<Value, Fault> {
        self.check_stack()?;
        if self.call_depth >= MAX_CALL_DEPTH {
            return Err(faults::recursion_too_deep());
        }
        let functions = self.functions;
        let function = functions.get(id.0 as usize);
        let function = function.ok_or_else(|| faults::mistyped("the function"))?;
        let outer = (self.call_base, self.call_vars);
        self.call_base = self.locals.len();
        self.call_vars = &function.body.locals;
        self.call_depth += 1;
        self.locals.extend(
            values
                .iter_mut()
                .map(|value| std::mem::replace(value, VOID_VALUE)),
        );
        let result = self.run_function(function);
        for (value, formal) in values.iter_mut().zip(&mut self.locals[self.call_base..]) {
            *value = std::mem::replace(formal, VOID_VALUE);
        }
        self.locals.truncate(self.call_base);
        self.call_depth -= 1;
        (self.call_base, self.call_vars) = outer;
        result
    }

    fn run_function(&mut self, function: &Function) -> Result<Value, Fault> {
        self.locals
            .resize(self.call_base + function.body.locals.len(), VOID_VALUE);
        match self.run_function_body(&function.body.stmts)? {
            Some(value) => Ok(value),
            None if function.result == Type::Void => Ok(VOID_VALUE),
            None => Err(faults::mistyped("the missing return")),
        }
    }
}

fn invoke<'a>(
    native: &NativeFn,
    args: &'a mut [&'a mut Value],
    types: &'a [Type],
    expr: &'a Expr,
    services: &'a mut dyn Services,
) -> Result<Value, Fault> {
    let (result, pos) = (&expr.ty, expr.pos);
    let value = (native.eval)(&mut NativeCall {
        args,
        types,
        result,
        services,
        pos,
    })?;
    Ok(truncate_to_bound(value, result))
}
