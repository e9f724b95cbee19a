//! `spl.XML`: conversion to xml, and queries.

use eval::ops::check_xml;
use eval::{Fault, NativeCall, NativeFn, WrongArgument};
use tuple::{RString, Type, Value};
use xml::xquery::{self, QueryFailure};

use super::arguments::{NativeArguments, check_text};
use super::entry::{NativeEval, native};

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[FUNCTIONS];

const fn xml(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("spl.XML", prototype, doc, eval)
}

const FUNCTIONS: &[NativeFn] = &[
    xml(
        "<xml X> boolean isDefaultValue(X val)",
        "Whether a value of type xml was never assigned a document.",
        |c| match c.arg(0) {
            Value::Xml(text) => Ok(Value::Boolean(text.is_empty())),
            other => panic!("{other:?} should be xml"),
        },
    ),
    xml(
        "<xml X, string T> boolean convertToXML(mutable X xmlResult, T str, mutable int32 error)",
        "Makes a string to xml. If it is not well-formed, the result is false, `error` is 1 and \
         `xmlResult` stays as it is; else true and 0.",
        |c| {
            let converted = convert(c);
            c.set_int32(2, i32::from(!converted));
            Ok(Value::Boolean(converted))
        },
    ),
    xml(
        "<xml X, string T> boolean convertToXML(mutable X xmlResult, T str)",
        "Makes a string to xml. If it is not well-formed, the result is false and `xmlResult` \
         stays as it is.",
        |c| Ok(Value::Boolean(convert(c))),
    ),
    xml(
        "<xml X> list<rstring> xquery(X value, rstring xqueryExpression)",
        "What an XQuery expression finds in a document: a string for each item, elements and \
         documents as XML, everything else as its text. A query that cannot be read, or that fails, \
         is a fault.",
        |c| run_query(c, false),
    )
    .with_check(check_query),
    xml(
        "<xml X> list<ustring> xquery(X value, ustring xqueryExpression)",
        "What an XQuery expression finds in a document: a string for each item, elements and \
         documents as XML, everything else as its text. A query that cannot be read, or that fails, \
         is a fault.",
        |c| run_query(c, false),
    )
    .with_check(check_query),
    xml(
        "<xml X> list<rstring> xquery(X value, rstring xqueryExpression, \
         map<rstring, rstring> xqueryVars)",
        "What an XQuery expression finds in a document, as without variables. The map gives the \
         values of the variables that the query declares `external`, or does not declare.",
        |c| run_query(c, true),
    )
    .with_check(check_query),
    xml(
        "<xml X> list<ustring> xquery(X value, ustring xqueryExpression, \
         map<ustring, ustring> xqueryVars)",
        "What an XQuery expression finds in a document, as without variables. The map gives the \
         values of the variables that the query declares `external`, or does not declare.",
        |c| run_query(c, true),
    )
    .with_check(check_query),
    xml(
        "<xml X> list<rstring> xquery(X value, rstring xqueryExpression, \
         mutable int32 error)",
        "What an XQuery expression finds in a document. `error` is 0; or 1 if the query cannot be \
         read, 2 if it fails on this document, and then the list is empty.",
        |c| run_query_or_error(c, false),
    ),
    xml(
        "<xml X> list<ustring> xquery(X value, ustring xqueryExpression, \
         mutable int32 error)",
        "What an XQuery expression finds in a document. `error` is 0; or 1 if the query cannot be \
         read, 2 if it fails on this document, and then the list is empty.",
        |c| run_query_or_error(c, false),
    ),
    xml(
        "<xml X> list<rstring> xquery(X value, rstring xqueryExpression, \
         map<rstring, rstring> xqueryVars, mutable int32 error)",
        "What an XQuery expression finds in a document, with variables. `error` is 0; or 1 if the \
         query cannot be read, 2 if it fails on this document or lacks a variable, and then the \
         list is empty.",
        |c| run_query_or_error(c, true),
    ),
    xml(
        "<xml X> list<ustring> xquery(X value, ustring xqueryExpression, \
         map<ustring, ustring> xqueryVars, mutable int32 error)",
        "What an XQuery expression finds in a document, with variables. `error` is 0; or 1 if the \
         query cannot be read, 2 if it fails on this document or lacks a variable, and then the \
         list is empty.",
        |c| run_query_or_error(c, true),
    ),
];

/// Checks a query that is constant when compiling. Prototypes with an error code have no such
/// check: the program handles the error itself.
fn check_query(args: &[Option<Value>]) -> Result<(), WrongArgument> {
    let check = |query: &str| xquery::check(query).map_err(|why| Fault::value(why.to_string()));
    check_text(args, 1, "", check)
}

/// Evaluates a query; a failure is a fault.
fn run_query(c: &mut NativeCall<'_>, has_variables: bool) -> Result<Value, Fault> {
    match query(c, has_variables) {
        Ok(found) => strings(c, found),
        Err(why) => Err(Fault::value(why.to_string())),
    }
}

/// Evaluates a query; the last argument tells a failure.
fn run_query_or_error(c: &mut NativeCall<'_>, has_variables: bool) -> Result<Value, Fault> {
    let (found, error) = match query(c, has_variables) {
        Ok(found) => (found, 0),
        Err(QueryFailure::Query(_)) => (Vec::new(), 1),
        Err(QueryFailure::Value(_)) => (Vec::new(), 2),
    };
    c.set_int32(2 + usize::from(has_variables), error);
    strings(c, found)
}

fn query(c: &NativeCall<'_>, has_variables: bool) -> Result<Vec<String>, QueryFailure> {
    let Value::Xml(document) = c.arg(0) else {
        panic!("{:?} should be xml", c.arg(0));
    };
    let text = c.text(1);
    let is_ustring = matches!(c.arg(1), Value::UString(_));
    let variable = |name: &str| {
        let name = string(name, is_ustring);
        let value = c.map(2).get(&name)?;
        Some(match value {
            Value::UString(value) => value.to_string_lossy(),
            Value::RString(value) => value.to_string_lossy().into_owned(),
            other => panic!("{other:?} should be a string"),
        })
    };
    let none = |_: &str| None;
    match has_variables {
        true => xquery::run(document.as_bytes(), &text, &variable),
        false => xquery::run(document.as_bytes(), &text, &none),
    }
}

/// A list of strings in the type of the function's result.
fn strings(c: &NativeCall<'_>, found: Vec<String>) -> Result<Value, Fault> {
    let is_ustring = match c.result_type() {
        Type::List(element, _) => **element == Type::UString,
        other => panic!("a query gives a list, not a {other}"),
    };
    c.bounded_list_from(found.iter().map(|text| string(text, is_ustring)))
}

fn string(text: &str, is_ustring: bool) -> Value {
    match is_ustring {
        true => Value::UString(text.into()),
        false => Value::RString(RString(text.as_bytes().to_vec())),
    }
}

fn convert(c: &mut NativeCall<'_>) -> bool {
    let text = c.utf8(1).into_owned();
    let well_formed = check_xml(&text).is_ok();
    if well_formed {
        *c.arg_mut(0) = Value::Xml(RString(text));
    }
    well_formed
}
