//! Sites: operations that are left to a function on `Value`s.

use cranelift_codegen::ir;
use cranelift_codegen::ir::condcodes::IntCC;
use graph::{Expr, Pos};
use tuple::Type;

use crate::code::{FallbackOp, FallbackSite, ImportedFunction, OperandPassing};
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueForm};
use crate::type_parts;

/// An operand of a site.
#[derive(Clone, Debug)]
pub struct FallbackOperand {
    /// Type of the operand.
    pub ty: Type,
    /// Form in which the operand is passed.
    pub kind: FallbackOperandKind,
}

/// Form of an operand of a site.
#[derive(Clone, Debug)]
pub enum FallbackOperandKind {
    /// A value, passed by its parts or by its address.
    Value(LoweredValue),
    /// The address of a `Value` that is changed in place.
    Place(ir::Value),
    /// The address of a scalar's flat slot that is changed in place.
    Slot(ir::Value),
}

impl FunctionLowering<'_, '_> {
    /// An expression as an operand.
    pub fn operand(&mut self, e: &Expr) -> FallbackOperand {
        FallbackOperand {
            ty: e.ty.clone(),
            kind: FallbackOperandKind::Value(self.expr(e)),
        }
    }

    /// A value as an operand.
    pub fn value_operand(value: &LoweredValue, ty: &Type) -> FallbackOperand {
        FallbackOperand {
            ty: ty.clone(),
            kind: FallbackOperandKind::Value(value.clone()),
        }
    }

    /// Leaves an expression to its site.
    pub fn run_expr_fallback(
        &mut self,
        e: &Expr,
        op: FallbackOp,
        operands: &[FallbackOperand],
    ) -> LoweredValue {
        self.run_fallback(op, operands, &e.ty, e.pos)
    }

    /// Leaves an operation to a site; a fault leaves the function.
    pub fn run_fallback(
        &mut self,
        op: FallbackOp,
        operands: &[FallbackOperand],
        result: &Type,
        pos: Pos,
    ) -> LoweredValue {
        self.allocations += 1;
        let value = self.call_fallback(op, operands, result, pos);
        self.fallback_result(value, result)
    }

    /// Result of a site as a lowered value; a null address is a fault.
    pub fn fallback_result(&mut self, value: ir::Value, result: &Type) -> LoweredValue {
        let next = self.block();
        self.branch(value, next, self.fault_block);
        self.switch_to_sealed(next);
        if *result == Type::Void {
            return LoweredValue::from_parts([]);
        }
        LoweredValue::new_stable(ValueForm::Boxed(value, 0))
    }

    /// Faults if a condition holds: the operation on these operands is known to.
    pub fn fault_if(
        &mut self,
        condition: ir::Value,
        op: FallbackOp,
        operands: &[FallbackOperand],
        pos: Pos,
    ) {
        let (bad, good) = (self.cold_block(), self.block());
        self.branch(condition, bad, good);
        self.switch_to_sealed(bad);
        let before = self.allocations;
        // The fault's block writes back what is in registers.
        let cache = std::mem::take(&mut self.cache);
        self.seldom(|lower| lower.call_fallback(op, operands, &Type::Void, pos));
        self.cache = cache;
        self.jump(self.fault_block, &[]);
        // The caller gives back what is taken on the way out.
        self.allocations = before;
        self.switch_to_sealed(good);
    }

    /// Like [`FunctionLowering::fault_if`], where the condition is that a number equals 0.
    pub fn fault_if_zero(
        &mut self,
        value: ir::Value,
        op: FallbackOp,
        operands: &[FallbackOperand],
        pos: Pos,
    ) {
        let is_zero = self.icmp_const(IntCC::Equal, value, 0);
        self.fault_if(is_zero, op, operands, pos);
    }

    /// Calls a site: the address of its result, or null.
    pub fn call_fallback(
        &mut self,
        op: FallbackOp,
        operands: &[FallbackOperand],
        result: &Type,
        pos: Pos,
    ) -> ir::Value {
        let (mut kinds, mut words) = (Vec::new(), Vec::new());
        for operand in operands {
            kinds.push(self.pass_operand(operand, &mut words));
        }
        let operand_words = self.stack_words(words.len());
        for (at, word) in words.into_iter().enumerate() {
            self.store_word(word, operand_words, at);
        }
        let site = self.unit.pool.site(FallbackSite {
            id: 0,
            op,
            operands: kinds,
            types: operands.iter().map(|operand| operand.ty.clone()).collect(),
            result: result.clone(),
            pos,
        });
        let site = self.word(site);
        self.call_for_word(ImportedFunction::RunSite, &[site, operand_words])
    }

    /// The words of an operand.
    fn pass_operand(
        &mut self,
        operand: &FallbackOperand,
        words: &mut Vec<ir::Value>,
    ) -> OperandPassing {
        match &operand.kind {
            FallbackOperandKind::Place(at) => {
                words.push(*at);
                OperandPassing::Place
            }
            FallbackOperandKind::Slot(at) => {
                words.push(*at);
                OperandPassing::Slot
            }
            FallbackOperandKind::Value(value) => {
                let in_value = matches!(value.form, ValueForm::Boxed(..));
                let in_flat =
                    matches!(value.form, ValueForm::Flat(..)) && !type_parts::is_plain(&operand.ty);
                let is_view = type_parts::is_view(&operand.ty);
                if in_value || in_flat && !is_view || type_parts::is_boxed(&operand.ty) {
                    words.push(self.boxed(value, &operand.ty));
                    return OperandPassing::Boxed;
                }
                words.extend(self.parts(value, &operand.ty));
                OperandPassing::Parts
            }
        }
    }
}
