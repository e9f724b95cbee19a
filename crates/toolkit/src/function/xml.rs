//! `spl.XML`: conversion to xml. Queries are not supported.

use graph::ops::check_xml;
use graph::{Call, NativeFn};
use tuple::{RString, Value};

use super::call::Arguments;
use super::{Eval, native};

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[FUNCTIONS];

const fn xml(prototype: &'static str, doc: &'static str, eval: Eval) -> NativeFn {
    native("spl.XML", prototype, doc, eval)
}

const fn query(prototype: &'static str) -> NativeFn {
    super::unsupported(
        "spl.XML",
        prototype,
        "What an XQuery expression finds in a document; not supported.",
        "take the document apart with XMLParse, or cast it to a tuple",
    )
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
    query("<xml X> list<rstring> xquery(X value, rstring xqueryExpression)"),
    query("<xml X> list<ustring> xquery(X value, ustring xqueryExpression)"),
    query(
        "<xml X> list<rstring> xquery(X value, rstring xqueryExpression, \
         map<rstring, rstring> xqueryVars)",
    ),
    query(
        "<xml X> list<ustring> xquery(X value, ustring xqueryExpression, \
         map<ustring, ustring> xqueryVars)",
    ),
    query("<xml X> list<rstring> xquery(X value, rstring xqueryExpression, mutable int32 error)"),
    query("<xml X> list<ustring> xquery(X value, ustring xqueryExpression, mutable int32 error)"),
    query(
        "<xml X> list<rstring> xquery(X value, rstring xqueryExpression, \
         map<rstring, rstring> xqueryVars, mutable int32 error)",
    ),
    query(
        "<xml X> list<ustring> xquery(X value, ustring xqueryExpression, \
         map<ustring, ustring> xqueryVars, mutable int32 error)",
    ),
];

fn convert(c: &mut Call<'_>) -> bool {
    let text = c.utf8(1).into_owned();
    let well_formed = check_xml(&text).is_ok();
    if well_formed {
        *c.arg_mut(0) = Value::Xml(RString(text));
    }
    well_formed
}
