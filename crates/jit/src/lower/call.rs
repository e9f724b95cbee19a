//! Calls of user and library functions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Arg, Callee, Expr, Function, FunctionId, NativeId, Place};
use tuple::Type;

use super::frame::{Exit, Frame};
use super::place::{Keys, Loc};
use super::site::{Given, What};
use super::{Lower, Region, Storage, Uses};
use crate::code::{MAX_CALL_DEPTH, Op, offsets, shapes};
use crate::shape;
use crate::value::Val;

/// An argument by reference: what is passed, and where it goes back to.
struct Lent {
    address: ir::Value,
    /// A variable in registers, which lies on the stack meanwhile.
    home: Option<Loc>,
    ty: Type,
}

/// An argument, evaluated.
enum Ready<'e> {
    Value(Val, &'e Type),
    Place(&'e Place, Keys),
}

impl Lower<'_, '_> {
    /// A call.
    pub fn call_expr(&mut self, e: &Expr, callee: Callee, args: &[Arg]) -> Val {
        match callee {
            Callee::Native(native) => self.call_native(e, native, args),
            Callee::User(function) if self.unit.inlining.is_inlined[function.0 as usize] => {
                self.inline_call(function, args)
            }
            Callee::User(function) => self.call_user(e, function, args),
        }
    }

    /// Evaluates arguments from left to right.
    fn arguments<'e>(&mut self, args: &'e [Arg]) -> Vec<Ready<'e>> {
        let by_reference = args.iter().any(|arg| matches!(arg, Arg::Place(_)));
        let each = args.iter().map(|arg| match arg {
            Arg::Value(e) => {
                let value = self.expr(e);
                // The callee may change what the value is a part of.
                let value = if by_reference {
                    self.stable(value, &e.ty)
                } else {
                    value
                };
                Ready::Value(value, &e.ty)
            }
            Arg::Place(place) => Ready::Place(place, self.keys(place)),
        });
        each.collect()
    }

    fn call_native(&mut self, e: &Expr, native: NativeId, args: &[Arg]) -> Val {
        let function = self.unit.natives[native.0 as usize];
        if let Some(value) = self.intrinsic(e, &function, args) {
            return value;
        }
        let ready = self.arguments(args);
        let mut homes = Vec::new();
        let operands: Vec<Given> = ready
            .into_iter()
            .map(|arg| match arg {
                Ready::Value(value, ty) => Lower::given(&value, ty),
                Ready::Place(place, keys) => {
                    let loc = self.locate(place, &keys);
                    let what = match loc {
                        Loc::Value(at) => What::Place(at),
                        other => {
                            let lent = self.lend(other, &place.ty);
                            let address = lent.address;
                            homes.push(lent);
                            What::Slot(address)
                        }
                    };
                    Given {
                        ty: place.ty.clone(),
                        what,
                    }
                }
            })
            .collect();
        self.allocations += 1;
        let result = self.call_site(Op::Native(function), &operands, &e.ty, e.pos);
        self.take_back(homes);
        self.site_result(result, &e.ty)
    }

    /// Makes what a place is addressable.
    fn lend(&mut self, loc: Loc, ty: &Type) -> Lent {
        let ty = ty.clone();
        match &loc {
            Loc::Slot(_, base, offset) => {
                let address = self.offset(*base, i64::from(*offset));
                Lent {
                    address,
                    home: None,
                    ty,
                }
            }
            Loc::Value(at) if shape::is_scalar(&ty) && is_slot(&ty) => {
                let address = self.offset(*at, i64::from(shapes::scalar(&ty)[0]));
                Lent {
                    address,
                    home: None,
                    ty,
                }
            }
            Loc::Value(at) if !shape::is_scalar(&ty) => Lent {
                address: *at,
                home: None,
                ty,
            },
            Loc::Registers(..) | Loc::Value(_) => {
                let value = self.read_at(&loc, &ty);
                let parts = self.parts(&value, &ty);
                let address = self.stack(2);
                self.store_slot(Region::Bytes, address, 0, &ty, &parts);
                Lent {
                    address,
                    home: Some(loc),
                    ty,
                }
            }
        }
    }

    /// Reads back the variables that lay on the stack.
    fn take_back(&mut self, lent: Vec<Lent>) {
        for Lent { address, home, ty } in lent {
            if let Some(loc) = home {
                let parts = self.load_slot(Region::Bytes, address, 0, &ty);
                self.store_at(loc, Val::parts(parts), &ty);
            }
        }
    }

    fn call_user(&mut self, e: &Expr, id: FunctionId, args: &[Arg]) -> Val {
        let ready = self.arguments(args);
        let mut is_volatile = false;
        let (mut words, mut homes) = (vec![self.env], Vec::new());
        for arg in ready {
            match arg {
                Ready::Value(value, ty) => {
                    is_volatile |= value.is_volatile();
                    words.extend(self.parts(&value, ty));
                }
                Ready::Place(place, keys) => {
                    let loc = self.locate(place, &keys);
                    let lent = self.lend(loc, &place.ty);
                    words.push(lent.address);
                    homes.push(lent);
                }
            }
        }
        let parts = shape::parts(&e.ty);
        let row = (parts.len() > 1).then(|| self.stack(parts.len()));
        words.extend(row);
        self.allocations += 1;
        self.outside_calls += 1;
        let depth = self.deeper(id, e);
        let callee = self.user_function(id);
        let call = self.b.ins().call(callee, &words);
        let results = self.b.inst_results(call).to_vec();
        if let Some(depth) = depth {
            let env = self.env;
            self.store(Region::Env, depth, env, offsets::DEPTH);
        }
        self.take_back(homes);
        self.check(results[0]);
        match row {
            Some(row) => {
                let each = parts.into_iter().enumerate();
                let each =
                    each.map(|(at, part)| self.load(Region::Stack, part, row, 8 * at as i32));
                Val::parts(each)
            }
            None => Val::parts(results[1..].iter().copied()),
        }
        .volatile_if(is_volatile)
    }

    /// Counts a call if calls may nest without end; the count before.
    fn deeper(&mut self, id: FunctionId, e: &Expr) -> Option<ir::Value> {
        if !self.unit.inlining.is_counted[id.0 as usize] {
            return None;
        }
        let depth = self.load_env(types::I32, offsets::DEPTH);
        let floor = self.load_env(types::I64, offsets::FLOOR);
        let here = self.b.ins().get_stack_pointer(types::I64);
        let limit = i64::from(MAX_CALL_DEPTH);
        let too_deep = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, depth, limit);
        let too_low = self.icmp(IntCC::UnsignedLessThan, here, floor);
        let too_much = self.b.ins().bor(too_deep, too_low);
        self.fault_if(too_much, Op::Recursion, &[], e.pos);
        let more = self.b.ins().iadd_imm_s(depth, 1);
        let env = self.env;
        self.store(Region::Env, more, env, offsets::DEPTH);
        Some(depth)
    }

    /// Lowers a small function where it is called.
    fn inline_call(&mut self, id: FunctionId, args: &[Arg]) -> Val {
        let functions = self.unit.functions.clone();
        let function = &functions[id.0 as usize];
        let ready = self.arguments(args);
        let values = ready.into_iter().map(|arg| match arg {
            Ready::Value(value, _) => value,
            Ready::Place(..) => unreachable!("a function with references is not inlined"),
        });
        let values: Vec<Val> = values.collect();
        let is_volatile = values.iter().any(|value| value.is_volatile());
        let done = self.block_with(&shape::parts(&function.result));
        let exit = Exit {
            block: done,
            ty: function.result.clone(),
        };
        let frame = std::mem::replace(&mut self.frame, Frame::of_function(function, exit));
        self.frame.stop = frame.stop;
        self.function_body(function, values);
        self.frame = frame;
        self.go_sealed(done);
        Val::parts(self.params(done)).volatile_if(is_volatile)
    }

    /// The body of a function, its arguments bound; control goes to its exit.
    fn function_body(&mut self, function: &Function, values: Vec<Val>) {
        let uses = Uses::of(&function.body);
        let formals = function.formals as usize;
        self.frame.locals = self.settle(&function.body, formals, &uses);
        for (at, value) in values.into_iter().enumerate() {
            let local = &function.body.locals[at];
            let storage = match self.settle_one(&local.ty, &uses.locals[at], 1) {
                // Nobody changes an argument while it is used.
                Storage::Unset => Storage::Alias(value),
                storage => self.set_storage(storage, value, &local.ty),
            };
            self.frame.locals[at] = storage;
        }
        self.stmts(&function.body.stmts);
        self.end_of_function(function);
    }

    /// The end of a body that does not return there.
    pub fn end_of_function(&mut self, function: &Function) {
        let exit = self.frame.exits[0].clone();
        if function.result == Type::Void {
            return self.jump(exit.block, &[]);
        }
        // The front end makes sure that every way through ends in a `return`.
        let value = self.default_value(&function.result);
        let parts = self.parts(&value, &function.result);
        self.jump(exit.block, &parts);
    }
}

/// Whether a scalar within a `Value` looks as in a flat slot.
fn is_slot(ty: &Type) -> bool {
    let offsets = shapes::scalar(ty);
    let slot = shape::slot_offsets(ty);
    offsets
        .iter()
        .zip(slot)
        .all(|(offset, at)| offset - offsets[0] == *at)
}
