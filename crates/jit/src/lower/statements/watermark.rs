//! The watermark that follows the tuples: an event time is compared with its words, and stored. A
//! call advances a watermark that is sent.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::Expr;
use tuple::Type;

use crate::code::ImportedFunction;
use crate::lower::context::FunctionLowering;
use crate::lower::values::AccessRegion;
use crate::lowered_value::LoweredValue;

/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Most seconds before and after the epoch at which a word holds the nanoseconds of a timestamp,
/// whatever nanoseconds it has beside the seconds.
const SECONDS_MAX: i64 = (i64::MAX - u32::MAX as i64) / SECOND_NS;

impl FunctionLowering<'_, '_> {
    /// Lowers the statement that advances the operator's watermark by an event time.
    pub fn advance_watermark(&mut self, time: &Expr) {
        let value = self.expr(time);
        let Some(words) = self.body.watermark else {
            return self.call_advance_watermark(&value, time);
        };
        let parts = self.parts(&value, &time.ty);
        let (word, is_outside) = self.event_time_word(&parts, &time.ty);
        let next_at = self.word(words.next_sent);
        let next = self.load(AccessRegion::Watermarks, types::I64, next_at, 0);
        let is_sent = self.icmp(IntCC::SignedGreaterThanOrEqual, word, next);
        let needs_call = match is_outside {
            Some(is_outside) => self.builder.ins().bor(is_outside, is_sent),
            None => is_sent,
        };
        let (call, store, done) = (self.cold_block(), self.block(), self.block());
        self.branch(needs_call, call, store);
        self.switch_to_sealed(call);
        self.seldom(|lower| lower.call_advance_watermark(&value, time));
        self.jump(done, &[]);
        self.switch_to_sealed(store);
        self.raise_latest(words.latest, word);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// Raises the latest event time, at an address, to another.
    fn raise_latest(&mut self, address: i64, to: ir::Value) {
        if let Some(variable) = self.cache.variable_at(address) {
            let latest = self.builder.use_var(variable);
            let latest = self.builder.ins().smax(latest, to);
            return self.builder.def_var(variable, latest);
        }
        let at = self.word(address);
        let latest = self.load(AccessRegion::Watermarks, types::I64, at, 0);
        let latest = self.builder.ins().smax(latest, to);
        self.store(AccessRegion::Watermarks, latest, at, 0);
    }

    /// An event time as the words count it, and whether a word does not hold it.
    fn event_time_word(
        &mut self,
        parts: &[ir::Value],
        ty: &Type,
    ) -> (ir::Value, Option<ir::Value>) {
        match (ty, parts) {
            (Type::Timestamp, [seconds, nanos, _]) => {
                let distance = self.offset(*seconds, SECONDS_MAX);
                let width = self.word(2 * SECONDS_MAX);
                let is_outside = self.icmp(IntCC::UnsignedGreaterThan, distance, width);
                let ns = self.builder.ins().imul_imm_s(*seconds, SECOND_NS);
                let nanos = self.builder.ins().uextend(types::I64, *nanos);
                (self.builder.ins().iadd(ns, nanos), Some(is_outside))
            }
            (Type::Uint64, _) => {
                let is_outside = self.icmp_const(IntCC::SignedLessThan, parts[0], 0);
                (parts[0], Some(is_outside))
            }
            _ => (parts[0], None),
        }
    }

    fn call_advance_watermark(&mut self, value: &LoweredValue, time: &Expr) {
        let words = self.parts_as_words(value, &time.ty);
        let ty = self.type_address(&time.ty);
        let operator = self.body.inlined_operator;
        let operator = self.int(types::I32, i64::from(operator as i32));
        let pos = self.position_address(time.pos);
        self.call_checked(
            ImportedFunction::AdvanceWatermark,
            &[ty, words, operator, pos],
        );
    }
}
