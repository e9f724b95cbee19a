//! Functions of texts.

use fancy_regex::Regex;

use super::super::atomic_value::AtomicValue;
use super::super::failure::{QueryResult, failure};
use super::super::item::{Item, Sequence, at_most_one, singleton};
use super::arguments::{first_or_context, string};
use super::results::{boolean, integer, text};
use super::sequence::position_range;
use super::xpath_function::{XPathFunction, function};

pub(super) const FUNCTIONS: &[XPathFunction] = &[
    function("string", 0, 1, |focus, arguments| {
        text(&string(&[first_or_context(focus, arguments)], 0)?)
    }),
    function("string-length", 0, 1, |focus, arguments| {
        let text = string(&[first_or_context(focus, arguments)], 0)?;
        integer(text.chars().count())
    }),
    function("normalize-space", 0, 1, |focus, arguments| {
        let found = string(&[first_or_context(focus, arguments)], 0)?;
        text(&words(&found).collect::<Vec<_>>().join(" "))
    }),
    function("concat", 2, usize::MAX, |_, arguments| {
        let parts: QueryResult<Vec<_>> = (0..arguments.len())
            .map(|at| string(&arguments, at))
            .collect();
        Ok(singleton(AtomicValue::join_texts(parts?, "")?))
    }),
    function("string-join", 1, 2, |_, arguments| {
        let between = match arguments.len() {
            1 => String::new(),
            _ => string(&arguments, 1)?,
        };
        let parts = arguments[0].iter().map(Item::text);
        Ok(singleton(AtomicValue::join_texts(parts, &between)?))
    }),
    function("substring", 2, 3, |_, arguments| {
        let is_kept = position_range(&arguments)?;
        let found = string(&arguments, 0)?;
        let chars = found.chars().zip(1_u32..);
        let kept = chars.filter(|(_, at)| is_kept(f64::from(*at)));
        text(&kept.map(|(c, _)| c).collect::<String>())
    }),
    function("substring-before", 2, 2, |_, arguments| {
        let (found, mark) = two_strings(&arguments)?;
        text(found.split_once(&mark).map_or("", |(before, _)| before))
    }),
    function("substring-after", 2, 2, |_, arguments| {
        let (found, mark) = two_strings(&arguments)?;
        text(found.split_once(&mark).map_or("", |(_, after)| after))
    }),
    function("contains", 2, 2, |_, arguments| {
        two_strings(&arguments).and_then(|(text, part)| boolean(text.contains(&part)))
    }),
    function("starts-with", 2, 2, |_, arguments| {
        two_strings(&arguments).and_then(|(text, part)| boolean(text.starts_with(&part)))
    }),
    function("ends-with", 2, 2, |_, arguments| {
        two_strings(&arguments).and_then(|(text, part)| boolean(text.ends_with(&part)))
    }),
    function("upper-case", 1, 1, |_, arguments| {
        text(&string(&arguments, 0)?.to_uppercase())
    }),
    function("lower-case", 1, 1, |_, arguments| {
        text(&string(&arguments, 0)?.to_lowercase())
    }),
    function("translate", 3, 3, |_, arguments| {
        let from: Vec<_> = string(&arguments, 1)?.chars().collect();
        let to: Vec<_> = string(&arguments, 2)?.chars().collect();
        let found = string(&arguments, 0)?;
        let changed = found.chars().filter_map(|c| {
            let at = from.iter().position(|&other| other == c);
            at.map_or(Some(c), |at| to.get(at).copied())
        });
        text(&changed.collect::<String>())
    }),
    function("compare", 2, 2, |_, arguments| {
        if arguments.iter().any(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let (a, b) = two_strings(&arguments)?;
        Ok(singleton(AtomicValue::Integer(a.cmp(&b) as i64)))
    }),
    function("string-to-codepoints", 1, 1, |_, arguments| {
        let found = string(&arguments, 0)?;
        let points = found.chars().map(|c| i64::from(u32::from(c)));
        Ok(points
            .map(|n| Item::Atomic(AtomicValue::Integer(n)))
            .collect())
    }),
    function("matches", 2, 3, |_, arguments| {
        let regex = regex(&arguments, 2)?;
        let found = regex.is_match(&string(&arguments, 0)?);
        boolean(found.map_err(|why| failure(why.to_string()))?)
    }),
    function("replace", 3, 4, |_, arguments| {
        let regex = regex(&arguments, 3)?;
        let with = string(&arguments, 2)?;
        text(&replace(&regex, &string(&arguments, 0)?, &with)?)
    }),
    function("tokenize", 1, 3, |_, arguments| {
        let found = string(&arguments, 0)?;
        if arguments.len() == 1 {
            return Ok(texts(words(&found)));
        }
        let regex = regex(&arguments, 2)?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Result<Vec<_>, _> = regex.split(&found).collect();
        let parts = parts.map_err(|why| failure(why.to_string()))?;
        Ok(texts(parts.into_iter()))
    }),
];

fn two_strings(arguments: &[Sequence]) -> QueryResult<(String, String)> {
    Ok((string(arguments, 0)?, string(arguments, 1)?))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t', '\r', '\n'])
        .filter(|word| !word.is_empty())
}

fn texts<'a>(all: impl Iterator<Item = &'a str>) -> Sequence {
    all.map(|text| Item::Atomic(AtomicValue::text(text)))
        .collect()
}

/// The regular expression of the second argument, with the flags of the argument at `flags`, if
/// there is one.
fn regex(arguments: &[Sequence], flags: usize) -> QueryResult<Regex> {
    at_most_one(&arguments[1], "a regular expression")?;
    let (pattern, mut prefix) = (string(arguments, 1)?, String::new());
    if arguments.len() > flags {
        let flags = string(arguments, flags)?;
        if let Some(other) = flags.chars().find(|c| !"smix".contains(*c)) {
            return Err(failure(format!(
                "`{other}` is no flag of a regular expression"
            )));
        }
        if !flags.is_empty() {
            prefix = format!("(?{flags})");
        }
    }
    Regex::new(&format!("{prefix}{pattern}")).map_err(|why| {
        failure(format!(
            "the regular expression `{pattern}` is wrong: {why}"
        ))
    })
}

/// Replaces each match; `$1` in the text stands for a group, `\$` and `\\` for themselves.
fn replace(regex: &Regex, found: &str, with: &str) -> QueryResult<String> {
    let mut out = String::new();
    let mut end = 0;
    for captures in regex.captures_iter(found) {
        let captures = captures.map_err(|why| failure(why.to_string()))?;
        let Some(whole) = captures.get(0) else {
            continue;
        };
        if whole.range().is_empty() {
            return Err(failure(
                "a regular expression to replace by matches the empty text",
            ));
        }
        out += &found[end..whole.start()];
        end = whole.end();
        let mut chars = with.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '$' => {
                    let group = chars.next().and_then(|c| c.to_digit(10));
                    let Some(group) = group else {
                        return Err(failure("`$` without a digit in a replacement; write `\\$`"));
                    };
                    let part = captures.get(group as usize);
                    out += part.map_or("", |part| part.as_str());
                }
                '\\' if chars.peek().is_some_and(|c| "$\\".contains(*c)) => {
                    out.extend(chars.next())
                }
                '\\' => return Err(failure("`\\` in a replacement; write `\\\\`")),
                c => out.push(c),
            }
        }
    }
    Ok(out + &found[end..])
}
