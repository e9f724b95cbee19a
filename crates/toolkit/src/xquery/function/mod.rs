//! The functions that queries may call: one list a file.

mod node;
mod number;
mod sequence;
mod string;

use super::Outcome;
use super::atomic::Atomic;
use super::eval::Focus;
use super::item::{Item, Sequence, at_most_one};

/// A function of XPath.
#[derive(Debug)]
pub struct Function {
    pub name: &'static str,
    /// How many arguments it takes, at least and at most.
    pub least: usize,
    pub most: usize,
    pub eval: fn(&Focus, Vec<Sequence>) -> Outcome<Sequence>,
}

const LISTS: [&[Function]; 4] = [
    node::FUNCTIONS,
    number::FUNCTIONS,
    sequence::FUNCTIONS,
    string::FUNCTIONS,
];

/// The function of a name that takes so many arguments.
///
/// # Errors
/// A sentence that names the function.
pub fn find(name: &str, count: usize) -> Result<&'static Function, String> {
    let mut all = LISTS.iter().flat_map(|list| list.iter());
    let Some(function) = all.find(|function| function.name == name) else {
        return Err(format!("there is no function `{name}`"));
    };
    match (function.least..=function.most).contains(&count) {
        true => Ok(function),
        false => Err(format!("`{name}` does not take {count} arguments")),
    }
}

const fn function(
    name: &'static str,
    least: usize,
    most: usize,
    eval: fn(&Focus, Vec<Sequence>) -> Outcome<Sequence>,
) -> Function {
    Function {
        name,
        least,
        most,
        eval,
    }
}

fn one(value: Atomic) -> Outcome<Sequence> {
    Ok(vec![Item::Atomic(value)])
}

fn boolean(value: bool) -> Outcome<Sequence> {
    one(Atomic::Boolean(value))
}

fn integer(n: usize) -> Outcome<Sequence> {
    one(Atomic::Integer(n as i64))
}

fn text(text: &str) -> Outcome<Sequence> {
    one(Atomic::text(text))
}

/// The text of an argument; empty if there is nothing in it.
fn string(arguments: &[Sequence], at: usize) -> Outcome<String> {
    let item = at_most_one(&arguments[at], "a text")?;
    Ok(item.map_or(String::new(), Item::text))
}

/// The number of an argument; none if there is nothing in it.
fn number(arguments: &[Sequence], at: usize) -> Outcome<Option<Atomic>> {
    let item = at_most_one(&arguments[at], "a number")?;
    item.map(|item| numeric(&item.atomic())).transpose()
}

/// A value that must be a number.
fn numeric(value: &Atomic) -> Outcome<Atomic> {
    let number = value.clone().for_arithmetic()?;
    match number.is_number() {
        true => Ok(number),
        false => Err(failure(format!("`{value}` is not a number"))),
    }
}

/// The number of an argument that must be there, as a double.
fn double(arguments: &[Sequence], at: usize) -> Outcome<f64> {
    match number(arguments, at)? {
        Some(number) => Ok(number.number()),
        None => Err(failure("a number is missing")),
    }
}

/// The first argument; what is at hand if there is none.
fn or_context(focus: &Focus, mut arguments: Vec<Sequence>) -> Sequence {
    match arguments.is_empty() {
        true => vec![focus.item.clone()],
        false => arguments.swap_remove(0),
    }
}

fn failure(why: impl Into<String>) -> super::Failure {
    super::Failure::Value(why.into())
}
