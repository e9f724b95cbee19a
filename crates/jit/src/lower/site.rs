//! Sites: operations that are left to a function on `Value`s.

use cranelift_codegen::ir;
use cranelift_codegen::ir::condcodes::IntCC;
use graph::{Expr, Pos};
use tuple::Type;

use super::Lower;
use crate::code::{Import, Op, Operand, Site};
use crate::shape;
use crate::value::{Form, Val};

/// An operand of a site.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub what: What,
}

/// What an operand is.
#[derive(Clone, Debug)]
pub enum What {
    /// A value.
    Value(Val),
    /// The address of a `Value` that is changed in place.
    Place(ir::Value),
    /// The address of a scalar's flat slot that is changed in place.
    Slot(ir::Value),
}

impl Lower<'_, '_> {
    /// An expression as an operand.
    pub fn operand(&mut self, e: &Expr) -> Given {
        Given {
            ty: e.ty.clone(),
            what: What::Value(self.expr(e)),
        }
    }

    /// A value as an operand.
    pub fn given(value: &Val, ty: &Type) -> Given {
        Given {
            ty: ty.clone(),
            what: What::Value(value.clone()),
        }
    }

    /// Leaves an expression to its site.
    pub fn run_site(&mut self, e: &Expr, op: Op, operands: &[Given]) -> Val {
        self.run_at(op, operands, &e.ty, e.pos)
    }

    /// Leaves an operation to a site; a fault leaves the function.
    pub fn run_at(&mut self, op: Op, operands: &[Given], result: &Type, pos: Pos) -> Val {
        self.allocations += 1;
        let value = self.call_site(op, operands, result, pos);
        self.site_result(value, result)
    }

    /// What a site has given; null is a fault.
    pub fn site_result(&mut self, value: ir::Value, result: &Type) -> Val {
        let next = self.block();
        self.branch(value, next, self.fail);
        self.go_sealed(next);
        if *result == Type::Void {
            return Val::parts([]);
        }
        Val::stable(Form::Boxed(value, 0))
    }

    /// Faults if a condition holds: the operation on these operands is known to.
    pub fn fault_if(&mut self, condition: ir::Value, op: Op, operands: &[Given], pos: Pos) {
        let (bad, good) = (self.cold_block(), self.block());
        self.branch(condition, bad, good);
        self.go_sealed(bad);
        let before = self.allocations;
        self.call_site(op, operands, &Type::Void, pos);
        self.jump(self.fail, &[]);
        // What is taken on the way out is given back by whoever called.
        self.allocations = before;
        self.go_sealed(good);
    }

    /// The same if a number equals 0.
    pub fn fault_if_zero(&mut self, value: ir::Value, op: Op, operands: &[Given], pos: Pos) {
        let is_zero = self.icmp_const(IntCC::Equal, value, 0);
        self.fault_if(is_zero, op, operands, pos);
    }

    /// Calls a site: the address of its result, or null.
    pub fn call_site(&mut self, op: Op, operands: &[Given], result: &Type, pos: Pos) -> ir::Value {
        let (mut kinds, mut words) = (Vec::new(), Vec::new());
        for operand in operands {
            kinds.push(self.pass(operand, &mut words));
        }
        let row = self.stack(words.len());
        for (at, word) in words.into_iter().enumerate() {
            self.store_word(word, row, at);
        }
        let site = self.unit.pool.site(Site {
            id: 0,
            op,
            operands: kinds,
            types: operands.iter().map(|operand| operand.ty.clone()).collect(),
            result: result.clone(),
            pos,
        });
        let site = self.word(site);
        self.call1(Import::Run, &[site, row])
    }

    /// The words of an operand.
    fn pass(&mut self, operand: &Given, words: &mut Vec<ir::Value>) -> Operand {
        match &operand.what {
            What::Place(at) => {
                words.push(*at);
                Operand::Place
            }
            What::Slot(at) => {
                words.push(*at);
                Operand::Slot
            }
            What::Value(value) => {
                let in_value = matches!(value.form, Form::Boxed(..));
                let in_flat = matches!(value.form, Form::Flat(..)) && !shape::is_plain(&operand.ty);
                let is_view = shape::is_view(&operand.ty);
                if in_value || in_flat && !is_view || shape::is_boxed(&operand.ty) {
                    words.push(self.boxed(value, &operand.ty));
                    return Operand::Boxed;
                }
                words.extend(self.parts(value, &operand.ty));
                Operand::Parts
            }
        }
    }
}
