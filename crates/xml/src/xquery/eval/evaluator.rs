//! The evaluator: expressions in, sequences out.

use std::rc::Rc;

use super::super::atomic_value::{ArithmeticOp, AtomicType, AtomicValue, calculate};
use super::super::failure::{QueryResult, failure};
use super::super::focus::Focus;
use super::super::item::{
    Item, Sequence, at_most_one, effective_boolean_value, in_document_order, nodes, singleton,
};
use super::super::query::{NodeSetOp, QueryExpr, XQuery};
use super::super::xml_node::XmlNode;
use super::sequence_limit::{ITEMS_MAX, append, too_long};
use super::types;

/// State of the evaluation of a query.
pub(super) struct QueryEvaluator<'q> {
    /// Values of the bound variables, outermost first.
    pub(super) variables: Vec<Rc<Sequence>>,
    external: &'q dyn Fn(&str) -> Option<String>,
}

/// Evaluates a query on a document. `external` gives the values of external variables.
///
/// # Errors
/// The first failure of an expression.
pub(in super::super) fn evaluate(
    query: &XQuery,
    document: XmlNode,
    external: &dyn Fn(&str) -> Option<String>,
) -> QueryResult<Sequence> {
    let focus = Focus {
        item: Item::Node(document),
        position: 1,
        count: 1,
    };
    let mut evaluator = QueryEvaluator {
        variables: Vec::new(),
        external,
    };
    for declared in &query.variables {
        let value = match (&declared.value, &declared.ty) {
            (Some(value), None) => evaluator.eval(value, &focus)?,
            (Some(value), Some(ty)) => types::treat(evaluator.eval(value, &focus)?, ty)?,
            (None, ty) => types::external(evaluator.external(&declared.name)?, ty.as_ref())?,
        };
        evaluator.variables.push(Rc::new(value));
    }
    evaluator.eval(&query.body, &focus)
}

impl QueryEvaluator<'_> {
    pub(super) fn eval(&mut self, expr: &QueryExpr, focus: &Focus) -> QueryResult<Sequence> {
        Ok(match expr {
            QueryExpr::Literal(value) => singleton(value.clone()),
            QueryExpr::Variable(at) => self.variables[*at].to_vec(),
            QueryExpr::External(name) => singleton(self.external(name)?),
            QueryExpr::Context => vec![focus.item.clone()],
            QueryExpr::Sequence(all) => {
                let mut items = Vec::new();
                for expr in all {
                    append(&mut items, self.eval(expr, focus)?)?;
                }
                items
            }
            QueryExpr::Range(bounds) => self.range(bounds, focus)?,
            QueryExpr::Or(all) => singleton(AtomicValue::Boolean(
                self.any_evaluates_to(true, all, focus)?,
            )),
            QueryExpr::And(all) => singleton(AtomicValue::Boolean(
                !self.any_evaluates_to(false, all, focus)?,
            )),
            QueryExpr::Compare(how, operands) => self.compare(*how, operands, focus)?,
            QueryExpr::Arithmetic(first, rest) => self.arithmetic(first, rest, focus)?,
            QueryExpr::Negate(operand) => self.negate(operand, focus)?,
            QueryExpr::Concat(all) => {
                let mut parts = Vec::with_capacity(all.len());
                for expr in all {
                    let part = self.eval(expr, focus)?;
                    parts.push(at_most_one(&part, "`||`")?.map_or(String::new(), Item::text));
                }
                singleton(AtomicValue::join_texts(parts, "")?)
            }
            QueryExpr::Sets(first, rest) => self.set_operations(first, rest, focus)?,
            QueryExpr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let holds = effective_boolean_value(&self.eval(condition, focus)?)?;
                self.eval(if holds { then } else { otherwise }, focus)?
            }
            QueryExpr::Quantified(is_every, bindings, holds) => {
                let found = self.any_binding_satisfies(!is_every, bindings, holds, focus)?;
                singleton(AtomicValue::Boolean(found != *is_every))
            }
            QueryExpr::Flwor(clauses, result) => self.flwor(clauses, result, focus)?,
            QueryExpr::Path(start, steps) => self.path(*start, steps, focus)?,
            QueryExpr::Filter(items, predicates) => {
                let items = self.eval(items, focus)?;
                self.filter(items, predicates)?
            }
            QueryExpr::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| self.eval(argument, focus));
                (function.eval)(focus, values.collect::<Result<_, _>>()?)?
            }
            QueryExpr::Element(element) => vec![Item::Node(self.element(element, focus)?)],
            QueryExpr::Leaf(kind, name, parts) => {
                vec![Item::Node(self.leaf(*kind, name.as_ref(), parts, focus)?)]
            }
            QueryExpr::Cast(operand, ty, may_be_empty) => {
                types::cast(&self.eval(operand, focus)?, *ty, *may_be_empty)?
            }
            QueryExpr::Castable(operand, ty, may_be_empty) => {
                let cast = types::cast(&self.eval(operand, focus)?, *ty, *may_be_empty);
                singleton(AtomicValue::Boolean(cast.is_ok()))
            }
            QueryExpr::Instance(operand, ty) => singleton(AtomicValue::Boolean(types::matches(
                &self.eval(operand, focus)?,
                ty,
            ))),
            QueryExpr::Treat(operand, ty) => types::treat(self.eval(operand, focus)?, ty)?,
        })
    }

    /// The value of a variable from outside: text without a type.
    fn external(&self, name: &str) -> QueryResult<AtomicValue> {
        match (self.external)(name) {
            Some(value) => Ok(AtomicValue::Untyped(value.into())),
            None => Err(failure(format!("the variable ${name} has no value"))),
        }
    }

    /// Whether one of the expressions is so.
    fn any_evaluates_to(
        &mut self,
        wanted: bool,
        all: &[QueryExpr],
        focus: &Focus,
    ) -> QueryResult<bool> {
        for expr in all {
            if effective_boolean_value(&self.eval(expr, focus)?)? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a condition has the wanted value for some items of the bindings.
    fn any_binding_satisfies(
        &mut self,
        wanted: bool,
        bindings: &[QueryExpr],
        holds: &QueryExpr,
        focus: &Focus,
    ) -> QueryResult<bool> {
        let Some((first, rest)) = bindings.split_first() else {
            return Ok(effective_boolean_value(&self.eval(holds, focus)?)? == wanted);
        };
        for item in self.eval(first, focus)? {
            self.variables.push(Rc::new(vec![item]));
            let found = self.any_binding_satisfies(wanted, rest, holds, focus)?;
            self.variables.pop();
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The value of an operand; `None` if it is empty.
    pub(super) fn value(
        &mut self,
        expr: &QueryExpr,
        focus: &Focus,
        what: &str,
    ) -> QueryResult<Option<AtomicValue>> {
        let items = self.eval(expr, focus)?;
        Ok(at_most_one(&items, what)?.map(Item::atomize))
    }

    fn range(&mut self, bounds: &[QueryExpr; 2], focus: &Focus) -> QueryResult<Sequence> {
        let mut ends = [0_i64; 2];
        for (end, bound) in ends.iter_mut().zip(bounds) {
            let Some(value) = self.value(bound, focus, "`to`")? else {
                return Ok(Vec::new());
            };
            match value.cast(AtomicType::Integer)? {
                AtomicValue::Integer(n) if value.ty() != AtomicType::Double => *end = n,
                _ => return Err(failure(format!("`{value}` is no bound of a range"))),
            }
        }
        let [first, last] = ends;
        let count = i128::from(last) - i128::from(first) + 1;
        if count > ITEMS_MAX as i128 {
            return Err(too_long());
        }
        let items = first..=last;
        Ok(items
            .map(|n| Item::Atomic(AtomicValue::Integer(n)))
            .collect())
    }

    fn arithmetic(
        &mut self,
        first: &QueryExpr,
        rest: &[(ArithmeticOp, QueryExpr)],
        focus: &Focus,
    ) -> QueryResult<Sequence> {
        let mut result = self.value(first, focus, "arithmetic")?;
        for (op, operand) in rest {
            let operand = self.value(operand, focus, "arithmetic")?;
            result = match (result, operand) {
                (Some(a), Some(b)) => Some(calculate(*op, a, b)?),
                _ => None,
            };
        }
        Ok(result.into_iter().map(Item::Atomic).collect())
    }

    fn negate(&mut self, operand: &QueryExpr, focus: &Focus) -> QueryResult<Sequence> {
        let Some(value) = self.value(operand, focus, "a sign")? else {
            return Ok(Vec::new());
        };
        Ok(singleton(match value.into_arithmetic()? {
            AtomicValue::Integer(n) => match n.checked_neg() {
                Some(n) => AtomicValue::Integer(n),
                None => return Err(failure("a number is too large")),
            },
            AtomicValue::Decimal(n) => AtomicValue::Decimal(-n),
            AtomicValue::Double(n) => AtomicValue::Double(-n),
            other => return Err(failure(format!("`{other}` is not a number"))),
        }))
    }

    fn set_operations(
        &mut self,
        first: &QueryExpr,
        rest: &[(NodeSetOp, QueryExpr)],
        focus: &Focus,
    ) -> QueryResult<Sequence> {
        let mut found = in_document_order(self.eval(first, focus)?, "a union")?;
        for (op, operand) in rest {
            let other = in_document_order(self.eval(operand, focus)?, "a union")?;
            let is_other = |node: &XmlNode| {
                let place = other
                    .binary_search_by_key(&node.document_position(), XmlNode::document_position);
                place.is_ok()
            };
            match op {
                NodeSetOp::Union => {
                    let all = found.into_iter().chain(other);
                    found = in_document_order(all.map(Item::Node).collect(), "a union")?;
                }
                NodeSetOp::Intersect => found.retain(is_other),
                NodeSetOp::Except => found.retain(|node| !is_other(node)),
            }
        }
        Ok(found.into_iter().map(Item::Node).collect())
    }

    /// The only node of an operand; `None` if it is empty.
    pub(super) fn node(&mut self, expr: &QueryExpr, focus: &Focus) -> QueryResult<Option<XmlNode>> {
        let items = self.eval(expr, focus)?;
        at_most_one(&items, "a comparison of nodes")?;
        Ok(nodes(items, "a comparison of nodes")?.pop())
    }
}
