//! Panes: the number of the pane that an event time lies in, and the pane that fires.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{EventTimeUnits, Expr, LocalId, NumberedPanes};

use crate::code::ImportedFunction;
use crate::lower::context::{EventTimeRange, FunctionLowering};
use crate::lowered_value::LoweredValue;

impl FunctionLowering<'_, '_> {
    /// Lowers the statement that sets a local to the number of the unit of an event time.
    pub fn count_units(&mut self, local: LocalId, units: &EventTimeUnits, time: &Expr) {
        let value = self.expr(time);
        let range = EventTimeRange::new(&time.ty, units.resolution, units.origin_ns);
        let unit = i64::try_from(units.unit_ns).ok().filter(|unit| *unit > 0);
        let count = match range.zip(unit) {
            None => self.call_count_units(units, &value, time),
            Some((range, unit)) => {
                let parts = self.parts(&value, &time.ty);
                let (is_outside, since) = self.nanoseconds_since(range, &parts);
                let (call, count) = (self.cold_block(), self.block());
                let done = self.block_with(&[types::I64]);
                self.branch(is_outside, call, count);
                self.switch_to_sealed(call);
                let counted = self.call_count_units(units, &value, time);
                self.jump(done, &[counted]);
                self.switch_to_sealed(count);
                let counted = self.floor_quotient(since, unit);
                self.jump(done, &[counted]);
                self.switch_to_sealed(done);
                self.block_params(done)[0]
            }
        };
        self.set_local(local, LoweredValue::from_parts([count]));
    }

    /// Whether an event time is outside the range, and else how many nanoseconds are between it and
    /// the origin.
    fn nanoseconds_since(
        &mut self,
        range: EventTimeRange,
        parts: &[ir::Value],
    ) -> (ir::Value, ir::Value) {
        let first = self.word(range.first);
        let distance = self.builder.ins().isub(parts[0], first);
        let width = self.word(range.width as i64);
        let is_outside = self.icmp(IntCC::UnsignedGreaterThan, distance, width);
        let ns = self.builder.ins().imul_imm_s(parts[0], range.unit_ns);
        let ns = self.offset(ns, range.origin_ns.wrapping_neg());
        let since = match parts {
            [_, nanos, _] => {
                let nanos = self.builder.ins().uextend(types::I64, *nanos);
                self.builder.ins().iadd(ns, nanos)
            }
            _ => ns,
        };
        (is_outside, since)
    }

    /// The greatest whole number that is not above the quotient.
    fn floor_quotient(&mut self, number: ir::Value, divisor: i64) -> ir::Value {
        let divisor = self.word(divisor);
        let quotient = self.builder.ins().sdiv(number, divisor);
        let product = self.builder.ins().imul(quotient, divisor);
        let rest = self.builder.ins().isub(number, product);
        // -1 if the rest is below 0.
        let less = self.builder.ins().sshr_imm_u(rest, 63);
        self.builder.ins().iadd(quotient, less)
    }

    fn call_count_units(
        &mut self,
        units: &EventTimeUnits,
        value: &LoweredValue,
        time: &Expr,
    ) -> ir::Value {
        let words = self.parts_as_words(value, &time.ty);
        let ty = self.type_address(&time.ty);
        let units = self.unit.pool.units(*units);
        let units = self.word(units);
        self.call_for_word(ImportedFunction::CountUnits, &[ty, words, units])
    }

    /// Lowers the statement that makes a pane the one that functions tell of.
    pub fn begin_pane(&mut self, number: &Expr, fire_count: &Expr, panes: &NumberedPanes) {
        let number = self.expr_single_part(number);
        let fire_count = self.expr_single_part(fire_count);
        let panes = self.unit.pool.panes(*panes);
        let panes = self.word(panes);
        self.call(ImportedFunction::BeginPane, &[panes, number, fire_count]);
    }
}
