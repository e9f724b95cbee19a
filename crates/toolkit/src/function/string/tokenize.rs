//! Functions that split strings into tokens.

use eval::{NativeCall, NativeFn};
use tuple::{RString, Type, UString, Value};

use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::string;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "list<rstring> tokenize(rstring str, rstring delim, boolean keepEmptyTokens)",
        "The tokens between the delimiters, each character of `delim` being one. Empty tokens, \
         also the one after a delimiter at the end, are left out unless `keepEmptyTokens`.",
        |c| return_tokens(c, c.boolean(2)),
    ),
    string(
        "list<ustring> tokenize(ustring str, ustring delim, boolean keepEmptyTokens)",
        "The tokens between the delimiters, each character of `delim` being one. Empty tokens, \
         also the one after a delimiter at the end, are left out unless `keepEmptyTokens`.",
        |c| return_tokens(c, c.boolean(2)),
    ),
    string(
        "void tokenize(rstring str, rstring delim, boolean keepEmptyTokens, boolean multipleDelim, \
         mutable list<rstring> tokens)",
        "Puts the tokens between the delimiters into `tokens`. With `multipleDelim` each character \
         of `delim` is a delimiter, else the whole string is. What does not fit a bounded list is \
         left out.",
        tokenize_into,
    ),
    string(
        "void tokenize(ustring str, ustring delim, boolean keepEmptyTokens, boolean multipleDelim, \
         mutable list<ustring> tokens)",
        "Puts the tokens between the delimiters into `tokens`. With `multipleDelim` each character \
         of `delim` is a delimiter, else the whole string is. What does not fit a bounded list is \
         left out.",
        tokenize_into,
    ),
    string(
        "list<rstring> csvTokenize(rstring str)",
        "The parts between commas, empty ones too. Quotes are not interpreted.",
        |c| {
            c.bounded_list_from(
                split_text(c.bytes(0), b",", true, true)
                    .into_iter()
                    .map(bytes_value),
            )
        },
    ),
    string(
        "list<ustring> csvTokenize(ustring str)",
        "The parts between commas, empty ones too. Quotes are not interpreted.",
        |c| {
            let comma = u16::from(b',');
            c.bounded_list_from(
                split_text(c.ustring(0).as_units(), &[comma], true, true)
                    .into_iter()
                    .map(units_value),
            )
        },
    ),
];

fn return_tokens(c: &mut NativeCall<'_>, keep_empty: bool) -> NativeResult {
    c.bounded_list_from(tokens(c, keep_empty, true))
}

fn tokenize_into(c: &mut NativeCall<'_>) -> NativeResult {
    let tokens = tokens(c, c.boolean(2), c.boolean(3));
    let room = c.capacity(4);
    let element = match c.arg_type(4) {
        // Bounded elements do not occur in the prototype, so tokens need no cutting.
        Type::List(element, _) => element.clone(),
        other => panic!("tokens go into a list, not a {other}"),
    };
    *c.list_mut(4) = tuple::List::from_values(&element, tokens.into_iter().take(room));
    Ok(VOID)
}

fn tokens(c: &NativeCall<'_>, keep_empty: bool, any_of: bool) -> Vec<Value> {
    match (c.arg(0), c.arg(1)) {
        (Value::UString(s), Value::UString(delim)) => {
            // Delimiters outside the basic plane are two units: compare code points then.
            if any_of && delim.len() != delim.as_units().len() {
                let text: Vec<u32> = s.code_points().collect();
                let delim: Vec<u32> = delim.code_points().collect();
                return split_text(&text, &delim, keep_empty, true)
                    .into_iter()
                    .map(points_value)
                    .collect();
            }
            let parts = split_text(s.as_units(), delim.as_units(), keep_empty, any_of);
            parts.into_iter().map(units_value).collect()
        }
        _ => {
            let parts = split_text(c.bytes(0), c.bytes(1), keep_empty, any_of);
            parts.into_iter().map(bytes_value).collect()
        }
    }
}

/// The parts of a text. With `any_of` each element of `delim` separates, else all of it in a row;
/// an empty `delim` does not separate at all.
fn split_text<'a, T: PartialEq>(
    text: &'a [T],
    delim: &[T],
    keep_empty: bool,
    any_of: bool,
) -> Vec<&'a [T]> {
    let width = if any_of { 1 } else { delim.len() };
    let separates = |at: usize| match any_of {
        true => delim.contains(&text[at]),
        false => width > 0 && text[at..].starts_with(delim),
    };
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        if separates(at) {
            parts.push(&text[start..at]);
            at += width;
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| keep_empty || !part.is_empty());
    parts
}

fn bytes_value(part: &[u8]) -> Value {
    Value::RString(RString(part.to_vec()))
}

fn units_value(part: &[u16]) -> Value {
    Value::UString(UString(part.to_vec()))
}

fn points_value(part: &[u32]) -> Value {
    let mut text = UString::default();
    part.iter().for_each(|&point| text.push_code_point(point));
    Value::UString(text)
}
