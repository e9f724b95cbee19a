//! Aggregates of parts of a window that merge into those of larger parts: sums of floats, extremes.
//!
//! An aggregate is one to three values. That of no items is such that merging it changes nothing:
//!
//! | | values | of no items |
//! | --- | --- | --- |
//! | sum | sum | -0.0 |
//! | greatest | value | the least of the type |
//! | least | value | the greatest of the type |
//! | either, with a second argument | value, what came with it, presence | any, any, false |
//!
//! A NaN surpasses no value and is not surpassed, but is the extreme while it is the oldest of all:
//! aggregates leave it out.

use graph::{BinaryOp, Expr, ExprKind, Stmt, TableId};
use tuple::{Type, Value};

use super::SlidingLowering;
use crate::lower;

/// How the items of a part become one aggregate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregation {
    Sum,
    Greatest,
    Least,
}

/// The aggregates of a window that one function, or several of the same arguments, need.
pub(super) struct PartAggregates {
    aggregation: Aggregation,
    /// Index of the item's field that is aggregated.
    value: usize,
    /// Index of the field that comes with an extreme.
    other: Option<usize>,
    /// From the current item to the end of F, as [`super::blocks`] calls the parts.
    pub(super) suffix: Vec<Expr>,
    /// R, B and C.
    pub(super) rest: Vec<Expr>,
    pub(super) filled: Vec<Expr>,
    pub(super) filling: Vec<Expr>,
    /// Aggregate of the current block, if windows have several.
    pub(super) block: Vec<Expr>,
    /// Local variables: the result, and a part that grows.
    pub(super) result: Vec<Expr>,
    pub(super) part: Vec<Expr>,
}

impl SlidingLowering<'_> {
    /// The values of an aggregate's result, which is added if there is none alike.
    pub(super) fn aggregate(
        &mut self,
        aggregation: Aggregation,
        value: &Expr,
        other: Option<&Expr>,
    ) -> Vec<Expr> {
        let value = self.field(value);
        let other = other.map(|other| self.field(other));
        let is_it = |known: &&PartAggregates| {
            (known.aggregation, known.value, known.other) == (aggregation, value, other)
        };
        if let Some(known) = self.aggregates.iter().find(is_it) {
            return known.result.clone();
        }
        let types = self.aggregate_types(value, other);
        let (home, items) = (self.home, Some(self.items));
        let aggregate = PartAggregates {
            aggregation,
            value,
            other,
            suffix: self.variables(items, "suffix", &types),
            rest: self.variables(home, "rest", &types),
            filled: self.variables(home, "filled", &types),
            filling: self.variables(home, "filling", &types),
            block: Vec::new(),
            result: self.locals("result", &types),
            part: self.locals("part", &types),
        };
        let result = aggregate.result.clone();
        self.aggregates.push(aggregate);
        result
    }

    /// Types of the values of an aggregate.
    fn aggregate_types(&self, value: usize, other: Option<usize>) -> Vec<Type> {
        let ty = |field: usize| self.fields[field].kept.ty.clone();
        let mut types = vec![ty(value)];
        types.extend(other.map(ty));
        if other.is_some() {
            types.push(Type::Boolean);
        }
        types
    }

    /// Variables of a table, or of the operator.
    pub(super) fn variables(
        &mut self,
        table: Option<TableId>,
        name: &str,
        types: &[Type],
    ) -> Vec<Expr> {
        let types = types.iter();
        types
            .map(|ty| self.code.variable(table, name, ty.clone()))
            .collect()
    }

    fn locals(&mut self, name: &str, types: &[Type]) -> Vec<Expr> {
        let types = types.iter();
        types
            .map(|ty| self.code.local(name, ty.clone()).1)
            .collect()
    }

    /// Statements that declare the local variables of all aggregates.
    pub(super) fn declare_locals(&self) -> Vec<Stmt> {
        let aggregates = self.aggregates.iter();
        let locals = aggregates.flat_map(|of| of.result.iter().chain(&of.part));
        let declare = |local: &Expr| match local.kind {
            ExprKind::Local(id) => Stmt::Let(id, None),
            _ => unreachable!("a local variable"),
        };
        locals.map(declare).collect()
    }

    /// Sets an aggregate to that of the arriving tuple's item.
    pub(super) fn set_to_arriving(&self, aggregate: &PartAggregates, to: &[Expr]) -> Vec<Stmt> {
        let arriving = |field: usize| self.fields[field].arriving.clone();
        self.set_to_item(aggregate, to, arriving)
    }

    /// Sets an aggregate to that of the current item.
    pub(super) fn set_to_current(&self, aggregate: &PartAggregates, to: &[Expr]) -> Vec<Stmt> {
        let kept = |field: usize| self.fields[field].kept.clone();
        self.set_to_item(aggregate, to, kept)
    }

    fn set_to_item(
        &self,
        aggregate: &PartAggregates,
        to: &[Expr],
        field: impl Fn(usize) -> Expr,
    ) -> Vec<Stmt> {
        let value = field(aggregate.value);
        if let Some(other) = aggregate.other {
            let is_ordered = self.code.compare(BinaryOp::Eq, &value, &value);
            return self.set_all(to, &[value, field(other), is_ordered]);
        }
        if aggregate.aggregation == Aggregation::Sum || !value.ty.is_float() {
            return self.set_all(to, &[value]);
        }
        let mut stmts = self.set_to_none(aggregate, to);
        stmts.extend(self.merge(aggregate, to, &[value]));
        stmts
    }

    /// Sets an aggregate to that of no items.
    pub(super) fn set_to_none(&self, aggregate: &PartAggregates, to: &[Expr]) -> Vec<Stmt> {
        let first = none_value(aggregate.aggregation, &to[0].ty);
        let mut values = vec![lower::constant(first, to[0].ty.clone(), self.code.pos)];
        let others = to[1..].iter();
        values.extend(others.map(|to| lower::default_value(&to.ty, self.code.pos)));
        self.set_all(to, &values)
    }

    pub(super) fn set_all(&self, to: &[Expr], values: &[Expr]) -> Vec<Stmt> {
        let pairs = to.iter().zip(values);
        pairs
            .map(|(to, value)| self.code.set(to, value.clone()))
            .collect()
    }

    /// Merges an aggregate of later items into one.
    pub(super) fn merge(
        &self,
        aggregate: &PartAggregates,
        to: &[Expr],
        later: &[Expr],
    ) -> Vec<Stmt> {
        let surpasses = match aggregate.aggregation {
            Aggregation::Sum => {
                let sum = self.code.binary(BinaryOp::Add, &to[0], &later[0]);
                return vec![self.code.set(&to[0], sum)];
            }
            Aggregation::Greatest => BinaryOp::Gt,
            Aggregation::Least => BinaryOp::Lt,
        };
        let is_better = self.code.compare(surpasses, &later[0], &to[0]);
        let take = |condition| Stmt::If(condition, self.set_all(to, later), Vec::new());
        let mut stmts = vec![take(is_better)];
        if let [_, _, is_there] = to {
            stmts.push(take(self.code.equals(is_there, Value::Boolean(false))));
        }
        stmts
    }

    /// Adds the statements that merge all results, with the oldest item as the current one.
    pub(super) fn merge_results(&self, stmts: &mut Vec<Stmt>) {
        for aggregate in &self.aggregates {
            let result = &aggregate.result;
            stmts.extend(self.set_all(result, &aggregate.suffix));
            for part in [&aggregate.rest, &aggregate.filled, &aggregate.filling] {
                stmts.extend(self.merge(aggregate, result, part));
            }
            let oldest = &self.fields[aggregate.value].kept;
            if aggregate.aggregation != Aggregation::Sum && oldest.ty.is_float() {
                let is_unordered = self.code.compare(BinaryOp::Ne, oldest, oldest);
                let fields = [Some(aggregate.value), aggregate.other];
                let fields = fields.into_iter().flatten();
                let values: Vec<Expr> = fields.map(|at| self.fields[at].kept.clone()).collect();
                let take = self.set_all(result, &values);
                stmts.push(Stmt::If(is_unordered, take, Vec::new()));
            }
        }
    }
}

/// The first value of the aggregate of no items.
fn none_value(aggregation: Aggregation, ty: &Type) -> Value {
    let is_greatest = aggregation == Aggregation::Greatest;
    macro_rules! farthest {
        ($int:ty) => {
            if is_greatest {
                <$int>::MIN
            } else {
                <$int>::MAX
            }
        };
    }
    match (aggregation, ty) {
        (Aggregation::Sum, Type::Float32) => Value::Float32(-0.0),
        (Aggregation::Sum, _) => Value::Float64(-0.0),
        (_, Type::Float32) if is_greatest => Value::Float32(f32::NEG_INFINITY),
        (_, Type::Float32) => Value::Float32(f32::INFINITY),
        (_, Type::Float64) if is_greatest => Value::Float64(f64::NEG_INFINITY),
        (_, Type::Float64) => Value::Float64(f64::INFINITY),
        (_, Type::Int8) => Value::Int8(farthest!(i8)),
        (_, Type::Int16) => Value::Int16(farthest!(i16)),
        (_, Type::Int32) => Value::Int32(farthest!(i32)),
        (_, Type::Int64) => Value::Int64(farthest!(i64)),
        (_, Type::Uint8) => Value::Uint8(farthest!(u8)),
        (_, Type::Uint16) => Value::Uint16(farthest!(u16)),
        (_, Type::Uint32) => Value::Uint32(farthest!(u32)),
        (_, Type::Uint64) => Value::Uint64(farthest!(u64)),
        (_, other) => unreachable!("{other} is not compared"),
    }
}
