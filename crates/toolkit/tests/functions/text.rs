//! `thalweg.text`.

use eval::FaultKind;
use tuple::{List, Type, Value};

use crate::harness::*;

const PARSE: &str = "parseISO8601(rstring str)";
const FORMAT: &str = "formatISO8601(timestamp time)";
const FORMAT_DIGITS: &str = "formatISO8601(timestamp time, uint32 digits)";

/// The matches that `findAll` gives: of each the whole match and its groups.
fn matches<const N: usize>(found: [&[&str]; N], make: impl Fn(&str) -> Arg) -> Arg {
    let element = make("").0;
    let inner = |parts: &&[&str]| {
        let parts = parts.iter().map(|part| make(part).1);
        Value::List(List::from_values(&element, parts))
    };
    let list = Type::List(element.clone().into(), None);
    let values = found.iter().map(inner).collect::<Vec<_>>();
    Arg(
        Type::List(list.clone().into(), None),
        Value::List(List::from_values(&list, values)),
    )
}

fn bytes(text: &str) -> Arg {
    r(text)
}

#[test]
fn all_matches_are_found_with_their_groups() {
    let f = "findAll(rstring str, rstring patt)";
    let case = |text, pattern| [r(text), r(pattern)];
    gives(
        f,
        &case("a=1, bc=22;", r"(\w+)=(\d+)"),
        matches([&["a=1", "a", "1"], &["bc=22", "bc", "22"]], bytes),
    );
    gives(f, &case("none", r"\d"), matches([], bytes));
    // An empty match is one, and does not hold up the rest.
    gives(f, &case("ab", "x*"), matches([&[""], &[""], &[""]], bytes));
    gives(
        f,
        &case("aXbX", "(a)|(b)"),
        matches([&["a", "a", ""], &["b", "", "b"]], bytes),
    );
    // Look-around sees what lies before the place from which is searched.
    gives(f, &case("aab", "(?<=a)."), matches([&["a"], &["b"]], bytes));
    gives(
        f,
        &case("l1\nl2", "^l."),
        matches([&["l1"], &["l2"]], bytes),
    );
    let kind = faults(f, &case("a", "("), Type::RString, "is wrong");
    assert_eq!(kind, FaultKind::Value);
    let f = "findAll(ustring str, ustring patt)";
    gives(
        f,
        &[u("😀a😀b"), u("😀(.)")],
        matches([&["😀a", "a"], &["😀b", "b"]], u),
    );
    gives(f, &[u("ö"), u("")], matches([&[""], &[""]], u));
}

/// The instant 2009-02-13 23:31:30 UTC.
const MOMENT: i64 = 1_234_567_890;

#[test]
fn texts_of_iso_8601_are_instants() {
    for (text, seconds, nanos) in [
        ("2009-02-13T23:31:30Z", MOMENT, 0),
        ("2009-02-14T00:31:30+01:00", MOMENT, 0),
        ("2009-02-13 23:31:30.5", MOMENT, 500_000_000),
        ("2009-02-13T23:31:30.123456789Z", MOMENT, 123_456_789),
        ("20090213T233130Z", MOMENT, 0),
        ("1969-12-31T23:59:59.25Z", -1, 250_000_000),
        ("1970-01-02", 86_400, 0),
    ] {
        gives(PARSE, &[r(text)], ts(seconds, nanos));
    }
    for text in [
        "",
        "now",
        "2009-02-30T00:00:00Z",
        "23:31:30",
        "2009-02-13T25:00:00Z",
    ] {
        let kind = faults(PARSE, &[r(text)], Type::Timestamp, "2026-11-28T10:17:25Z");
        assert_eq!(kind, FaultKind::Value);
    }
}

#[test]
fn instants_have_texts_of_iso_8601() {
    for (seconds, nanos, text) in [
        (MOMENT, 0, "2009-02-13T23:31:30Z"),
        (MOMENT, 500_000_000, "2009-02-13T23:31:30.5Z"),
        (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
    ] {
        gives(FORMAT, &[ts(seconds, nanos)], r(text));
        gives(PARSE, &[r(text)], ts(seconds, nanos));
    }
    for (digits, text) in [
        (0, "2009-02-13T23:31:30Z"),
        (3, "2009-02-13T23:31:30.999Z"),
        (9, "2009-02-13T23:31:30.999999999Z"),
    ] {
        let args = [ts(MOMENT, 999_999_999), uint32(digits)];
        gives(FORMAT_DIGITS, &args, r(text));
    }
    let ten = [ts(0, 0), uint32(10)];
    faults(FORMAT_DIGITS, &ten, Type::RString, "0 to 9 digits, not 10");
    let far = [ts(i64::MAX, 0)];
    faults(FORMAT, &far, Type::RString, "the year -9999");
}
