//! Functions that split strings into tokens.

use eval::{NativeCall, NativeFn};
use tuple::{List, RString, Type, UString, Value};

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
        |c| c.bounded_list_from(byte_tokens(c.bytes(0), b",", true, true)),
    ),
    string(
        "list<ustring> csvTokenize(ustring str)",
        "The parts between commas, empty ones too. Quotes are not interpreted.",
        |c| {
            let comma = [u16::from(b',')];
            let parts = Tokens::new(c.ustring(0).as_units(), true, any_of(&comma));
            c.bounded_list_from(parts.map(units_value))
        },
    ),
];

fn return_tokens(c: &mut NativeCall<'_>, keep_empty: bool) -> NativeResult {
    match (c.arg(0), c.arg(1)) {
        (Value::UString(text), Value::UString(delim)) => {
            c.bounded_list_from(unit_tokens(text, delim, keep_empty, true))
        }
        _ => c.bounded_list_from(byte_tokens(c.bytes(0), c.bytes(1), keep_empty, true)),
    }
}

fn tokenize_into(c: &mut NativeCall<'_>) -> NativeResult {
    let (keep_empty, by_character) = (c.boolean(2), c.boolean(3));
    let room = c.capacity(4);
    let element = match c.arg_type(4) {
        // Bounded elements do not occur in the prototype, so tokens need no cutting.
        Type::List(element, _) => element,
        other => panic!("tokens go into a list, not a {other}"),
    };
    let tokens = match (c.arg(0), c.arg(1)) {
        (Value::UString(text), Value::UString(delim)) => {
            let tokens = unit_tokens(text, delim, keep_empty, by_character);
            List::from_values(element, tokens.take(room))
        }
        _ => {
            let tokens = byte_tokens(c.bytes(0), c.bytes(1), keep_empty, by_character);
            List::from_values(element, tokens.take(room))
        }
    };
    *c.list_mut(4) = tokens;
    Ok(VOID)
}

/// The tokens of an rstring.
fn byte_tokens<'a>(
    text: &'a [u8],
    delim: &'a [u8],
    keep_empty: bool,
    by_character: bool,
) -> impl Iterator<Item = Value> + 'a {
    let next = move |rest: &[u8]| match (by_character, delim) {
        (_, []) => None,
        (_, &[one]) => Some((memchr::memchr(one, rest)?, 1)),
        (true, &[one, other]) => Some((memchr::memchr2(one, other, rest)?, 1)),
        (true, &[one, other, third]) => Some((memchr::memchr3(one, other, third, rest)?, 1)),
        (true, _) => any_of(delim)(rest),
        (false, _) => Some((memchr::memmem::find(rest, delim)?, delim.len())),
    };
    Tokens::new(text, keep_empty, next).map(|part| Value::RString(RString(part.to_vec())))
}

/// The tokens of a ustring.
fn unit_tokens<'a>(
    text: &'a UString,
    delim: &'a UString,
    keep_empty: bool,
    by_character: bool,
) -> Box<dyn Iterator<Item = Value> + 'a> {
    let units = delim.as_units();
    let text_units = text.as_units();
    // Delimiters outside the basic plane are two units: compare code points then.
    if by_character && delim.len() != units.len() {
        let text: Vec<u32> = text.code_points().collect();
        let delim: Vec<u32> = delim.code_points().collect();
        let parts: Vec<Value> = Tokens::new(&text, keep_empty, any_of(&delim))
            .map(points_value)
            .collect();
        return Box::new(parts.into_iter());
    }
    match by_character {
        true => Box::new(Tokens::new(text_units, keep_empty, any_of(units)).map(units_value)),
        false => {
            let next = move |rest: &[u16]| {
                let width = units.len().max(1);
                let at = rest.windows(width).position(|part| part == units)?;
                Some((at, width))
            };
            Box::new(Tokens::new(text_units, keep_empty, next).map(units_value))
        }
    }
}

/// Finds the next element that is a delimiter.
fn any_of<T: PartialEq>(delim: &[T]) -> impl Fn(&[T]) -> Option<(usize, usize)> {
    |rest| Some((rest.iter().position(|one| delim.contains(one))?, 1))
}

/// The parts of a text between delimiters. `next` gives place and length of the next delimiter of a
/// text.
struct Tokens<'a, T, F> {
    /// The text that is not split yet; `None` when the last part was given.
    rest: Option<&'a [T]>,
    keep_empty: bool,
    next: F,
}

impl<'a, T, F: Fn(&[T]) -> Option<(usize, usize)>> Tokens<'a, T, F> {
    fn new(text: &'a [T], keep_empty: bool, next: F) -> Tokens<'a, T, F> {
        Tokens {
            rest: Some(text),
            keep_empty,
            next,
        }
    }
}

impl<'a, T, F: Fn(&[T]) -> Option<(usize, usize)>> Iterator for Tokens<'a, T, F> {
    type Item = &'a [T];

    fn next(&mut self) -> Option<&'a [T]> {
        loop {
            let rest = self.rest?;
            let part = match (self.next)(rest) {
                Some((at, width)) => {
                    self.rest = Some(&rest[at + width..]);
                    &rest[..at]
                }
                None => {
                    self.rest = None;
                    rest
                }
            };
            if self.keep_empty || !part.is_empty() {
                return Some(part);
            }
        }
    }
}

fn units_value(part: &[u16]) -> Value {
    Value::UString(UString(part.to_vec()))
}

fn points_value(part: &[u32]) -> Value {
    let mut text = UString::default();
    part.iter().for_each(|&point| text.push_code_point(point));
    Value::UString(text)
}
