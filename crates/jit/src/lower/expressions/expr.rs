//! Expressions: which form is lowered where.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Clock, Expr, ExprKind, PortIndex};
use tuple::Type;

use crate::code::ImportedFunction;
use crate::code::{FallbackOp, offsets, value_layout};
use crate::lower::context::{BodyInput, FunctionLowering, StateStorage};
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm, ValueParts};
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Lowers an expression; the result is its value.
    pub fn expr(&mut self, e: &Expr) -> LoweredValue {
        match &e.kind {
            ExprKind::Const(value) => self.constant(value, &e.ty),
            ExprKind::Local(local) => self.read_local(*local),
            ExprKind::State(state) => self.read_state(state.0, &e.ty),
            ExprKind::Input { port, history } => {
                self.input(self.input_slot(*port, *history), &e.ty)
            }
            ExprKind::Attribute {
                port,
                history,
                index,
            } => self.attribute(self.input_slot(*port, *history), *index as usize, &e.ty),
            ExprKind::OutputCall(n) => {
                let slot = self.body.first_slots.last().copied().unwrap_or(0);
                self.attribute(slot as usize, *n as usize, &e.ty)
            }
            ExprKind::CurrentPunct => {
                LoweredValue::from_part(self.load_env(types::I32, offsets::PUNCTUATION))
            }
            ExprKind::IsShutdown => LoweredValue::from_part(self.is_shutdown()),
            ExprKind::ClockSeconds(Clock::Exact) => {
                let seconds = self.call_for_word(ImportedFunction::ExactClockSeconds, &[]);
                LoweredValue::from_part(seconds)
            }
            ExprKind::ClockSeconds(Clock::Ticks) => LoweredValue::from_part(self.tick_seconds()),
            ExprKind::Tuple(parts) => {
                LoweredValue::from_fields(parts.iter().map(|part| self.expr(part)))
            }
            ExprKind::List(elements) => self.list_literal(e, elements),
            ExprKind::Set(elements) => self.collect(e, FallbackOp::Set, elements.iter()),
            ExprKind::Map(entries) => {
                self.collect(e, FallbackOp::Map, entries.iter().flat_map(|(k, v)| [k, v]))
            }
            ExprKind::Field(base, index) => {
                let Type::Tuple(t) = &base.ty else {
                    unreachable!("an attribute of {}", base.ty)
                };
                let base = self.expr(base);
                self.field(&base, t, *index as usize)
            }
            ExprKind::Index(base, at) => self.index(e, base, at),
            ExprKind::Slice(base, lower, upper) => {
                self.slice(e, base, lower.as_deref(), upper.as_deref())
            }
            ExprKind::Unary(op, operand) => self.unary(e, *op, operand),
            ExprKind::Binary(op, left, right) => self.binary(e, *op, left, right),
            ExprKind::Mapped(op, form, left, right) => {
                let operands = [self.operand(left), self.operand(right)];
                self.run_expr_fallback(e, FallbackOp::Mapped(*op, *form), &operands)
            }
            _ => self.lazy_expr(e),
        }
    }

    /// Lowers expressions of which not every part is evaluated, optionals, calls and assignments.
    fn lazy_expr(&mut self, e: &Expr) -> LoweredValue {
        match &e.kind {
            ExprKind::And(left, right) => self.short_circuit(left, right, false),
            ExprKind::Or(left, right) => self.short_circuit(left, right, true),
            ExprKind::Conditional(condition, yes, no) => self.conditional(e, condition, yes, no),
            ExprKind::In(item, collection) => self.contains(e, item, collection),
            ExprKind::Cast(inner) => self.cast(e, inner),
            ExprKind::Wrap(inner) => {
                let content = self.expr(inner);
                self.wrap_optional(&content, &inner.ty)
            }
            ExprKind::Unwrap(inner) => self.unwrap(e, inner),
            ExprKind::UnwrapOr(optional, other) => self.unwrap_or(e, optional, other),
            ExprKind::IsPresent(inner) => {
                let value = self.expr(inner);
                let Type::Optional(content) = &inner.ty else {
                    unreachable!("whether {} is present", inner.ty)
                };
                LoweredValue::from_part(self.optional(&value, content).0)
            }
            ExprKind::Call(callee, args) => self.call_expr(e, *callee, args),
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::AssignOp(op, place, value) => self.assign_op(*op, place, value),
            ExprKind::Increment {
                place,
                is_decrement: down,
                is_prefix: prefix,
            } => self.increment_or_decrement(place, *down, *prefix),
            other => unreachable!("{other:?} is lowered elsewhere"),
        }
    }

    /// An expression of a type that has one part.
    pub fn expr_single_part(&mut self, e: &Expr) -> ir::Value {
        let value = self.expr(e);
        self.single_part(&value, &e.ty)
    }

    /// The slot of a port's current or an earlier tuple.
    pub fn input_slot(&self, port: PortIndex, history: u32) -> usize {
        let Some(slot) = self.body.history[port.index()].slot(history) else {
            unreachable!("a port keeps every tuple that an expression reads")
        };
        (self.body.first_slots[port.index()] + slot) as usize
    }

    /// A whole input tuple.
    pub fn input(&mut self, slot: usize, ty: &Type) -> LoweredValue {
        match &self.body.inputs[slot] {
            Some(input) => input.tuple.clone(),
            None => self.default_value(ty),
        }
    }

    fn attribute(&mut self, slot: usize, index: usize, ty: &Type) -> LoweredValue {
        let Some(BodyInput { tuple, .. }) = self.body.inputs[slot].clone() else {
            return self.default_value(ty);
        };
        let Type::Tuple(schema) = self.body.input_types[slot].clone() else {
            unreachable!("an input is a tuple")
        };
        self.field(&tuple, &schema, index)
    }

    fn read_state(&mut self, state: u32, ty: &Type) -> LoweredValue {
        if let Some((table, home)) = self.body.state_layout.home(graph::StateId(state)) {
            let location = self.table_variable(table, home);
            return self.read_at(&location, ty);
        }
        let StateStorage::At {
            scalars, values, ..
        } = self.body.state
        else {
            unreachable!("state without storage")
        };
        if let Some(variable) = self.cached_variable(graph::StateId(state)) {
            return LoweredValue::from_part(self.builder.use_var(variable));
        }
        let is_changed = self.body.changed_state.contains(&graph::StateId(state));
        if type_parts::is_scalar(ty) {
            let region = if is_changed {
                AccessRegion::Scalars
            } else {
                AccessRegion::Fixed
            };
            return LoweredValue::from_parts(self.load_slot(
                region,
                scalars,
                16 * state as i32,
                ty,
            ));
        }
        let offset = state as i32 * value_layout::VALUE_BYTES;
        if is_changed {
            LoweredValue::within_variable(values, offset)
        } else {
            LoweredValue::new_fixed(ValueForm::Boxed(values, offset))
        }
    }

    /// Whether a shutdown was asked for: a load if the flag's address is known.
    pub fn is_shutdown(&mut self) -> ir::Value {
        match self.body.stop_address {
            Some(flag) => {
                let flag = self.word(flag);
                // Another thread writes it: atomic, so that each turn of a loop looks anew.
                let flags = ir::MemFlagsData::trusted();
                self.builder.ins().atomic_load(types::I8, flags, flag)
            }
            None => {
                let asked = self.call_for_word(ImportedFunction::IsShutdown, &[]);
                self.builder.ins().ireduce(types::I8, asked)
            }
        }
    }

    /// `&&` (ends at false) and `||` (ends at true).
    fn short_circuit(&mut self, left: &Expr, right: &Expr, ends_at: bool) -> LoweredValue {
        let left = self.expr_single_part(left);
        if is_cheap(right) {
            let right = self.expr_single_part(right);
            let both = if ends_at {
                self.builder.ins().bor(left, right)
            } else {
                self.builder.ins().band(left, right)
            };
            return LoweredValue::from_part(both);
        }
        let more = self.block();
        let done = self.block_with(&[types::I8]);
        let ends = self.int(types::I8, i64::from(ends_at));
        let ends = [ir::BlockArg::Value(ends)];
        if ends_at {
            self.builder.ins().brif(left, done, &ends, more, &[]);
        } else {
            self.builder.ins().brif(left, more, &[], done, &ends);
        }
        self.switch_to_sealed(more);
        let right = self.expr_single_part(right);
        self.jump(done, &[right]);
        self.switch_to_sealed(done);
        LoweredValue::from_part(self.block_params(done)[0])
    }

    fn conditional(&mut self, e: &Expr, condition: &Expr, yes: &Expr, no: &Expr) -> LoweredValue {
        let condition = self.expr_single_part(condition);
        if type_parts::part_count(&e.ty) == 1 && is_cheap(yes) && is_cheap(no) {
            let (yes, no) = (self.expr_single_part(yes), self.expr_single_part(no));
            return LoweredValue::from_part(self.builder.ins().select(condition, yes, no));
        }
        let mut is_volatile = false;
        let types = type_parts::parts(&e.ty);
        let mut arm = |lower: &mut Self, arm: &Expr| {
            let value = lower.expr(arm);
            is_volatile |= value.is_volatile();
            lower.parts(&value, &arm.ty)
        };
        let (on_yes, on_no) = (self.block(), self.block());
        let done = self.block_with(&types);
        self.branch(condition, on_yes, on_no);
        self.switch_to_sealed(on_yes);
        let parts = arm(self, yes);
        self.jump(done, &parts);
        self.switch_to_sealed(on_no);
        let parts = arm(self, no);
        self.jump(done, &parts);
        self.switch_to_sealed(done);
        LoweredValue::from_parts(self.block_params(done)).with_volatility(is_volatile)
    }

    /// Makes a present `optional<T>` of a value of type T.
    pub fn wrap_optional(&mut self, content: &LoweredValue, ty: &Type) -> LoweredValue {
        let mut parts = ValueParts::from_elem(self.int(types::I8, 1), 1);
        parts.extend(self.parts(content, ty));
        LoweredValue::from_parts(parts).with_volatility(content.is_volatile())
    }

    fn unwrap(&mut self, e: &Expr, inner: &Expr) -> LoweredValue {
        let value = self.expr(inner);
        let (flag, content) = self.optional(&value, &e.ty);
        let missing = self.icmp_const(IntCC::Equal, flag, 0);
        self.fault_if(missing, FallbackOp::UnwrapNull, &[], e.pos);
        content
    }

    fn unwrap_or(&mut self, e: &Expr, optional: &Expr, other: &Expr) -> LoweredValue {
        let value = self.expr(optional);
        let (flag, content) = self.optional(&value, &e.ty);
        if type_parts::part_count(&e.ty) == 1 && is_cheap(other) {
            let (content, other) = (
                self.single_part(&content, &e.ty),
                self.expr_single_part(other),
            );
            return LoweredValue::from_part(self.builder.ins().select(flag, content, other));
        }
        let types = type_parts::parts(&e.ty);
        let (on_yes, on_no) = (self.block(), self.block());
        let done = self.block_with(&types);
        self.branch(flag, on_yes, on_no);
        self.switch_to_sealed(on_yes);
        let parts = self.parts(&content, &e.ty);
        self.jump(done, &parts);
        self.switch_to_sealed(on_no);
        let other = self.expr(other);
        let parts = self.parts(&other, &e.ty);
        self.jump(done, &parts);
        self.switch_to_sealed(done);
        LoweredValue::from_parts(self.block_params(done))
            .with_volatility(content.is_volatile() || other.is_volatile())
    }
}

/// Whether computing a scalar for nothing costs less than a branch: it cannot fault or have
/// effects.
fn is_cheap(e: &Expr) -> bool {
    type_parts::is_scalar(&e.ty)
        && match &e.kind {
            ExprKind::Const(_) | ExprKind::Attribute { .. } | ExprKind::State(_) => true,
            ExprKind::Local(_) => true,
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                is_small(&a.ty) && is_cheap(a) && is_cheap(b)
            }
            _ => false,
        }
}

/// Whether a comparison of values of a type is one instruction.
fn is_small(ty: &Type) -> bool {
    ty.is_integral() || ty.is_float() || matches!(ty, Type::Boolean | Type::Enum(_))
}
