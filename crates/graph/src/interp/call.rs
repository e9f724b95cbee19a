//! Calls of library and user functions.
//!
//! Arguments are lent: what is a part of a variable is taken out of it, handed to the callee, and put
//! back afterwards, whether the call succeeds or not. Nobody can look at the gap meanwhile: the
//! callee sees only its arguments, and an argument that shares a variable with another is copied.

use smallvec::SmallVec;
use tuple::{Type, Value};

use crate::ops::{self, fit, sentence};
use crate::{Arg, Call, Callee, Expr, Fault, Function, FunctionId, NativeFn, NativeId, Services};

use super::MAX_CALL_DEPTH;
use super::machine::{Machine, NOTHING};
use super::operand::{Operand, Path};

/// A path, and the type of the place if the callee may change it.
type Home<'x> = (Path, Option<&'x Type>);

/// The arguments of a call.
struct Lent<'x> {
    values: SmallVec<[Value; 4]>,
    /// Where each was taken from.
    homes: SmallVec<[Option<Home<'x>>; 4]>,
}

impl Machine<'_, '_> {
    pub(super) fn call(
        &mut self,
        callee: Callee,
        args: &[Arg],
        expr: &Expr,
    ) -> Result<Value, Fault> {
        self.step()?;
        let mut lent = self.lend_arguments(args)?;
        let result = match callee {
            Callee::Native(id) => self.call_native(id, &mut lent.values, args, expr),
            Callee::User(id) => self.call_user(id, &mut lent.values),
        };
        let returned = self.put_back(lent);
        let value = result?;
        returned?;
        Ok(value)
    }

    /// Computes the arguments from left to right, then takes out what can be lent.
    fn lend_arguments<'x>(&mut self, args: &'x [Arg]) -> Result<Lent<'x>, Fault> {
        let mut operands: SmallVec<[(Operand<'x>, Option<&'x Type>); 4]> = SmallVec::new();
        for arg in args {
            operands.push(match arg {
                Arg::Value(expr) => (self.operand(expr)?, None),
                Arg::Place(place) => (Operand::At(self.place(place)?), Some(&place.ty)),
            });
        }
        self.copy_shared(&mut operands)?;
        let mut lent = Lent {
            values: SmallVec::new(),
            homes: SmallVec::new(),
        };
        for (operand, ty) in operands {
            match self.lend_one(operand) {
                Ok((value, home)) => {
                    lent.values.push(value);
                    lent.homes.push(home.map(|path| (path, ty)));
                }
                Err(fault) => {
                    self.put_back(lent)?;
                    return Err(fault);
                }
            }
        }
        Ok(lent)
    }

    /// Copies the arguments by value that share a variable with another argument.
    fn copy_shared(&self, operands: &mut [(Operand<'_>, Option<&Type>)]) -> Result<(), Fault> {
        for at in 0..operands.len() {
            let Operand::At(path) = &operands[at].0 else {
                continue;
            };
            let shares =
                |other: &Operand<'_>| matches!(other, Operand::At(p) if p.base == path.base);
            let mut others = operands.iter().enumerate().filter(|(n, _)| *n != at);
            if operands[at].1.is_none() && others.any(|(_, (other, _))| shares(other)) {
                let value = self.look(&operands[at].0)?.into_owned();
                operands[at].0 = Operand::Owned(value);
            }
        }
        Ok(())
    }

    fn lend_one(&mut self, operand: Operand<'_>) -> Result<(Value, Option<Path>), Fault> {
        match operand {
            Operand::Owned(value) => Ok((value, None)),
            Operand::Const(value) => Ok((value.clone(), None)),
            Operand::At(path) => {
                let value = self.change(&path, ops::take)?;
                Ok((value, Some(path)))
            }
        }
    }

    fn put_back(&mut self, lent: Lent<'_>) -> Result<(), Fault> {
        for (value, home) in lent.values.into_iter().zip(lent.homes) {
            let Some((path, ty)) = home else { continue };
            let mut value = Some(match ty {
                Some(ty) => fit(value, ty),
                None => value,
            });
            self.change(&path, |root, keys| {
                ops::change(root, keys, &mut |gap| {
                    *gap = value.take().unwrap_or(NOTHING);
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
        let native = native.ok_or_else(|| sentence::mistyped("the library function"))?;
        let types: SmallVec<[Type; 4]> = args.iter().map(|arg| arg.ty().clone()).collect();
        let services = self.to.submit.services();
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
        if self.depth >= MAX_CALL_DEPTH {
            return Err(sentence::recursion());
        }
        let functions = self.functions;
        let function = functions.get(id.0 as usize);
        let function = function.ok_or_else(|| sentence::mistyped("the function"))?;
        let outer = (self.frame, self.vars);
        self.frame = self.locals.len();
        self.vars = &function.body.locals;
        self.depth += 1;
        self.locals.extend(
            values
                .iter_mut()
                .map(|value| std::mem::replace(value, NOTHING)),
        );
        let result = self.run_function(function);
        for (value, formal) in values.iter_mut().zip(&mut self.locals[self.frame..]) {
            *value = std::mem::replace(formal, NOTHING);
        }
        self.locals.truncate(self.frame);
        self.depth -= 1;
        (self.frame, self.vars) = outer;
        result
    }

    fn run_function(&mut self, function: &Function) -> Result<Value, Fault> {
        self.locals
            .resize(self.frame + function.body.locals.len(), NOTHING);
        match self.returned(&function.body.stmts)? {
            Some(value) => Ok(value),
            None if function.result == Type::Void => Ok(NOTHING),
            None => Err(sentence::mistyped("the missing return")),
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
    let value = (native.eval)(&mut Call {
        args,
        types,
        result,
        services,
        pos,
    })?;
    Ok(fit(value, result))
}
