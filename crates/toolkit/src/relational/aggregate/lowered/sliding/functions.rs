//! Output functions of a sliding window: what each keeps, and its result.

use graph::{BinaryOp, Expr, ExprKind, OutputCall};
use tuple::{Type, Value};

use super::part_aggregates::Aggregation;
use super::{ItemField, RetractedSum, SlidingLowering};
use crate::relational::aggregate::lowered::functions::sum_type;
use crate::relational::aggregate::lowered::wide_mean::{self, SummedPart};

impl SlidingLowering<'_> {
    /// Adds what a call keeps, and returns the expression of its result when the window fires.
    pub(super) fn call(&mut self, call: &OutputCall) -> Expr {
        self.code.pos = call.pos;
        let arguments = call.args.iter().map(|arg| self.code.argument(arg));
        let arguments: Vec<Expr> = arguments.collect();
        match (&*call.function, &arguments[..]) {
            ("Count", _) => self.code.cast(&self.count.clone(), &Type::Int32),
            ("CountAll", _) => self.count_all(),
            ("CountGroups", _) => self.code.constant(Value::Int32(1)),
            ("First", [value]) => {
                let field = self.field(value);
                self.fields[field].kept.clone()
            }
            ("Max", [value]) => self.aggregate(Aggregation::Greatest, value, None)[0].clone(),
            ("Min", [value]) => self.aggregate(Aggregation::Least, value, None)[0].clone(),
            ("ArgMax", [value, other]) => {
                self.aggregate(Aggregation::Greatest, value, Some(other))[1].clone()
            }
            ("ArgMin", [value, other]) => {
                self.aggregate(Aggregation::Least, value, Some(other))[1].clone()
            }
            ("Sum", [value]) => self.sum(value, SummedPart::Whole, &value.ty),
            ("Average", [value]) if wide_mean::needs_two_sums(&value.ty) => {
                let high = self.sum(value, SummedPart::High, &value.ty);
                let low = self.sum(value, SummedPart::Low, &Type::Uint64);
                wide_mean::mean(self.code, &high, &low, &self.count)
            }
            ("Average", [value]) => {
                let wide = sum_type(&value.ty).unwrap_or_else(|| value.ty.clone());
                let sum = self.sum(value, SummedPart::Whole, &wide);
                let count = self.code.cast(&self.count.clone(), &wide);
                let quotient = self.code.binary(BinaryOp::Div, &sum, &count);
                self.code.cast(&quotient, &value.ty)
            }
            // The newest tuple is the one that is here.
            (_, [value, ..]) => value.clone(),
            (name, []) => unreachable!("{name} is no function without an argument"),
        }
    }

    /// The sum of values in a type: of integers by retraction, of floats by blocks.
    fn sum(&mut self, value: &Expr, part: SummedPart, ty: &Type) -> Expr {
        if !ty.is_integral() {
            return self.aggregate(Aggregation::Sum, value, None)[0].clone();
        }
        let field = self.field(value);
        let is_it =
            |known: &&RetractedSum| (known.field, known.part, &known.sum.ty) == (field, part, ty);
        if let Some(known) = self.sums.iter().find(is_it) {
            return known.sum.clone();
        }
        let sum = self.code.variable(self.home, "sum", ty.clone());
        self.sums.push(RetractedSum {
            sum: sum.clone(),
            field,
            part,
        });
        sum
    }

    /// Index of the field of an argument, which items keep.
    pub(super) fn field(&mut self, value: &Expr) -> usize {
        let is_it = |known: &ItemField| is_same_attribute(&known.arriving, value);
        if let Some(known) = self.fields.iter().position(is_it) {
            return known;
        }
        let kept = self
            .code
            .variable(Some(self.items), "value", value.ty.clone());
        self.fields.push(ItemField {
            arriving: value.clone(),
            kept,
        });
        self.fields.len() - 1
    }

    fn count_all(&mut self) -> Expr {
        let all = match &self.all {
            Some(all) => all.clone(),
            None => self.code.variable(None, "all", Type::Uint32),
        };
        self.all = Some(all.clone());
        self.code.cast(&all, &Type::Int32)
    }
}

/// Whether two expressions are the same attribute of the tuple.
fn is_same_attribute(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (
            ExprKind::Attribute {
                index: a,
                history: 0,
                ..
            },
            ExprKind::Attribute {
                index: b,
                history: 0,
                ..
            },
        ) => a == b,
        _ => false,
    }
}
