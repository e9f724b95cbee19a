//! The functions that queries may call: one list a file.

mod node;
mod number;
mod sequence;
mod string;

use super::QueryResult;
use super::atomic_value::AtomicValue;
use super::eval::Focus;
use super::item::{Item, Sequence, at_most_one};

/// A function of XPath.
#[derive(Debug)]
pub struct XPathFunction {
    pub name: &'static str,
    /// How many arguments it takes, at least and at most.
    pub arity_min: usize,
    pub arity_max: usize,
    pub eval: fn(&Focus, Vec<Sequence>) -> QueryResult<Sequence>,
}

const LISTS: [&[XPathFunction]; 4] = [
    node::FUNCTIONS,
    number::FUNCTIONS,
    sequence::FUNCTIONS,
    string::FUNCTIONS,
];

/// The function of a name that takes so many arguments.
///
/// # Errors
/// A sentence that names the function.
pub fn find(name: &str, count: usize) -> Result<&'static XPathFunction, String> {
    let mut all = LISTS.iter().flat_map(|list| list.iter());
    let Some(function) = all.find(|function| function.name == name) else {
        return Err(format!("there is no function `{name}`"));
    };
    match (function.arity_min..=function.arity_max).contains(&count) {
        true => Ok(function),
        false => Err(format!("`{name}` does not take {count} arguments")),
    }
}

const fn function(
    name: &'static str,
    least: usize,
    most: usize,
    eval: fn(&Focus, Vec<Sequence>) -> QueryResult<Sequence>,
) -> XPathFunction {
    XPathFunction {
        name,
        arity_min: least,
        arity_max: most,
        eval,
    }
}

fn singleton(value: AtomicValue) -> QueryResult<Sequence> {
    Ok(vec![Item::Atomic(value)])
}

fn boolean(value: bool) -> QueryResult<Sequence> {
    singleton(AtomicValue::Boolean(value))
}

fn integer(n: usize) -> QueryResult<Sequence> {
    singleton(AtomicValue::Integer(n as i64))
}

fn text(text: &str) -> QueryResult<Sequence> {
    singleton(AtomicValue::text(text))
}

/// The text of an argument; empty if there is nothing in it.
fn string(arguments: &[Sequence], at: usize) -> QueryResult<String> {
    let item = at_most_one(&arguments[at], "a text")?;
    Ok(item.map_or(String::new(), Item::text))
}

/// The number of an argument; none if there is nothing in it.
fn number(arguments: &[Sequence], at: usize) -> QueryResult<Option<AtomicValue>> {
    let item = at_most_one(&arguments[at], "a number")?;
    item.map(|item| numeric(&item.atomize())).transpose()
}

/// A value that must be a number.
fn numeric(value: &AtomicValue) -> QueryResult<AtomicValue> {
    let number = value.clone().into_arithmetic()?;
    match number.is_number() {
        true => Ok(number),
        false => Err(failure(format!("`{value}` is not a number"))),
    }
}

/// The number of an argument that must be there, as a double.
fn double(arguments: &[Sequence], at: usize) -> QueryResult<f64> {
    match number(arguments, at)? {
        Some(number) => Ok(number.to_number()),
        None => Err(failure("a number is missing")),
    }
}

/// The first argument; what is at hand if there is none.
fn first_or_context(focus: &Focus, mut arguments: Vec<Sequence>) -> Sequence {
    match arguments.is_empty() {
        true => vec![focus.item.clone()],
        false => arguments.swap_remove(0),
    }
}

fn failure(why: impl Into<String>) -> super::QueryFailure {
    super::QueryFailure::Value(why.into())
}
