//! Queries are evaluated by walking their trees: each expression gives a sequence.

mod compare;
mod construct;
mod flwor;
mod path;
mod types;

use std::rc::Rc;

use super::atomic::{Atomic, Type, calculate};
use super::item::{Item, Node, Sequence, at_most_one, nodes, ordered, truth};
use super::query::{Expr, Query, SetOp};
use super::{Failure, Outcome};

/// Sequences are so long at most: a query cannot use up the memory by a range.
const ITEMS_MAX: usize = 1 << 24;

/// What is at hand where an expression stands: the item of `.`, and its place among others.
#[derive(Clone, Debug)]
pub struct Focus {
    pub item: Item,
    /// From 1.
    pub position: usize,
    pub count: usize,
}

/// Evaluates a query.
struct Evaluator<'q> {
    /// The values of the variables that are bound, outermost first.
    variables: Vec<Rc<Sequence>>,
    external: &'q dyn Fn(&str) -> Option<String>,
}

/// What a query gives on a document.
pub fn run(
    query: &Query,
    document: Node,
    external: &dyn Fn(&str) -> Option<String>,
) -> Outcome<Sequence> {
    let focus = Focus {
        item: Item::Node(document),
        position: 1,
        count: 1,
    };
    let mut evaluator = Evaluator {
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

fn failure(why: impl Into<String>) -> Failure {
    Failure::Value(why.into())
}

/// A sequence of one value.
fn one(value: Atomic) -> Sequence {
    vec![Item::Atomic(value)]
}

impl Evaluator<'_> {
    fn eval(&mut self, expr: &Expr, focus: &Focus) -> Outcome<Sequence> {
        Ok(match expr {
            Expr::Literal(value) => one(value.clone()),
            Expr::Variable(at) => self.variables[*at].to_vec(),
            Expr::External(name) => one(self.external(name)?),
            Expr::Context => vec![focus.item.clone()],
            Expr::Sequence(all) => {
                let mut items = Vec::new();
                for expr in all {
                    append(&mut items, self.eval(expr, focus)?)?;
                }
                items
            }
            Expr::Range(bounds) => self.range(bounds, focus)?,
            Expr::Or(all) => one(Atomic::Boolean(self.any_is(true, all, focus)?)),
            Expr::And(all) => one(Atomic::Boolean(!self.any_is(false, all, focus)?)),
            Expr::Compare(how, operands) => self.compare(*how, operands, focus)?,
            Expr::Arithmetic(first, rest) => self.arithmetic(first, rest, focus)?,
            Expr::Negate(operand) => self.negate(operand, focus)?,
            Expr::Concat(all) => {
                let mut parts = Vec::with_capacity(all.len());
                for expr in all {
                    let part = self.eval(expr, focus)?;
                    parts.push(at_most_one(&part, "`||`")?.map_or(String::new(), Item::text));
                }
                one(Atomic::joined(parts, "")?)
            }
            Expr::Sets(first, rest) => self.sets(first, rest, focus)?,
            Expr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let holds = truth(&self.eval(condition, focus)?)?;
                self.eval(if holds { then } else { otherwise }, focus)?
            }
            Expr::Quantified(is_every, bindings, holds) => {
                let found = self.some(!is_every, bindings, holds, focus)?;
                one(Atomic::Boolean(found != *is_every))
            }
            Expr::Flwor(clauses, result) => self.flwor(clauses, result, focus)?,
            Expr::Path(start, steps) => self.path(*start, steps, focus)?,
            Expr::Filter(items, predicates) => {
                let items = self.eval(items, focus)?;
                self.filter(items, predicates)?
            }
            Expr::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.eval(argument, focus)?);
                }
                (function.eval)(focus, values)?
            }
            Expr::Element(element) => vec![Item::Node(self.element(element, focus)?)],
            Expr::Leaf(kind, name, parts) => {
                vec![Item::Node(self.leaf(*kind, name.as_ref(), parts, focus)?)]
            }
            Expr::Cast(operand, ty, may_be_empty) => {
                types::cast(&self.eval(operand, focus)?, *ty, *may_be_empty)?
            }
            Expr::Castable(operand, ty, may_be_empty) => {
                let cast = types::cast(&self.eval(operand, focus)?, *ty, *may_be_empty);
                one(Atomic::Boolean(cast.is_ok()))
            }
            Expr::Instance(operand, ty) => one(Atomic::Boolean(types::matches(
                &self.eval(operand, focus)?,
                ty,
            ))),
            Expr::Treat(operand, ty) => types::treat(self.eval(operand, focus)?, ty)?,
        })
    }

    /// The value of a variable from outside: text without a type.
    fn external(&self, name: &str) -> Outcome<Atomic> {
        match (self.external)(name) {
            Some(value) => Ok(Atomic::Untyped(value.into())),
            None => Err(failure(format!("the variable ${name} has no value"))),
        }
    }

    /// Whether one of the expressions is so.
    fn any_is(&mut self, wanted: bool, all: &[Expr], focus: &Focus) -> Outcome<bool> {
        for expr in all {
            if truth(&self.eval(expr, focus)?)? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether for some items of the bindings a condition is so.
    fn some(
        &mut self,
        wanted: bool,
        bindings: &[Expr],
        holds: &Expr,
        focus: &Focus,
    ) -> Outcome<bool> {
        let Some((first, rest)) = bindings.split_first() else {
            return Ok(truth(&self.eval(holds, focus)?)? == wanted);
        };
        for item in self.eval(first, focus)? {
            self.variables.push(Rc::new(vec![item]));
            let found = self.some(wanted, rest, holds, focus)?;
            self.variables.pop();
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The value of an operand; none if it is empty.
    fn value(&mut self, expr: &Expr, focus: &Focus, what: &str) -> Outcome<Option<Atomic>> {
        let items = self.eval(expr, focus)?;
        Ok(at_most_one(&items, what)?.map(Item::atomic))
    }

    fn range(&mut self, bounds: &[Expr; 2], focus: &Focus) -> Outcome<Sequence> {
        let mut ends = [0_i64; 2];
        for (end, bound) in ends.iter_mut().zip(bounds) {
            let Some(value) = self.value(bound, focus, "`to`")? else {
                return Ok(Vec::new());
            };
            match value.cast(Type::Integer)? {
                Atomic::Integer(n) if value.ty() != Type::Double => *end = n,
                _ => return Err(failure(format!("`{value}` is no bound of a range"))),
            }
        }
        let [first, last] = ends;
        let count = i128::from(last) - i128::from(first) + 1;
        if count > ITEMS_MAX as i128 {
            return Err(too_long());
        }
        let items = first..=last;
        Ok(items.map(|n| Item::Atomic(Atomic::Integer(n))).collect())
    }

    fn arithmetic(
        &mut self,
        first: &Expr,
        rest: &[(super::atomic::Arithmetic, Expr)],
        focus: &Focus,
    ) -> Outcome<Sequence> {
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

    fn negate(&mut self, operand: &Expr, focus: &Focus) -> Outcome<Sequence> {
        let Some(value) = self.value(operand, focus, "a sign")? else {
            return Ok(Vec::new());
        };
        Ok(one(match value.for_arithmetic()? {
            Atomic::Integer(n) => match n.checked_neg() {
                Some(n) => Atomic::Integer(n),
                None => return Err(failure("a number is too large")),
            },
            Atomic::Decimal(n) => Atomic::Decimal(-n),
            Atomic::Double(n) => Atomic::Double(-n),
            other => return Err(failure(format!("`{other}` is not a number"))),
        }))
    }

    fn sets(&mut self, first: &Expr, rest: &[(SetOp, Expr)], focus: &Focus) -> Outcome<Sequence> {
        let mut found = ordered(self.eval(first, focus)?, "a union")?;
        for (op, operand) in rest {
            let other = ordered(self.eval(operand, focus)?, "a union")?;
            let is_other = |node: &Node| {
                let place = other.binary_search_by_key(&node.place(), Node::place);
                place.is_ok()
            };
            match op {
                SetOp::Union => {
                    let all = found.into_iter().chain(other);
                    found = ordered(all.map(Item::Node).collect(), "a union")?;
                }
                SetOp::Intersect => found.retain(is_other),
                SetOp::Except => found.retain(|node| !is_other(node)),
            }
        }
        Ok(found.into_iter().map(Item::Node).collect())
    }

    /// The one node of an operand; none if it is empty.
    fn node(&mut self, expr: &Expr, focus: &Focus) -> Outcome<Option<Node>> {
        let items = self.eval(expr, focus)?;
        at_most_one(&items, "a comparison of nodes")?;
        Ok(nodes(items, "a comparison of nodes")?.pop())
    }
}

fn append(items: &mut Sequence, more: Sequence) -> Outcome<()> {
    if items.len() + more.len() > ITEMS_MAX {
        return Err(too_long());
    }
    items.extend(more);
    Ok(())
}

fn too_long() -> Failure {
    failure(format!("a sequence of more than {ITEMS_MAX} items"))
}
