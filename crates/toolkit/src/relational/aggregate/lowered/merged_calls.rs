//! Output functions of panes that are merged from slices: what each does for a tuple of a slice,
//! and for a slice of a pane.
//!
//! ```text
//!   of a slice     sum = v; for each later tuple: sum += v
//!   of the pane    paneSum = sum; for each later slice of the key: paneSum += sum
//! ```
//! These are the functions whose results do not depend on which tuples were added up first: counts,
//! sums, means and extremes of integers. Slices of a key are merged in the order of their first
//! tuples, so the first value of the first slice is that of the pane; the last value is that of the
//! slice whose last tuple came last.

use std::collections::BTreeMap;

use eval::State;
use graph::{BinaryOp, Expr, ExprKind, OperatorNode, OutputCall, Stmt, TableId};
use tuple::Type;

use super::functions::sum_type;
use super::wide_mean::{self, SummedPart};
use crate::stateful_lowering::{StatefulLowering, if_then};

/// Whether a call can be merged from slices.
pub(super) fn can_merge(call: &OutputCall) -> bool {
    let argument = call.args.first().map(|arg| &arg.ty);
    match &*call.function {
        "Count" | "Last" | "Any" => true,
        "First" => argument.is_some_and(State::is_scalar),
        "Max" | "Min" | "Sum" | "Average" => argument.is_some_and(Type::is_integral),
        _ => false,
    }
}

/// The tables of what is merged, and of what it becomes.
#[derive(Clone, Copy)]
pub(super) struct MergedTables {
    /// Parts: a key in a slice.
    pub(super) parts: TableId,
    /// Keys, each with the results of the pane that fires.
    pub(super) keys: TableId,
}

/// Statements of a value in a part, and in the pane.
#[derive(Default)]
pub(super) struct MergeSteps {
    /// For the first tuple of a part, and each later one.
    pub(super) first: Vec<Stmt>,
    pub(super) later: Vec<Stmt>,
    /// For the first part of a key in the pane, and each later one.
    pub(super) merge_first: Vec<Stmt>,
    pub(super) merge_later: Vec<Stmt>,
    /// For a new key.
    pub(super) added: Vec<Stmt>,
}

/// Lowering of the functions of panes that are merged from slices.
pub(super) struct MergedCalls<'l> {
    pub(super) code: &'l mut StatefulLowering,
    tables: MergedTables,
    /// Parts of a key that are integers: of all its tuples they are the same.
    key: Vec<Expr>,
    /// Number of tuples of the key in the pane, a uint32.
    tuples: Expr,
    /// Arrivals of the last tuple of a part, and of the parts that are merged, if a function needs
    /// them.
    pub(super) last_arrivals: Option<[Expr; 2]>,
    pub(super) last_values: BTreeMap<u32, Expr>,
    pub(super) steps: MergeSteps,
}

impl<'l> MergedCalls<'l> {
    pub(super) fn new(
        code: &'l mut StatefulLowering,
        tables: MergedTables,
        key: &[Expr],
        tuples: Expr,
    ) -> MergedCalls<'l> {
        let of_integers = key.iter().filter(|part| part.ty.is_integral());
        MergedCalls {
            tables,
            key: of_integers.cloned().collect(),
            tuples,
            last_arrivals: None,
            last_values: BTreeMap::new(),
            steps: MergeSteps::default(),
            code,
        }
    }

    /// Adds the statements of all calls and of the attributes that the output reads, and returns
    /// the expressions of the calls' results.
    pub(super) fn calls(&mut self, operator: &OperatorNode) -> Vec<Expr> {
        let out = &operator.outputs[0];
        for assigned in out.assign.iter().flatten() {
            assigned.for_each_ref(&mut |part| {
                if let ExprKind::Attribute { index, .. } = part.kind
                    && !self.last_values.contains_key(&index)
                {
                    let last = self.last(part);
                    self.last_values.insert(index, last);
                }
            });
        }
        let results = out.calls.iter().map(|call| self.call(call)).collect();
        self.code.pos = operator.pos;
        self.keep_last_arrivals();
        results
    }

    fn call(&mut self, call: &OutputCall) -> Expr {
        self.code.pos = call.pos;
        let args: Vec<Expr> = call
            .args
            .iter()
            .map(|arg| self.code.argument(arg))
            .collect();
        match (&*call.function, &args[..]) {
            ("Count", _) => self.code.cast(&self.tuples, &Type::Int32),
            ("First", [value]) => self.first(value),
            ("Max", [value]) => self.extreme(BinaryOp::Gt, value),
            ("Min", [value]) => self.extreme(BinaryOp::Lt, value),
            ("Sum", [value]) => self.sum(value),
            ("Average", [value]) => self.mean(value),
            (_, [value, ..]) => self.last(value),
            (name, []) => unreachable!("{name} is no function without an argument"),
        }
    }

    /// A variable of parts with the first tuple's value, and that of the pane.
    fn kept_value(&mut self, value: &Expr) -> (Expr, Expr) {
        let [part, pane] = [self.tables.parts, self.tables.keys]
            .map(|table| self.code.variable(Some(table), "chosen", value.ty.clone()));
        self.steps.first.push(self.code.set(&part, value.clone()));
        let merge = self.code.set(&pane, part.clone());
        self.steps.merge_first.push(merge);
        (part, pane)
    }

    fn first(&mut self, value: &Expr) -> Expr {
        self.kept_value(value).1
    }

    fn sum(&mut self, value: &Expr) -> Expr {
        let (part, pane) = self.kept_value(value);
        let more = self.code.binary(BinaryOp::Add, &part, value);
        self.steps.later.push(self.code.set(&part, more));
        let more = self.code.binary(BinaryOp::Add, &pane, &part);
        self.steps.merge_later.push(self.code.set(&pane, more));
        pane
    }

    fn extreme(&mut self, surpasses: BinaryOp, value: &Expr) -> Expr {
        let (part, pane) = self.kept_value(value);
        let is_better = self.code.compare(surpasses, value, &part);
        let change = vec![self.code.set(&part, value.clone())];
        self.steps.later.push(if_then(is_better, change));
        let is_better = self.code.compare(surpasses, &part, &pane);
        let change = vec![self.code.set(&pane, part)];
        self.steps.merge_later.push(if_then(is_better, change));
        pane
    }

    fn mean(&mut self, value: &Expr) -> Expr {
        if wide_mean::needs_two_sums(&value.ty) {
            let [high, low] = [SummedPart::High, SummedPart::Low]
                .map(|part| self.sum(&part.of(self.code, value, &value.ty)));
            return wide_mean::mean(self.code, &high, &low, &self.tuples);
        }
        let wide = sum_type(&value.ty).unwrap_or_else(|| value.ty.clone());
        let sum = self.sum(&self.code.cast(value, &wide));
        let count = self.code.cast(&self.tuples, &wide);
        let quotient = self.code.binary(BinaryOp::Div, &sum, &count);
        self.code.cast(&quotient, &value.ty)
    }

    fn last(&mut self, value: &Expr) -> Expr {
        let index = attribute(value);
        if index.is_some() && self.key.iter().any(|part| attribute(part) == index) {
            let of_key = self
                .code
                .variable(Some(self.tables.keys), "key", value.ty.clone());
            self.steps.added.push(self.code.set(&of_key, value.clone()));
            return of_key;
        }
        let [arrival, latest] = self.last_arrivals();
        let (part, pane) = self.kept_value(value);
        self.steps.later.push(self.code.set(&part, value.clone()));
        let change = vec![self.code.set(&pane, part)];
        let is_latest = self.code.compare(BinaryOp::Gt, &arrival, &latest);
        self.steps.merge_later.push(if_then(is_latest, change));
        pane
    }

    fn last_arrivals(&mut self) -> [Expr; 2] {
        let MergedTables { parts, keys } = self.tables;
        let new = || {
            [parts, keys].map(|table| self.code.variable(Some(table), "lastArrival", Type::Uint64))
        };
        self.last_arrivals.get_or_insert_with(new).clone()
    }

    /// Adds the statements that keep the arrivals of last tuples, behind those that compare them.
    fn keep_last_arrivals(&mut self) {
        let Some([arrival, latest]) = &self.last_arrivals else {
            return;
        };
        let keep = self.code.set(latest, arrival.clone());
        let is_latest = self.code.compare(BinaryOp::Gt, arrival, latest);
        self.steps.merge_first.push(keep.clone());
        self.steps.merge_later.push(if_then(is_latest, vec![keep]));
    }
}

/// The attribute of the tuple that an expression is.
fn attribute(e: &Expr) -> Option<u32> {
    match e.kind {
        ExprKind::Attribute { index, .. } => Some(index),
        _ => None,
    }
}
