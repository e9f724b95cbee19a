//! Concatenation of strings, and cutting them to the bound of their type.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use eval::ops::LEN_MAX;
use graph::{BinaryOp, Expr, ExprKind, Pos};
use smallvec::SmallVec;
use tuple::Type;

use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueParts};

impl FunctionLowering<'_, '_> {
    /// Lowers `a + b + c`: all pieces into one new string.
    pub fn concatenation(&mut self, e: &Expr, left: &Expr, right: &Expr) -> LoweredValue {
        let mut pieces = Vec::new();
        self.collect_pieces(left, &e.ty, &mut pieces);
        let last = self.expr(right);
        pieces.push(self.parts(&last, &right.ty));
        let joined = self.join_pieces(&pieces, &e.ty, e.pos);
        LoweredValue::from_parts(self.truncate_to_bound(joined, &e.ty))
    }

    /// The operands of a chain of `+`, from left to right. A bounded chain is cut at each step, so
    /// it is not flattened.
    fn collect_pieces(&mut self, e: &Expr, ty: &Type, to: &mut Vec<ValueParts>) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add, left, right)
                if e.ty == *ty && !matches!(ty, Type::BoundedRString(_)) =>
            {
                self.collect_pieces(left, ty, to);
                let right_value = self.expr(right);
                to.push(self.parts(&right_value, &right.ty));
            }
            _ => {
                let value = self.expr(e);
                to.push(self.parts(&value, &e.ty));
            }
        }
    }

    /// Appends to a string value in place; faults if it would be too long.
    pub fn append_bytes(&mut self, to: ir::Value, more: &ValueParts, pos: Pos) {
        let args = [to, more[0], more[1]];
        let fits = self.call_for_word(ImportedFunction::AppendBytes, &args);
        self.fault_if_zero(fits, FallbackOp::StringTooLong, &[], pos);
    }

    /// Strings one after the other; faults if they are too long together.
    pub fn join_pieces(&mut self, pieces: &[ValueParts], ty: &Type, pos: Pos) -> ValueParts {
        let unit = if *ty == Type::UString { 2 } else { 1 };
        let zero = self.word(0);
        let mut len = pieces[0][1];
        for piece in &pieces[1..] {
            len = self.builder.ins().iadd(len, piece[1]);
        }
        let bytes = self.element(zero, len, unit);
        // No room that the arena has left over is as large as a string that is too long.
        let data = self.allocate_after(bytes, |lowering| {
            let is_long = lowering.icmp_const(IntCC::UnsignedGreaterThan, len, LEN_MAX as i64);
            lowering.fault_if(is_long, FallbackOp::StringTooLong, &[], pos);
        });
        let mut to = data;
        for piece in pieces {
            let bytes = self.element(zero, piece[1], unit);
            self.copy_piece(to, piece[0], bytes, unit);
            to = self.builder.ins().iadd(to, bytes);
        }
        SmallVec::from_slice(&[data, len])
    }

    fn copy_piece(&mut self, to: ir::Value, from: ir::Value, bytes: ir::Value, unit: i32) {
        match self.known_constant(bytes) {
            Some(known) if known <= 32 && unit == 1 => {
                self.copy_const((to, 0), (from, 0), known as i32);
            }
            _ => self.copy(to, from, bytes),
        }
    }

    /// A string's parts, cut to the bound of a type.
    pub fn truncate_to_bound(&mut self, parts: ValueParts, ty: &Type) -> ValueParts {
        let Type::BoundedRString(bound) = ty else {
            return parts;
        };
        let bound = self.word(i64::from(*bound));
        let len = self.builder.ins().umin(parts[1], bound);
        SmallVec::from_slice(&[parts[0], len])
    }
}
