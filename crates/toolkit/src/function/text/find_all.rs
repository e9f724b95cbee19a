//! All matches of a pattern in a text.

use eval::{NativeCall, NativeFn};
use tuple::{List, Type, Value};

use super::text;
use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::regex::{RegexFlavour, all_matches, cached_pattern};
use crate::function::string::{text_value, verify_pattern};

pub(super) const FUNCTIONS: &[NativeFn] = &[
    text(
        "list<list<rstring>> findAll(rstring str, rstring patt)",
        "All matches of a Perl regular expression, from left to right: of each the whole match, \
         then all groups, as `regexMatchPerl` gives them for the first. The next match is looked for \
         where the last one ends, one character on if that was empty. Faults if the pattern is \
         wrong.",
        |c| find_all(c, RegexFlavour::PerlBytes, &Type::RString),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::PerlBytes)),
    text(
        "list<list<ustring>> findAll(ustring str, ustring patt)",
        "All matches of a Perl regular expression, from left to right: of each the whole match, \
         then all groups, as `regexMatchPerl` gives them for the first. The next match is looked for \
         where the last one ends, one character on if that was empty. Faults if the pattern is \
         wrong.",
        |c| find_all(c, RegexFlavour::PerlPoints, &Type::UString),
    )
    .with_check(|args| verify_pattern(args, RegexFlavour::PerlPoints)),
];

fn find_all(c: &mut NativeCall<'_>, flavour: RegexFlavour, element: &Type) -> NativeResult {
    let text = c.utf8(0);
    let pattern = cached_pattern(flavour, &c.utf8(1))?;
    let matches = all_matches(&pattern, &text)?;
    let matches = matches.into_iter().map(|groups| {
        let parts = groups
            .into_iter()
            .map(|range| text_value(c, text[range.unwrap_or_default()].to_vec()));
        Value::List(List::from_values(element, parts))
    });
    c.bounded_list_from(matches)
}
