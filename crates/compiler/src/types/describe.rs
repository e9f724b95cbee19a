//! Words for types and for the differences between them.

use std::sync::Arc;

use syntax::Diagnostic;
use tuple::{TupleType, Type};

/// The one thing in which two types differ, if that is easier to read than both types.
pub(crate) fn difference(expected: &Type, found: &Type) -> Option<String> {
    match (expected, found) {
        (Type::Tuple(expected), Type::Tuple(found)) => tuples(expected, found),
        (Type::Optional(expected), found) => difference(expected, found),
        _ => None,
    }
}

fn tuples(expected: &TupleType, found: &TupleType) -> Option<String> {
    for attribute in &expected.attributes {
        match found.find(&attribute.name) {
            None => return Some(format!("attribute `{}` is missing", attribute.name)),
            Some((_, other)) if other.ty != attribute.ty => {
                let (name, want, have) = (&attribute.name, &attribute.ty, &other.ty);
                return Some(format!("attribute `{name}` is {have}, not {want}"));
            }
            Some(_) => {}
        }
    }
    let extra = found
        .attributes
        .iter()
        .find(|a| expected.find(&a.name).is_none());
    if let Some(extra) = extra {
        return Some(format!("there is no attribute `{}`", extra.name));
    }
    (expected != found)
        .then(|| "the attributes are in another order; a cast puts them right".to_owned())
}

/// The kind of a type with its article: "a list", "an enum".
pub(crate) fn kind_of(ty: &Type) -> &'static str {
    match ty {
        Type::List(..) => "a list",
        Type::Set(..) => "a set",
        Type::Map(..) => "a map",
        Type::Tuple(_) => "a tuple",
        Type::Optional(_) => "an optional",
        Type::Enum(_) => "an enum",
        Type::Blob => "a blob",
        Type::Xml(_) => "an xml value",
        Type::Void => "nothing (void)",
        ty if ty.is_string() => "a string",
        ty if ty.is_numeric() => "a number",
        Type::Boolean => "a boolean",
        _ => "a timestamp",
    }
}

/// Adds in what way two tuple types differ.
pub(crate) fn add_type_difference(
    finding: Diagnostic,
    wanted: &Arc<TupleType>,
    found: &Arc<TupleType>,
) -> Diagnostic {
    match difference(&Type::Tuple(wanted.clone()), &Type::Tuple(found.clone())) {
        Some(text) => finding.help(text),
        None => finding,
    }
}
