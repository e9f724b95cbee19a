//! Concatenation of strings, and cutting them to the bound of their type.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use eval::ops;
use graph::{BinaryOp, Expr, ExprKind, Pos};
use smallvec::SmallVec;
use tuple::Type;

use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::FunctionLowering;
use crate::lower::values::FallbackOperand;
use crate::lowered_value::{LoweredValue, ValueParts};
use crate::type_parts;

/// One of the strings that are joined.
struct StringPiece {
    parts: ValueParts,
    /// Length of the pieces up to the end of this one.
    end: ir::Value,
    /// Position of the `+` that appends the piece, for the fault of a string that is too long.
    pos: Pos,
}

/// Strings that are to be joined, in their order.
#[derive(Default)]
pub struct StringPieces {
    pieces: Vec<StringPiece>,
    /// Number of pieces that are known not to be too long together.
    checked: usize,
}

impl FunctionLowering<'_, '_> {
    /// Lowers `a + b + c`: all pieces into one new string.
    pub fn concatenation(&mut self, e: &Expr, left: &Expr, right: &Expr) -> LoweredValue {
        let mut pieces = StringPieces::default();
        self.collect_pieces(left, &e.ty, &mut pieces);
        self.collect_piece(right, e.pos, &mut pieces);
        let joined = self.join_pieces(pieces, &e.ty);
        LoweredValue::from_parts(self.truncate_to_bound(joined, &e.ty))
    }

    /// The operands of a chain of `+`, from left to right. A bounded chain is cut at each step, so
    /// it is not flattened.
    fn collect_pieces(&mut self, e: &Expr, ty: &Type, to: &mut StringPieces) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add, left, right)
                if e.ty == *ty && !matches!(ty, Type::BoundedRString(_)) =>
            {
                self.collect_pieces(left, ty, to);
                self.collect_piece(right, e.pos, to);
            }
            _ => self.collect_piece(e, e.pos, to),
        }
    }

    /// Evaluates an operand. If the strings before it are too long, an operand that can fault or
    /// have an effect is not evaluated.
    fn collect_piece(&mut self, e: &Expr, pos: Pos, to: &mut StringPieces) {
        if !is_unobserved(e) {
            self.fault_if_too_long(to);
        }
        let value = self.expr(e);
        let parts = self.parts(&value, &e.ty);
        self.push_piece(to, parts, pos);
    }

    /// Adds a string behind those that are to be joined; `pos` is that of its `+`.
    pub fn push_piece(&mut self, to: &mut StringPieces, parts: ValueParts, pos: Pos) {
        let end = match to.pieces.last().map(|last| last.end) {
            Some(before) => self.builder.ins().iadd(before, parts[1]),
            None => parts[1],
        };
        to.pieces.push(StringPiece { parts, end, pos });
    }

    /// Faults at the first piece with which the string is too long. One piece alone never is.
    fn fault_if_too_long(&mut self, pieces: &mut StringPieces) {
        let (before, added) = pieces
            .pieces
            .split_at(pieces.checked.max(1).min(pieces.pieces.len()));
        pieces.checked = pieces.pieces.len();
        let ([.., before], [.., last]) = (before, added) else {
            return;
        };
        let is_long = self.icmp_const(IntCC::UnsignedGreaterThan, last.end, ops::len_max() as i64);
        // The lengths are at hand to copy the pieces; their sums would only be kept for the fault.
        let lens = [before.end]
            .into_iter()
            .chain(added.iter().map(|piece| piece.parts[1]));
        let operands: Vec<FallbackOperand> = lens
            .map(LoweredValue::from_part)
            .map(|len| FunctionLowering::value_operand(&len, &Type::Uint64))
            .collect();
        let positions = added.iter().map(|piece| piece.pos).collect();
        self.fault_if(
            is_long,
            FallbackOp::JoinTooLong(positions),
            &operands,
            last.pos,
        );
    }

    /// Appends to a string value in place; faults if it would be too long.
    pub fn append_bytes(&mut self, to: ir::Value, more: &ValueParts, pos: Pos) {
        let args = [to, more[0], more[1]];
        let fits = self.call_for_word(ImportedFunction::AppendBytes, &args);
        self.fault_if_zero(fits, FallbackOp::TooLong("string"), &[], pos);
    }

    /// Strings one after the other; faults if they are too long together.
    pub fn join_pieces(&mut self, mut pieces: StringPieces, ty: &Type) -> ValueParts {
        let unit = if *ty == Type::UString { 2 } else { 1 };
        let zero = self.word(0);
        let len = pieces.pieces.last().map_or(zero, |last| last.end);
        let bytes = self.element(zero, len, unit);
        // No room that the arena has left over is as large as a string that is too long.
        let data = self.allocate_after(bytes, |lowering| lowering.fault_if_too_long(&mut pieces));
        let mut to = data;
        for StringPiece { parts, .. } in &pieces.pieces {
            let bytes = self.element(zero, parts[1], unit);
            self.copy_piece(to, parts[0], bytes, unit);
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

/// Whether evaluating an expression can neither fault nor have an effect.
fn is_unobserved(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::State(_)
        | ExprKind::Input { .. }
        | ExprKind::Attribute { .. } => true,
        ExprKind::Field(base, _) => is_unobserved(base),
        ExprKind::Cast(from) => {
            let is_text = e.ty.is_string();
            is_text
                && (type_parts::is_scalar(&from.ty) || from.ty.is_string())
                && is_unobserved(from)
        }
        _ => false,
    }
}
