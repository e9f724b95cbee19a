//! Concatenation of strings, and cutting them to the bound of their type.

use cranelift_codegen::ir::{self, InstBuilder};
use graph::{BinaryOp, Expr, ExprKind};
use smallvec::SmallVec;
use tuple::Type;

use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueParts};

impl FunctionLowering<'_, '_> {
    /// Lowers `a + b + c`: all pieces into one new string.
    pub fn concatenation(&mut self, e: &Expr, left: &Expr, right: &Expr) -> LoweredValue {
        let mut pieces = Vec::new();
        self.collect_pieces(left, &e.ty, &mut pieces);
        let last = self.expr(right);
        pieces.push(self.parts(&last, &right.ty));
        let joined = self.join_pieces(&pieces, &e.ty);
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

    /// Strings one after the other.
    pub fn join_pieces(&mut self, pieces: &[ValueParts], ty: &Type) -> ValueParts {
        let unit = if *ty == Type::UString { 2 } else { 1 };
        let zero = self.word(0);
        let mut len = pieces[0][1];
        for piece in &pieces[1..] {
            len = self.builder.ins().iadd(len, piece[1]);
        }
        let bytes = self.element(zero, len, unit);
        let data = self.allocate(bytes);
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
