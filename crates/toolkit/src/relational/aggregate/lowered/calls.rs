//! Output functions of tumbling windows as statements: what each does for a tuple, and its result.

use graph::{BinaryOp, Expr, OutputCall, Stmt};
use tuple::{List, Type, Value};

use super::TumblingLowering;
use super::functions::sum_type;
use super::wide_mean::{self, SummedPart};
use crate::stateful_lowering::if_then;

impl TumblingLowering<'_> {
    /// Adds the statements of a call for each tuple, and returns the expression of its result once
    /// the window is full.
    pub(super) fn call(&mut self, call: &OutputCall) -> Expr {
        self.code.pos = call.pos;
        let args: Vec<Expr> = call
            .args
            .iter()
            .map(|arg| self.code.argument(arg))
            .collect();
        let size = self.size as i32;
        match (&*call.function, &args[..]) {
            ("Count", _) => self.code.cast(&self.tuples.clone(), &Type::Int32),
            ("CountAll", _) => self.code.constant(Value::Int32(size)),
            ("CountGroups", _) => self.group_count.clone(),
            ("CountByGroup", _) => self.code.constant(Value::List(List::Int32(vec![size]))),
            ("First", [value]) => self.kept_value(value),
            ("Max", [value]) => self.extreme(BinaryOp::Gt, value, None),
            ("Min", [value]) => self.extreme(BinaryOp::Lt, value, None),
            ("MaxCount", [value]) => self.count_of_extreme(BinaryOp::Gt, value),
            ("MinCount", [value]) => self.count_of_extreme(BinaryOp::Lt, value),
            ("ArgMax", [value, other]) => self.extreme(BinaryOp::Gt, value, Some(other)),
            ("ArgMin", [value, other]) => self.extreme(BinaryOp::Lt, value, Some(other)),
            ("Sum", [value]) => self.sum(value),
            ("Average", [value]) if wide_mean::needs_two_sums(&value.ty) => self.wide_mean(value),
            ("Average", [value]) => {
                let wide = sum_type(&value.ty).unwrap_or_else(|| value.ty.clone());
                self.quotient(value, &wide)
            }
            (_, [value, ..]) => self.last(value),
            (name, []) => unreachable!("{name} is no function without an argument"),
        }
    }

    /// The first tuple's value, in a variable that may be set later.
    fn kept_value(&mut self, value: &Expr) -> Expr {
        let chosen = self.variable("chosen", value.ty.clone());
        self.first.push(self.code.set(&chosen, value.clone()));
        chosen
    }

    /// The first value that no other surpasses, or what came with it.
    fn extreme(&mut self, surpasses: BinaryOp, value: &Expr, other: Option<&Expr>) -> Expr {
        let best = self.kept_value(value);
        let mut changes = vec![self.code.set(&best, value.clone())];
        let is_better = self.code.compare(surpasses, value, &best);
        let result = match other {
            Some(other) => {
                let beside = self.kept_value(other);
                changes.push(self.code.set(&beside, other.clone()));
                beside
            }
            None => best,
        };
        self.later.push(Stmt::If(is_better, changes, Vec::new()));
        result
    }

    /// How many values equal the one that no other surpasses. A NaN does not equal itself.
    fn count_of_extreme(&mut self, surpasses: BinaryOp, value: &Expr) -> Expr {
        let best = self.kept_value(value);
        let count = self.variable("ofBest", Type::Int32);
        let one = self.code.set(&count, self.code.constant(Value::Int32(1)));
        let equals_itself = self.code.compare(BinaryOp::Eq, value, value);
        let none = self.code.set(&count, self.code.constant(Value::Int32(0)));
        self.first
            .push(Stmt::If(equals_itself, vec![one.clone()], vec![none]));
        let is_better = self.code.compare(surpasses, value, &best);
        let is_equal = self.code.compare(BinaryOp::Eq, value, &best);
        let change = vec![self.code.set(&best, value.clone()), one];
        let add = if_then(is_equal, vec![self.code.increment(&count)]);
        self.later.push(Stmt::If(is_better, change, vec![add]));
        count
    }

    /// The mean of integers of 64 bits.
    fn wide_mean(&mut self, value: &Expr) -> Expr {
        let [high, low] = [SummedPart::High, SummedPart::Low]
            .map(|part| self.sum(&part.of(self.code, value, &value.ty)));
        wide_mean::mean(self.code, &high, &low, &self.tuples)
    }

    fn sum(&mut self, value: &Expr) -> Expr {
        let sum = self.kept_value(value);
        let more = self.code.binary(BinaryOp::Add, &sum, value);
        self.later.push(self.code.set(&sum, more));
        sum
    }

    /// The sum divided by the count.
    fn quotient(&mut self, value: &Expr, wide: &Type) -> Expr {
        let sum = self.sum(&self.code.cast(value, wide));
        let size = self.code.cast(&self.tuples.clone(), wide);
        let quotient = self.code.binary(BinaryOp::Div, &sum, &size);
        self.code.cast(&quotient, &value.ty)
    }

    /// The last tuple's value: that of the tuple that fills the window, unless the result is of a
    /// group.
    pub(super) fn last(&mut self, value: &Expr) -> Expr {
        if !self.has_groups {
            return value.clone();
        }
        let last = self.kept_value(value);
        self.later.push(self.code.set(&last, value.clone()));
        last
    }
}
