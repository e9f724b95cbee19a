//! `if` without a branch: small assignments to numbers in registers are all computed, and the
//! condition chooses among the results. A branch that the machine cannot foresee costs more.

use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_frontend::Variable;
use graph::{BinaryOp, Expr, ExprKind, Place, PlaceRoot, Stmt};

use crate::lower::context::{FunctionLowering, LocalStorage};

/// How many nodes both arms may have together.
const SELECT_NODES_MAX: u32 = 24;

impl FunctionLowering<'_, '_> {
    /// Lowers both arms and chooses, if they are fit for that.
    pub fn branchless_if(&mut self, condition: ir::Value, yes: &[Stmt], no: &[Stmt]) -> bool {
        let mut changed = Vec::new();
        let mut nodes = 0;
        for arm in [yes, no] {
            if !self.is_simple(arm, &mut changed, &mut nodes) {
                return false;
            }
        }
        if nodes > SELECT_NODES_MAX || changed.is_empty() {
            return false;
        }
        changed.sort_unstable_by_key(|var| var.as_u32());
        changed.dedup();
        let before = self.variable_values(&changed);
        self.stmts(yes);
        let after_yes = self.variable_values(&changed);
        self.set_variables(&changed, &before);
        self.stmts(no);
        let after_no = self.variable_values(&changed);
        let each = after_yes.into_iter().zip(after_no);
        let chosen: Vec<ir::Value> = each
            .map(|(yes, no)| self.builder.ins().select(condition, yes, no))
            .collect();
        self.set_variables(&changed, &chosen);
        true
    }

    fn variable_values(&mut self, vars: &[Variable]) -> Vec<ir::Value> {
        vars.iter().map(|&var| self.builder.use_var(var)).collect()
    }

    fn set_variables(&mut self, vars: &[Variable], values: &[ir::Value]) {
        for (&var, &value) in vars.iter().zip(values) {
            self.builder.def_var(var, value);
        }
    }

    /// Whether statements only assign to numbers in registers; which, and how many nodes.
    fn is_simple(&self, stmts: &[Stmt], changed: &mut Vec<Variable>, nodes: &mut u32) -> bool {
        stmts.iter().all(|stmt| match stmt {
            Stmt::Expr(Expr {
                kind: ExprKind::Assign(place, value),
                ..
            }) => self.is_number(place, changed) && is_speculatable(value, nodes),
            Stmt::Expr(Expr {
                kind: ExprKind::AssignOp(op, place, value),
                ..
            }) => is_small(*op) && self.is_number(place, changed) && is_speculatable(value, nodes),
            Stmt::If(condition, yes, no) => {
                is_speculatable(condition, nodes)
                    && self.is_simple(yes, changed, nodes)
                    && self.is_simple(no, changed, nodes)
            }
            _ => false,
        })
    }

    fn is_number(&self, place: &Place, changed: &mut Vec<Variable>) -> bool {
        let PlaceRoot::Local(local) = place.root else {
            return false;
        };
        match &self.body.locals[local.0 as usize] {
            LocalStorage::Registers(vars) if place.steps.is_empty() && place.ty.is_integral() => {
                changed.extend(vars);
                true
            }
            _ => false,
        }
    }
}

/// Whether an expression is a few instructions that cannot fault.
fn is_speculatable(e: &Expr, nodes: &mut u32) -> bool {
    *nodes += 1;
    (e.ty.is_integral() || e.ty == tuple::Type::Boolean)
        && match &e.kind {
            ExprKind::Const(_) | ExprKind::Local(_) => true,
            ExprKind::Binary(op, a, b) => {
                (is_small(*op) || op.is_comparison())
                    && is_speculatable(a, nodes)
                    && is_speculatable(b, nodes)
            }
            _ => false,
        }
}

/// Whether an operator on integers is one instruction.
fn is_small(op: BinaryOp) -> bool {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Mul, Shl, Shr, Sub};
    matches!(op, Add | Sub | Mul | Shl | Shr | BitAnd | BitOr | BitXor)
}
