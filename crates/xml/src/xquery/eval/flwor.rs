//! FLWOR expressions: bindings are made one after the other, depth first; only `order by` needs all
//! of them at once.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::atomic_value::{AtomicType, AtomicValue};
use super::super::failure::QueryResult;
use super::super::focus::Focus;
use super::super::item::{Item, Sequence, at_most_one, effective_boolean_value, singleton};
use super::super::query::{FlworClause, OrderSpec, QueryExpr};
use super::evaluator::QueryEvaluator;
use super::sequence_limit::append;

/// Destination of each set of bindings.
enum BindingSink<'s> {
    /// The result for the bindings is evaluated and added here.
    Result(&'s QueryExpr, &'s mut Sequence),
    /// The bindings are kept here with their keys.
    Sorted(&'s [OrderSpec], &'s mut Vec<SortableBinding>),
}

/// A set of bindings with the keys that it is sorted by.
struct SortableBinding {
    keys: Vec<Option<AtomicValue>>,
    variables: Vec<Rc<Sequence>>,
}

impl QueryEvaluator<'_> {
    pub(super) fn flwor(
        &mut self,
        clauses: &[FlworClause],
        result: &QueryExpr,
        focus: &Focus,
    ) -> QueryResult<Sequence> {
        let mut items = Vec::new();
        self.bind(clauses, &mut BindingSink::Result(result, &mut items), focus)?;
        Ok(items)
    }

    fn bind(
        &mut self,
        clauses: &[FlworClause],
        sink: &mut BindingSink<'_>,
        focus: &Focus,
    ) -> QueryResult<()> {
        // The last `order by` sorts the bindings of all clauses before it: clauses are split there.
        let sorted = clauses
            .iter()
            .rposition(|clause| matches!(clause, FlworClause::OrderBy(_)));
        let Some(at) = sorted else {
            return self.bind_in_order(clauses, sink, focus);
        };
        let FlworClause::OrderBy(keys) = &clauses[at] else {
            return Ok(());
        };
        let known = self.variables.len();
        let mut all = Vec::new();
        self.bind(
            &clauses[..at],
            &mut BindingSink::Sorted(keys, &mut all),
            focus,
        )?;
        sort(&mut all, keys)?;
        for bound in all {
            self.variables.truncate(known);
            self.variables
                .extend(bound.variables.into_iter().skip(known));
            self.bind_in_order(&clauses[at + 1..], sink, focus)?;
        }
        self.variables.truncate(known);
        Ok(())
    }

    fn bind_in_order(
        &mut self,
        clauses: &[FlworClause],
        sink: &mut BindingSink<'_>,
        focus: &Focus,
    ) -> QueryResult<()> {
        let Some((clause, rest)) = clauses.split_first() else {
            return self.add_binding(sink, focus);
        };
        let known = self.variables.len();
        match clause {
            FlworClause::Let(value) => {
                let value = self.eval(value, focus)?;
                self.variables.push(Rc::new(value));
                self.bind_in_order(rest, sink, focus)?;
            }
            FlworClause::For(items, has_place) => {
                for (at, item) in self.eval(items, focus)?.into_iter().enumerate() {
                    self.variables.push(Rc::new(vec![item]));
                    if *has_place {
                        let place = singleton(AtomicValue::Integer(at as i64 + 1));
                        self.variables.push(Rc::new(place));
                    }
                    self.bind_in_order(rest, sink, focus)?;
                    self.variables.truncate(known);
                }
            }
            FlworClause::Where(condition) => {
                if effective_boolean_value(&self.eval(condition, focus)?)? {
                    self.bind_in_order(rest, sink, focus)?;
                }
            }
            FlworClause::OrderBy(_) => {}
        }
        self.variables.truncate(known);
        Ok(())
    }

    /// Ends a set of bindings after the last clause.
    fn add_binding(&mut self, sink: &mut BindingSink<'_>, focus: &Focus) -> QueryResult<()> {
        match sink {
            BindingSink::Result(result, items) => {
                let more = self.eval(result, focus)?;
                append(items, more)
            }
            BindingSink::Sorted(wanted, all) => {
                let mut keys = Vec::with_capacity(wanted.len());
                for key in *wanted {
                    keys.push(self.key(key, focus)?);
                }
                let variables = self.variables.clone();
                all.push(SortableBinding { keys, variables });
                Ok(())
            }
        }
    }

    /// Evaluates a key; untyped values are sorted as texts.
    fn key(&mut self, key: &OrderSpec, focus: &Focus) -> QueryResult<Option<AtomicValue>> {
        let items = self.eval(&key.value, focus)?;
        let value = at_most_one(&items, "`order by`")?.map(Item::atomize);
        match value {
            Some(value) if value.ty() == AtomicType::Untyped => {
                value.cast(AtomicType::String).map(Some)
            }
            value => Ok(value),
        }
    }
}

/// Sorts bindings by their keys; bindings with equal keys stay in their order.
fn sort(all: &mut [SortableBinding], keys: &[OrderSpec]) -> QueryResult<()> {
    // A comparison within a sort cannot fail, so all are checked to be comparable before.
    for at in 0..keys.len() {
        let mut found = all.iter().filter_map(|bound| bound.keys[at].as_ref());
        if let Some(first) = found.next() {
            for other in found {
                first.compare(other)?;
            }
        }
    }
    all.sort_by(|a, b| {
        let pairs = keys.iter().zip(a.keys.iter().zip(&b.keys));
        let mut orders = pairs.map(|(key, (a, b))| {
            let order = compare_keys(key, a.as_ref(), b.as_ref());
            if key.is_descending {
                order.reverse()
            } else {
                order
            }
        });
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    Ok(())
}

/// Compares two keys: empty ones come first, then NaN, then the others; with `empty greatest`,
/// empty ones and NaN come last.
fn compare_keys(key: &OrderSpec, a: Option<&AtomicValue>, b: Option<&AtomicValue>) -> Ordering {
    let rank = |value: Option<&AtomicValue>| match value {
        None => 0,
        Some(AtomicValue::Double(n)) if n.is_nan() => 1,
        Some(_) => 2,
    };
    match (rank(a), rank(b)) {
        (2, 2) => match (a, b) {
            (Some(a), Some(b)) => a.compare(b).ok().flatten().unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        },
        (a, b) if key.is_empty_greatest => b.cmp(&a),
        (a, b) => a.cmp(&b),
    }
}
