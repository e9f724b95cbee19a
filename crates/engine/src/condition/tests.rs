//! Conditions as programs evaluate them: results, errors, the cache, and texts of every kind.

use std::fmt::Write;

use eval::{ConditionErrorKind, NoServices};
use tuple::{EnumType, List, RString, Type};

use super::*;

/// `tuple<int32 n, int64 wide, float64 x, rstring name, list<int32> sizes, boolean yes,
/// tuple<rstring city> at, enum{red, green} color>`
fn schema() -> Arc<TupleType> {
    let at = TupleType::new([("city", Type::RString)]);
    let names = ["red", "green"].map(Into::into).to_vec();
    Arc::new(TupleType::new([
        ("n", Type::Int32),
        ("wide", Type::Int64),
        ("x", Type::Float64),
        ("name", Type::RString),
        ("sizes", Type::List(Arc::new(Type::Int32), None)),
        ("yes", Type::Boolean),
        ("at", Type::Tuple(Arc::new(at))),
        ("color", Type::Enum(Arc::new(EnumType { names }))),
    ]))
}

fn values() -> Vec<Value> {
    let text = |text: &str| Value::RString(RString(text.as_bytes().to_vec()));
    let list = [1, 2, 3].map(Value::Int32);
    vec![
        Value::Int32(7),
        Value::Int64(-1),
        Value::Float64(2.5),
        text("IBM"),
        Value::List(List::from_values(&Type::Int32, list)),
        Value::Boolean(true),
        Value::Tuple(vec![text("Ulm")].into()),
        Value::Enum(1),
    ]
}

fn ask(text: &str) -> Result<bool, ConditionError> {
    condition_holds(text, &schema(), &values(), &mut NoServices::default())
}

#[track_caller]
fn gives(text: &str, expected: bool) {
    assert_eq!(ask(text), Ok(expected), "{text}");
}

#[track_caller]
fn fails(text: &str, flaw: ConditionErrorKind, words: &str) {
    let bad = ask(text).expect_err(text);
    assert_eq!(bad.kind, flaw, "{text}: {}", bad.message);
    assert!(bad.message.contains(words), "{text}: {}", bad.message);
    assert!(!bad.message.ends_with('.'), "a full stop: {}", bad.message);
}

#[test]
fn conditions_over_attributes() {
    gives("n == 7", true);
    gives("yes", true);
    gives("!yes || n > 7", false);
    gives("n * 2 - 1 >= 13 && wide < 0l", true);
    gives("x / 2.0 == 1.25", true);
    gives("name == \"IBM\" && at.city != name", true);
    gives("2 in sizes && sizes[2] == 3 && sizes[0:2] == [1, 2]", true);
    gives("color == green && color > red", true);
    gives("(int64) n == 7l ? length(name) == 3 : false", true);
    gives(" // a comment\n n in { 7 : \"seven\" }", true);
    gives("true", true);
}

/// As Import's filters: `n` is an int32, `wide` an int64, `x` a float64, `sizes` of int32.
#[test]
fn numbers_of_different_types_are_compared_by_value() {
    gives("n == 7l && n > 6ub && n < 5000000000l && n != 7.5", true);
    gives(
        "wide == n || wide == 7w || wide > 18446744073709551615ul",
        false,
    );
    gives("wide < 0ul && wide < 0.5", true);
    gives(
        "n < 5000000000 && n > -5000000000 && n != 18446744073709551615",
        true,
    );
    gives("x == 2.5d && n + 1l == 8 && n % 4l == 3b", true);
    gives("2l in sizes && 2.0 in sizes && !(2.5 in sizes)", true);
    gives("7l in { 7 : \"seven\" } && 7.0 in { 7, 8 }", true);
}

#[test]
fn what_is_wrong_is_said_by_cause_and_place() {
    fails("", ConditionErrorKind::Syntax, "1:1");
    fails("n ==", ConditionErrorKind::Syntax, "1:");
    fails("n == 7; yes", ConditionErrorKind::Syntax, "1:7");
    fails("n = = 7", ConditionErrorKind::Syntax, "1:");
    fails(&"(".repeat(100_000), ConditionErrorKind::Syntax, "bytes");
    fails("\n  m == 7", ConditionErrorKind::UnknownName, "2:3");
    fails(
        "at.town == \"Ulm\"",
        ConditionErrorKind::UnknownName,
        "town",
    );
    fails("sise(name) == 3", ConditionErrorKind::UnknownName, "sise");
    fails("n + 1", ConditionErrorKind::NotBoolean, "int32");
    fails("at", ConditionErrorKind::NotBoolean, "tuple");
    fails("n == \"7\"", ConditionErrorKind::RuleViolation, "1:");
    fails("name == 7w", ConditionErrorKind::RuleViolation, "1:");
    fails("(n = 8) == 8", ConditionErrorKind::RuleViolation, "1:");
    fails("n++ == 7", ConditionErrorKind::RuleViolation, "1:");
    fails(
        "random() < 2.0",
        ConditionErrorKind::RuleViolation,
        "condition that is text",
    );
    fails(
        "evalPredicate(name, at, n)",
        ConditionErrorKind::RuleViolation,
        "1:",
    );
    fails("sizes[n] == 0", ConditionErrorKind::EvaluationFault, "7");
    fails(
        "7 / (n - 7) == 0",
        ConditionErrorKind::EvaluationFault,
        "zero",
    );
    fails(
        "dataDirectory() == \"\"",
        ConditionErrorKind::EvaluationFault,
        "data directory",
    );
}

#[test]
fn the_same_text_means_another_thing_over_other_tuples() {
    let other = Arc::new(TupleType::new([("yes", Type::Int32)]));
    let mut none = NoServices::default();
    gives("yes", true);
    let bad = condition_holds("yes", &other, &[Value::Int32(1)], &mut none).expect_err("an int32");
    assert_eq!(bad.kind, ConditionErrorKind::NotBoolean);
    gives("yes", true);
}

#[test]
fn only_so_many_are_kept_and_those_in_use_are() {
    let mut cache = ConditionCache::default();
    let over = schema();
    let wrong = || ParsedCondition::invalid("for this test");
    let used = cache.insert_new("in use", &over, wrong());
    for n in 0..5 * cache::COUNT_MAX {
        let found = cache.find("in use", &over).expect("it is in use");
        assert!(std::rc::Rc::ptr_eq(&found, &used));
        cache.insert_new(&format!("n == {n}"), &over, wrong());
        assert!(cache.count() <= 2 * cache::COUNT_MAX);
    }
    assert!(cache.find("n == 0", &over).is_none());
    let long = "x".repeat(cache::BYTES_MAX / 4);
    for n in 0..64 {
        cache.insert_new(&format!("{n}{}", &long[3..]), &over, wrong());
    }
    assert!(cache.count() <= 10, "{}", cache.count());
}

/// Words that make something of each other.
const WORDS: &[&str] = &[
    "n",
    "wide",
    "x",
    "name",
    "sizes",
    "yes",
    "at",
    "city",
    "color",
    "red",
    ".",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "~",
    "?",
    ":",
    "?:",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ";",
    "=",
    "+=",
    "++",
    "in",
    "7",
    "0x1F",
    "1.5",
    "2l",
    "3.5d64",
    "\"a\"",
    "\"é\\u00e9\"u",
    "\"",
    "'",
    "true",
    "false",
    "null",
    "int32",
    "(int32)",
    "(rstring)",
    "(list<int32>)",
    "size(",
    "substring(name, 1, 2)",
    "max(",
    "makeSequence(1, 3)",
    "$p",
    "Sys.Gauge",
    "spl.math::abs(",
    "::",
    "@",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "\0",
    "é",
    "\u{1F600}",
    "stream",
    "composite",
    "while",
    "random()",
    "assert(yes)",
    "error",
];

/// Every text has an answer, and a second evaluation gives the same answer.
#[test]
fn no_text_is_too_much() {
    let mut random = Random(0x7E57);
    let mut answers = [0; 2];
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..random.below(12) {
            let word = WORDS[random.below(WORDS.len())];
            let space = [" ", ""][random.below(8) / 7];
            let _ = write!(text, "{word}{space}");
        }
        let answer = ask(&text);
        assert_eq!(ask(&text), answer, "{text}");
        answers[usize::from(answer.is_ok())] += 1;
    }
    assert!(answers[0] > 0, "{answers:?}");
}

/// A right condition that loses or doubles a few of its characters.
#[test]
fn damaged_conditions_are_survived() {
    let right = "n * 2 in [14, 15] && at.city != \"a\\\"b\" || sizes[n % 3] == (int32) x ? yes : \
                 {a=1, b=\"c\"} == {a=2, b=name}";
    let mut random = Random(0xDA3A);
    gives(right, true);
    for _ in 0..3000 {
        let mut text: Vec<char> = right.chars().collect();
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len());
            match random.below(2) {
                0 => drop(text.remove(at)),
                _ => text.insert(at, text[random.below(text.len())]),
            }
        }
        let _ = ask(&text.into_iter().collect::<String>());
    }
}

#[test]
fn deep_and_long_conditions_are_survived() {
    // As much stack as the threads of a PE have.
    let work = || {
        eval::interp::reserve_stack(62 << 20);
        deep_and_long();
    };
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(64 << 20);
        let thread = builder.spawn_scoped(scope, work).expect("a thread");
        thread.join().expect("it is survived");
    });
    // With little of it there is still an answer.
    let _ = ask(&vec!["yes"; 500].join(" && "));
}

fn deep_and_long() {
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(240), close.repeat(240))
    };
    gives(&nested("(", "yes", ")"), true);
    gives(&nested("!", "yes", ""), true);
    gives(&vec!["yes"; 500].join(" && "), true);
    for text in [
        nested("[", "n", "] == []"),
        nested("{a=", "n", "}"),
        nested("abs(", "n", ")"),
        nested("yes ? ", "yes", " : yes"),
        format!("at{}", ".city".repeat(10_000)),
        "(".repeat(60_000),
        "yes && ".repeat(9_000),
        "-".repeat(60_000),
        "[".repeat(30_000) + &"]".repeat(30_000),
    ] {
        let _ = ask(&text);
    }
}

/// Pseudo-random numbers, equal in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}
