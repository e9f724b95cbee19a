//! Matching and replacing by regular expressions.

use graph::{Call, NativeFn, WrongArgument};
use tuple::{UString, Value};

use super::string;
use crate::function::call::{Arguments, Outcome, rstring, utf8_of, wrong_argument};
use crate::function::regex::{Flavour, compiled, replace};

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "list<rstring> regexMatch(rstring str, rstring patt)",
        "The leftmost, longest match of a POSIX extended regular expression: the whole match, then \
         the groups that took part in it; an empty list if there is none. Faults if the pattern is \
         wrong; back-references are not supported.",
        |c| matched(c, Flavour::Posix),
    )
    .checked(|args| check(args, Flavour::Posix)),
    string(
        "list<ustring> regexMatch(ustring str, ustring patt)",
        "The leftmost match of a regular expression in ICU's syntax: the whole match, then all \
         groups; an empty list if there is none. Faults if the pattern is wrong.",
        |c| matched(c, Flavour::Icu),
    )
    .checked(|args| check(args, Flavour::Icu)),
    string(
        "rstring regexReplace(rstring str, rstring searchPatt, rstring substPatt, boolean global)",
        "The string with the first match (`global`: each match) of a POSIX extended regular \
         expression replaced. In `substPatt`, `\\1` to `\\9` are the groups. `global` matches \
         again on what follows a match and stops at an empty match.",
        |c| replaced(c, Flavour::Posix),
    )
    .checked(|args| check(args, Flavour::Posix)),
    string(
        "ustring regexReplace(ustring str, ustring searchPatt, ustring substPatt, boolean global)",
        "The string with the first match (`global`: each match) of a regular expression in ICU's \
         syntax replaced. In `substPatt`, `$1` is a group and `\\` takes the next character as it \
         is.",
        |c| replaced(c, Flavour::Icu),
    )
    .checked(|args| check(args, Flavour::Icu)),
    string(
        "list<rstring> regexMatchPerl(rstring str, rstring patt)",
        "The leftmost match of a Perl regular expression: the whole match, then all groups; an \
         empty list if there is none. `.` also matches a line feed, `^` and `$` also match at \
         lines. Faults if the pattern is wrong.",
        |c| matched(c, Flavour::PerlBytes),
    )
    .checked(|args| check(args, Flavour::PerlBytes)),
    string(
        "list<ustring> regexMatchPerl(ustring str, ustring patt)",
        "The leftmost match of a Perl regular expression: the whole match, then all groups; an \
         empty list if there is none. `.` also matches a line feed, `^` and `$` also match at \
         lines. Faults if the pattern is wrong.",
        |c| matched(c, Flavour::PerlPoints),
    )
    .checked(|args| check(args, Flavour::PerlPoints)),
    string(
        "rstring regexReplacePerl(rstring str, rstring searchPatt, rstring substPatt, boolean \
         global)",
        "The string with the first match (`global`: each match) of a Perl regular expression \
         replaced. In `substPatt`, `$1` or `\\1` is a group, `$&` the match, `?1a:b` a choice by \
         whether group 1 took part.",
        |c| replaced(c, Flavour::PerlBytes),
    )
    .checked(|args| check(args, Flavour::PerlBytes)),
    string(
        "ustring regexReplacePerl(ustring str, ustring searchPatt, ustring substPatt, boolean \
         global)",
        "The string with the first match (`global`: each match) of a Perl regular expression \
         replaced. In `substPatt`, `$1` or `\\1` is a group, `$&` the match, `?1a:b` a choice by \
         whether group 1 took part.",
        |c| replaced(c, Flavour::PerlPoints),
    )
    .checked(|args| check(args, Flavour::PerlPoints)),
];

const PATTERN_HELP: &str = "a character that stands for itself has a backslash before it, which a \
                            text of SPL writes twice: `\\\\[`";

/// The pattern, as far as it is known. A template is used only where the pattern matches: a call with
/// a wrong one need not fail.
fn check(args: &[Option<Value>], flavour: Flavour) -> Result<(), WrongArgument> {
    let Some(pattern) = utf8_of(args, 1) else {
        return Ok(());
    };
    let wrong = |fault| wrong_argument(1, &fault, PATTERN_HELP);
    compiled(flavour, &pattern).map(drop).map_err(wrong)
}

fn matched(c: &mut Call<'_>, flavour: Flavour) -> Outcome {
    let text = c.utf8(0);
    let groups = compiled(flavour, &c.utf8(1))?
        .groups(&text, 0)?
        .unwrap_or_default();
    // The POSIX variant leaves out what took no part, the others keep the numbering.
    let kept = groups
        .into_iter()
        .filter(|g| g.is_some() || flavour != Flavour::Posix);
    let values = kept.map(|range| give(c, text[range.unwrap_or_default()].to_vec()));
    c.give_values(values)
}

fn replaced(c: &mut Call<'_>, flavour: Flavour) -> Outcome {
    let pattern = compiled(flavour, &c.utf8(1))?;
    let text = replace(&pattern, flavour, &c.utf8(0), &c.utf8(2), c.boolean(3))?;
    Ok(give(c, text))
}

/// Text of the kind of the first argument.
fn give(c: &Call<'_>, text: Vec<u8>) -> Value {
    match c.arg(0) {
        Value::UString(_) => Value::UString(UString::from_utf8_lossy(&text)),
        _ => rstring(text),
    }
}
