//! Functions that match and replace by regular expressions.

use eval::{NativeCall, NativeFn, WrongArgument};
use tuple::{UString, Value};

use crate::function::arguments::{NativeArguments, NativeResult, rstring, utf8_of, wrong_argument};
use crate::function::entry::string;
use crate::function::regex::{RegexFlavour, cached_pattern, replace};

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "list<rstring> regexMatch(rstring str, rstring patt)",
        "The leftmost, longest match of a POSIX extended regular expression: the whole match, then \
         the groups that took part in it; an empty list if there is none. Faults if the pattern is \
         wrong. In a pattern with back-references (`\\1`) alternatives are tried from the left \
         instead.",
        |c| matched(c, RegexFlavour::Posix),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::Posix)),
    string(
        "list<ustring> regexMatch(ustring str, ustring patt)",
        "The leftmost match of a regular expression in ICU's syntax: the whole match, then all \
         groups; an empty list if there is none. Faults if the pattern is wrong.",
        |c| matched(c, RegexFlavour::Icu),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::Icu)),
    string(
        "rstring regexReplace(rstring str, rstring searchPatt, rstring substPatt, boolean global)",
        "The string with the first match (`global`: each match) of a POSIX extended regular \
         expression replaced. In `substPatt`, `\\1` to `\\9` are the groups. `global` matches \
         again on what follows a match; an empty match is not replaced, and ends it.",
        |c| replaced(c, RegexFlavour::Posix),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::Posix)),
    string(
        "ustring regexReplace(ustring str, ustring searchPatt, ustring substPatt, boolean global)",
        "The string with the first match (`global`: each match) of a regular expression in ICU's \
         syntax replaced. In `substPatt`, `$1` is a group and `\\` takes the next character as it \
         is.",
        |c| replaced(c, RegexFlavour::Icu),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::Icu)),
    string(
        "list<rstring> regexMatchPerl(rstring str, rstring patt)",
        "The leftmost match of a Perl regular expression: the whole match, then all groups; an \
         empty list if there is none. `.` also matches a line feed, `^` and `$` also match at \
         lines. Of an rstring `.` is a byte, and `\\w` and `\\d` know ASCII only; a ustring has \
         letters of all alphabets. Faults if the pattern is wrong.",
        |c| matched(c, RegexFlavour::PerlBytes),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::PerlBytes)),
    string(
        "list<ustring> regexMatchPerl(ustring str, ustring patt)",
        "The leftmost match of a Perl regular expression: the whole match, then all groups; an \
         empty list if there is none. `.` also matches a line feed, `^` and `$` also match at \
         lines. Faults if the pattern is wrong.",
        |c| matched(c, RegexFlavour::PerlPoints),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::PerlPoints)),
    string(
        "rstring regexReplacePerl(rstring str, rstring searchPatt, rstring substPatt, boolean \
         global)",
        "The string with the first match (`global`: each match) of a Perl regular expression \
         replaced. In `substPatt`, `$1` or `\\1` is a group, `$&` the match, `?1a:b` a choice by \
         whether group 1 took part, `(...)` groups and is left out. Faults if the pattern is wrong.",
        |c| replaced(c, RegexFlavour::PerlBytes),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::PerlBytes)),
    string(
        "ustring regexReplacePerl(ustring str, ustring searchPatt, ustring substPatt, boolean \
         global)",
        "The string with the first match (`global`: each match) of a Perl regular expression \
         replaced. In `substPatt`, `$1` or `\\1` is a group, `$&` the match, `?1a:b` a choice by \
         whether group 1 took part, `(...)` groups and is left out. Faults if the pattern is wrong.",
        |c| replaced(c, RegexFlavour::PerlPoints),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::PerlPoints)),
];

const PATTERN_HELP: &str = "a character that stands for itself has a backslash before it, which a \
                            text of SPL writes twice: `\\\\[`";

/// The pattern, as far as it is known. A template is used only where the pattern matches: a call
/// with a wrong one need not fail.
pub(in crate::function) fn verify_pattern(
    args: &[Option<Value>],
    flavour: RegexFlavour,
) -> Result<(), WrongArgument> {
    let Some(pattern) = utf8_of(args, 1) else {
        return Ok(());
    };
    let wrong = |fault| wrong_argument(1, &fault, PATTERN_HELP);
    cached_pattern(flavour, &pattern).map(drop).map_err(wrong)
}

fn matched(c: &mut NativeCall<'_>, flavour: RegexFlavour) -> NativeResult {
    let text = c.utf8(0);
    let mut groups = cached_pattern(flavour, &c.utf8(1))?
        .groups(&text, 0)?
        .unwrap_or_default();
    // The POSIX variant leaves out groups without a match, the others keep the numbering.
    if flavour == RegexFlavour::Posix {
        groups.retain(Option::is_some);
    }
    let groups = groups.into_iter().map(Option::unwrap_or_default);
    c.bounded_list_from(groups.map(|range| text_value(c, text[range].to_vec())))
}

fn replaced(c: &mut NativeCall<'_>, flavour: RegexFlavour) -> NativeResult {
    let pattern = cached_pattern(flavour, &c.utf8(1))?;
    let text = replace(&pattern, flavour, &c.utf8(0), &c.utf8(2), c.boolean(3))?;
    Ok(text_value(c, text))
}

/// Text of the kind of the first argument.
pub(in crate::function) fn text_value(c: &NativeCall<'_>, text: Vec<u8>) -> Value {
    match c.arg(0) {
        Value::UString(_) => Value::UString(UString::from_utf8_lossy(&text)),
        _ => rstring(text),
    }
}
