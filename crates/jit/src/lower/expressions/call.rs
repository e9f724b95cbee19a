//! Calls of user and library functions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Arg, Callee, Expr, Function, FunctionId, NativeId, Place};
use tuple::Type;

use super::place::{PlaceIndices, PlaceLocation};
use crate::code::{FallbackOp, MAX_CALL_DEPTH, offsets, value_layout};
use crate::lower::context::{BodyContext, BodyUsage, FunctionLowering, LocalStorage, ReturnTarget};
use crate::lower::values::{AccessRegion, FallbackOperand, FallbackOperandKind};
use crate::lowered_value::LoweredValue;
use crate::type_parts;

/// An argument by reference: the address that is passed, and the variable to reload afterwards.
struct ReferenceArgument {
    address: ir::Value,
    /// Variable in registers, which lies on the stack during the call.
    reload_to: Option<PlaceLocation>,
    ty: Type,
}

/// An argument whose expressions have been evaluated.
enum EvaluatedArgument<'e> {
    Value(LoweredValue, &'e Type),
    Place(&'e Place, PlaceIndices),
}

impl FunctionLowering<'_, '_> {
    /// Lowers a call of a user function or a native function.
    pub fn call_expr(&mut self, e: &Expr, callee: Callee, args: &[Arg]) -> LoweredValue {
        match callee {
            Callee::Native(native) => self.call_native(e, native, args),
            Callee::User(function) if self.unit.inlining.is_inlined[function.0 as usize] => {
                self.inline_call(function, args)
            }
            Callee::User(function) => self.call_user(e, function, args),
        }
    }

    /// Evaluates arguments from left to right.
    fn arguments<'e>(&mut self, args: &'e [Arg]) -> Vec<EvaluatedArgument<'e>> {
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
                EvaluatedArgument::Value(value, &e.ty)
            }
            Arg::Place(place) => EvaluatedArgument::Place(place, self.place_indices(place)),
        });
        each.collect()
    }

    fn call_native(&mut self, e: &Expr, native: NativeId, args: &[Arg]) -> LoweredValue {
        let function = self.unit.natives[native.0 as usize];
        if let Some(value) = self.intrinsic(e, &function, args) {
            return value;
        }
        let ready = self.arguments(args);
        let mut references = Vec::new();
        let operands: Vec<FallbackOperand> = ready
            .into_iter()
            .map(|arg| match arg {
                EvaluatedArgument::Value(value, ty) => FunctionLowering::value_operand(&value, ty),
                EvaluatedArgument::Place(place, keys) => {
                    let loc = self.locate(place, &keys);
                    let what = match loc {
                        PlaceLocation::Value(at) => FallbackOperandKind::Place(at),
                        other => {
                            let lent = self.pass_by_reference(other, &place.ty);
                            let address = lent.address;
                            references.push(lent);
                            FallbackOperandKind::Slot(address)
                        }
                    };
                    FallbackOperand {
                        ty: place.ty.clone(),
                        kind: what,
                    }
                }
            })
            .collect();
        self.allocations += 1;
        let result = self.call_fallback(FallbackOp::Native(function), &operands, &e.ty, e.pos);
        self.reload_references(references);
        self.fallback_result(result, &e.ty)
    }

    /// Gives a place an address.
    fn pass_by_reference(&mut self, loc: PlaceLocation, ty: &Type) -> ReferenceArgument {
        let ty = ty.clone();
        match &loc {
            PlaceLocation::Slot(_, base, offset) => {
                let address = self.offset(*base, i64::from(*offset));
                ReferenceArgument {
                    address,
                    reload_to: None,
                    ty,
                }
            }
            PlaceLocation::Value(at) if type_parts::is_scalar(&ty) && is_slot(&ty) => {
                let address = self.offset(*at, i64::from(value_layout::scalar_offsets(&ty)[0]));
                ReferenceArgument {
                    address,
                    reload_to: None,
                    ty,
                }
            }
            PlaceLocation::Value(at) if !type_parts::is_scalar(&ty) => ReferenceArgument {
                address: *at,
                reload_to: None,
                ty,
            },
            PlaceLocation::Registers(..) | PlaceLocation::Cached(_) | PlaceLocation::Value(_) => {
                let value = self.read_at(&loc, &ty);
                let parts = self.parts(&value, &ty);
                let address = self.stack_words(2);
                self.store_slot(AccessRegion::Bytes, address, 0, &ty, &parts);
                ReferenceArgument {
                    address,
                    reload_to: Some(loc),
                    ty,
                }
            }
        }
    }

    /// Reads back the variables that lay on the stack.
    fn reload_references(&mut self, references: Vec<ReferenceArgument>) {
        for ReferenceArgument {
            address,
            reload_to,
            ty,
        } in references
        {
            if let Some(loc) = reload_to {
                let parts = self.load_slot(AccessRegion::Bytes, address, 0, &ty);
                self.store_at(loc, LoweredValue::from_parts(parts), &ty);
            }
        }
    }

    fn call_user(&mut self, e: &Expr, id: FunctionId, args: &[Arg]) -> LoweredValue {
        let ready = self.arguments(args);
        let mut is_volatile = false;
        let (mut words, mut references) = (vec![self.env], Vec::new());
        for arg in ready {
            match arg {
                EvaluatedArgument::Value(value, ty) => {
                    is_volatile |= value.is_volatile();
                    words.extend(self.parts(&value, ty));
                }
                EvaluatedArgument::Place(place, keys) => {
                    let loc = self.locate(place, &keys);
                    let lent = self.pass_by_reference(loc, &place.ty);
                    words.push(lent.address);
                    references.push(lent);
                }
            }
        }
        let parts = type_parts::parts(&e.ty);
        let result_words = (parts.len() > 1).then(|| self.stack_words(parts.len()));
        words.extend(result_words);
        self.allocations += 1;
        self.note_running();
        self.note_operator();
        self.store_cached_words();
        let depth = self.count_call_depth(id, e);
        let callee = self.user_function_ref(id);
        let call = self.builder.ins().call(callee, &words);
        let results = self.builder.inst_results(call).to_vec();
        self.load_cached_variables();
        if let Some(depth) = depth {
            let env = self.env;
            self.store(AccessRegion::Env, depth, env, offsets::CALL_DEPTH);
        }
        self.reload_references(references);
        self.check_status(results[0]);
        match result_words {
            Some(result_words) => {
                let each = parts.into_iter().enumerate();
                let each = each.map(|(at, part)| {
                    self.load(AccessRegion::Stack, part, result_words, 8 * at as i32)
                });
                LoweredValue::from_parts(each)
            }
            None => LoweredValue::from_parts(results[1..].iter().copied()),
        }
        .with_volatility(is_volatile)
    }

    /// Counts a call if calls may nest without end. Returns the count before.
    fn count_call_depth(&mut self, id: FunctionId, e: &Expr) -> Option<ir::Value> {
        if !self.unit.inlining.is_counted[id.0 as usize] {
            return None;
        }
        let depth = self.load_env(types::I32, offsets::CALL_DEPTH);
        let floor = self.load_env(types::I64, offsets::STACK_LIMIT);
        let here = self.builder.ins().get_stack_pointer(types::I64);
        let limit = i64::from(MAX_CALL_DEPTH);
        let too_deep =
            self.builder
                .ins()
                .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, depth, limit);
        let too_low = self.icmp(IntCC::UnsignedLessThan, here, floor);
        let too_much = self.builder.ins().bor(too_deep, too_low);
        self.fault_if(too_much, FallbackOp::Recursion, &[], e.pos);
        let more = self.builder.ins().iadd_imm_s(depth, 1);
        let env = self.env;
        self.store(AccessRegion::Env, more, env, offsets::CALL_DEPTH);
        Some(depth)
    }

    /// Lowers a small function where it is called.
    fn inline_call(&mut self, id: FunctionId, args: &[Arg]) -> LoweredValue {
        let functions = self.unit.functions.clone();
        let function = &functions[id.0 as usize];
        let ready = self.arguments(args);
        let values = ready.into_iter().map(|arg| match arg {
            EvaluatedArgument::Value(value, _) => value,
            EvaluatedArgument::Place(..) => {
                unreachable!("a function with references is not inlined")
            }
        });
        let values: Vec<LoweredValue> = values.collect();
        let is_volatile = values.iter().any(|value| value.is_volatile());
        let done = self.block_with(&type_parts::parts(&function.result));
        let exit = ReturnTarget {
            block: done,
            ty: function.result.clone(),
        };
        let frame = std::mem::replace(&mut self.body, BodyContext::for_function(function, exit));
        self.body.stop_address = frame.stop_address;
        self.function_body(function, values);
        self.body = frame;
        self.switch_to_sealed(done);
        LoweredValue::from_parts(self.block_params(done)).with_volatility(is_volatile)
    }

    /// Lowers the body of a function, its arguments bound; control goes to its exit.
    fn function_body(&mut self, function: &Function, values: Vec<LoweredValue>) {
        let uses = BodyUsage::from_body(&function.body);
        let formals = function.formals as usize;
        self.body.locals = self.assign_storages(&function.body, formals, &uses);
        for (at, value) in values.into_iter().enumerate() {
            let local = &function.body.locals[at];
            let storage = match self.assign_storage(&local.ty, &uses.locals[at], 1) {
                // No argument changes while it is used.
                LocalStorage::Unset => LocalStorage::Alias(value),
                storage => self.set_storage(storage, value, &local.ty),
            };
            self.body.locals[at] = storage;
        }
        self.stmts(&function.body.stmts);
        self.end_of_function(function);
    }

    /// Ends a body that does not return there.
    pub fn end_of_function(&mut self, function: &Function) {
        let exit = self.body.return_targets[0].clone();
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
    let offsets = value_layout::scalar_offsets(ty);
    let slot = type_parts::slot_offsets(ty);
    offsets
        .iter()
        .zip(slot)
        .all(|(offset, at)| offset - offsets[0] == *at)
}
