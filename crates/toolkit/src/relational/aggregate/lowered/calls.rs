//! Output functions of tumbling windows as statements: what each does for a tuple, and its result.

use std::collections::BTreeMap;

use graph::{BinaryOp, Expr, ExprKind, OperatorNode, OutputCall, Stmt, TableId};
use tuple::{Type, Value};

use super::functions::sum_type;
use super::wide_mean::{self, SummedPart};
use crate::lower;
use crate::stateful_lowering::{StatefulLowering, if_then, state_id};

/// Lowering of the functions over tuples that come one by one, and go together.
pub(super) struct RunningCalls<'l> {
    pub(super) code: &'l mut StatefulLowering,
    /// The table that variables of functions belong to.
    pub(super) table: Option<TableId>,
    /// Whether results are given when the last tuple is not here any more.
    pub(super) keeps_last: bool,
    /// Number of tuples that a result is of, an unsigned integer.
    pub(super) tuples: Expr,
    /// Number of tuples of the whole window, an int32.
    pub(super) all: Expr,
    /// Number of groups in the window, an int32.
    pub(super) group_count: Expr,
    /// The last values of attributes, by attribute, if they are kept.
    pub(super) last_values: BTreeMap<u32, Expr>,
    /// Statements for the first tuple.
    first: Vec<Stmt>,
    later: Vec<Stmt>,
}

impl<'l> RunningCalls<'l> {
    /// Functions over all tuples of a window without groups, whose number `tuples` tells.
    pub(super) fn new(
        code: &'l mut StatefulLowering,
        table: Option<TableId>,
        tuples: Expr,
        keeps_last: bool,
    ) -> RunningCalls<'l> {
        RunningCalls {
            table,
            keeps_last,
            all: code.cast(&tuples, &Type::Int32),
            tuples,
            group_count: code.constant(Value::Int32(1)),
            last_values: BTreeMap::new(),
            first: Vec::new(),
            later: Vec::new(),
            code,
        }
    }

    /// Adds the statements of all calls for each tuple, and returns the expressions of their
    /// results.
    pub(super) fn calls(&mut self, operator: &OperatorNode) -> Vec<Expr> {
        if self.keeps_last {
            self.keep_last_values(operator);
        }
        let calls = operator.outputs[0].calls.iter();
        let results = calls.map(|call| self.call(call)).collect();
        self.code.pos = operator.pos;
        results
    }

    /// Counts a tuple, and runs the statements of all functions for it.
    pub(super) fn count_and_accumulate(&mut self, count: &Expr) {
        let is_first = self.code.is_one(count);
        let (first, later) = self.take_steps();
        let stmts = [self.code.increment(count), Stmt::If(is_first, first, later)];
        self.code.body.stmts.extend(stmts);
    }

    /// The statements of all functions for the first tuple, and those for each later one.
    pub(super) fn take_steps(&mut self) -> (Vec<Stmt>, Vec<Stmt>) {
        (self.first.split_off(0), self.later.split_off(0))
    }

    /// Results that are still there when their entry has been removed; `stmts` keep them.
    pub(super) fn keep_results(&mut self, results: Vec<Expr>, stmts: &mut Vec<Stmt>) -> Vec<Expr> {
        let mut last_values = std::mem::take(&mut self.last_values);
        for last in last_values.values_mut() {
            *last = self.code.keep_result(last.clone(), stmts);
        }
        self.last_values = last_values;
        let results = results.into_iter();
        results
            .map(|result| self.code.keep_result(result, stmts))
            .collect()
    }

    /// Keeps the last value of each attribute that the output reads.
    fn keep_last_values(&mut self, operator: &OperatorNode) {
        let mut read = Vec::new();
        for assigned in operator.outputs[0].assign.iter().flatten() {
            assigned.for_each_ref(&mut |part| {
                if let ExprKind::Attribute { index, .. } = part.kind {
                    read.push((index, part.clone()));
                }
            });
        }
        for (index, attribute) in read {
            if !self.last_values.contains_key(&index) {
                let last = self.last(&attribute);
                self.last_values.insert(index, last);
            }
        }
    }

    /// Adds the statements of a call for each tuple, and returns the expression of its result.
    fn call(&mut self, call: &OutputCall) -> Expr {
        self.code.pos = call.pos;
        let args: Vec<Expr> = call
            .args
            .iter()
            .map(|arg| self.code.argument(arg))
            .collect();
        match (&*call.function, &args[..]) {
            ("Count", _) => self.code.cast(&self.tuples.clone(), &Type::Int32),
            ("CountAll", _) => self.all.clone(),
            ("CountGroups", _) => self.group_count.clone(),
            ("CountByGroup", _) => lower::expr(
                ExprKind::List(vec![self.all.clone()]),
                call.ty.clone(),
                call.pos,
            ),
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
            ("CollectArgMax", [value, other]) => {
                self.collect_of_extreme(BinaryOp::Gt, value, other, &call.ty)
            }
            ("CollectArgMin", [value, other]) => {
                self.collect_of_extreme(BinaryOp::Lt, value, other, &call.ty)
            }
            ("Collect", [value]) => self.collect(value, &call.ty),
            ("CollectDistinct", [value]) => {
                let distinct = self.collect(value, &set_of(&call.ty));
                self.code.cast(&distinct, &call.ty)
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

    /// All values, in a list or a set.
    fn collect(&mut self, value: &Expr, ty: &Type) -> Expr {
        let collected = self.variable("collected", ty.clone());
        let variable = state_id(&collected);
        let insert = Stmt::InsertElement(variable, value.clone());
        self.first
            .extend([Stmt::ClearElements(variable), insert.clone()]);
        self.later.push(insert);
        collected
    }

    /// Values that came with those that equal the one that no other surpasses, each once. A NaN
    /// does not equal itself.
    fn collect_of_extreme(
        &mut self,
        surpasses: BinaryOp,
        value: &Expr,
        other: &Expr,
        ty: &Type,
    ) -> Expr {
        let best = self.kept_value(value);
        let collected = self.variable("ofBest", set_of(ty));
        let variable = state_id(&collected);
        let insert = Stmt::InsertElement(variable, other.clone());
        let clear = Stmt::ClearElements(variable);
        let equals_itself = self.code.compare(BinaryOp::Eq, value, value);
        self.first
            .extend([clear.clone(), if_then(equals_itself, vec![insert.clone()])]);
        let is_better = self.code.compare(surpasses, value, &best);
        let is_equal = self.code.compare(BinaryOp::Eq, value, &best);
        let change = vec![self.code.set(&best, value.clone()), clear, insert.clone()];
        let add = if_then(is_equal, vec![insert]);
        self.later.push(Stmt::If(is_better, change, vec![add]));
        self.code.cast(&collected, ty)
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

    /// The last tuple's value.
    fn last(&mut self, value: &Expr) -> Expr {
        if !self.keeps_last {
            return value.clone();
        }
        let last = self.kept_value(value);
        self.later.push(self.code.set(&last, value.clone()));
        last
    }

    /// A new state variable of the window or the group, as an expression that reads it.
    fn variable(&mut self, name: &str, ty: Type) -> Expr {
        self.code.variable(self.table, name, ty)
    }
}

/// The set of the elements of a list type.
fn set_of(list: &Type) -> Type {
    match list {
        Type::List(element, _) => Type::Set(element.clone(), None),
        other => unreachable!("{other} is no list"),
    }
}
