//! Types and expressions at random.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Tokens, concat, separated, words};

/// A name that is no reserved word.
pub fn name() -> impl Strategy<Value = Tokens> {
    let names = [
        "a",
        "b1",
        "Price",
        "state",
        "count",
        "quiteALongNameForAnAttribute",
        "_x",
        "r",
    ];
    prop::sample::select(names.to_vec()).prop_map(words)
}

/// Types of every form.
pub fn ty() -> impl Strategy<Value = Tokens> {
    let simple = [
        "int32",
        "rstring",
        "ustring",
        "timestamp",
        "blob",
        "xml",
        "boolean",
        "decimal128",
        "T",
        "a . b :: T",
        "C . T",
        "$t",
        "rstring [ 10 ]",
        "enum { red , green }",
    ];
    let leaf = prop::sample::select(simple.to_vec()).prop_map(words);
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|t| concat([words("list <"), t, words(">")])),
            inner
                .clone()
                .prop_map(|t| concat([words("set <"), t, words("> [ 5 ]")])),
            inner
                .clone()
                .prop_map(|t| concat([words("tuple <"), t, words("attr >")])),
            (inner.clone(), inner.clone()).prop_map(|(k, v)| concat([
                words("map <"),
                k,
                words(","),
                v,
                words(">")
            ])),
            Just(words("optional < int32 >")),
            Just(words("tuple < A , C . B , tuple < int32 x > >")),
        ]
    })
}

/// Operands that may be assigned to, and that begin no other statement.
pub fn operand() -> impl Strategy<Value = Tokens> {
    prop_oneof![
        name(),
        name().prop_map(|name| concat([name, words(". attr [ 1 ]")])),
        name().prop_map(|name| concat([name, words("[ \"key\" ]")])),
    ]
}

/// A call of a function.
pub fn call() -> impl Strategy<Value = Tokens> {
    (name(), vec(expr(), 0..3)).prop_map(|(name, arguments)| {
        concat([name, words("("), separated(arguments, ","), words(")")])
    })
}

fn literal() -> impl Strategy<Value = Tokens> {
    let literals = [
        "0",
        "10",
        "3ul",
        "0x1Fu",
        "1.5",
        ".5",
        "2.",
        "1e10f",
        "true",
        "false",
        "null",
        "[ ]",
        "{ }",
        "\"text\"",
        "'it \"is\"'r",
        "\"with\\nescape\"u",
        "\"<a/>\"x",
        "\"\"",
    ];
    let spanning = Just(vec!["\"two\nlines\"".to_owned()]);
    prop_oneof![
        20 => prop::sample::select(literals.to_vec()).prop_map(words),
        1 => spanning,
    ]
}

/// An expression without assignments.
pub fn expr() -> BoxedStrategy<Tokens> {
    let name = prop_oneof![
        super::expr::name(),
        Just(words("a . b :: f")),
        Just(words("$x"))
    ];
    let leaf = prop_oneof![name, literal()];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            4 => binary(inner.clone()),
            2 => postfix(inner.clone()),
            2 => prefix(inner.clone()),
            3 => brackets(inner),
        ]
    })
    .boxed()
}

fn binary(inner: impl Strategy<Value = Tokens> + Clone) -> impl Strategy<Value = Tokens> {
    let op = prop::sample::select(vec![
        "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&",
        "||", "in", ".+", ".*", ".>>", ".>=", ".<<", ".==", ".|",
    ]);
    prop_oneof![
        8 => (inner.clone(), op, inner.clone())
            .prop_map(|(left, op, right)| concat([left, words(op), right])),
        1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| {
            concat([words("("), left, words(") ?: ("), right, words(")")])
        }),
        1 => (inner.clone(), inner.clone(), inner).prop_map(|(condition, yes, no)| {
            concat([words("("), condition, words(") ? ("), yes, words(") : ("), no, words(")")])
        }),
    ]
}

fn prefix(inner: impl Strategy<Value = Tokens> + Clone) -> impl Strategy<Value = Tokens> {
    let op = prop::sample::select(vec!["-", "!", "~", "++", "--", "- -", "- --"]);
    prop_oneof![
        (op, inner.clone()).prop_map(|(op, inner)| concat([words(op), inner])),
        (ty(), inner)
            .prop_map(|(ty, inner)| { concat([words("("), ty, words(") ("), inner, words(")")]) }),
    ]
}

fn postfix(inner: impl Strategy<Value = Tokens> + Clone) -> impl Strategy<Value = Tokens> {
    let op = prop::sample::select(vec!["++", "--", "!", "??", ". attr", "[ 1 : ]", "[ : 2 ]"]);
    let subscript = (inner.clone(), inner.clone());
    prop_oneof![
        (inner.clone(), op).prop_map(|(inner, op)| concat([inner, words(op)])),
        subscript.prop_map(|(of, at)| concat([of, words("["), at, words("]")])),
        (inner.clone(), inner.clone(), inner.clone()).prop_map(|(of, from, to)| {
            concat([of, words("["), from, words(":"), to, words("]")])
        }),
        (name(), vec(inner, 0..3)).prop_map(|(name, arguments)| {
            concat([name, words("("), separated(arguments, ","), words(")")])
        }),
    ]
}

fn brackets(inner: impl Strategy<Value = Tokens> + Clone) -> impl Strategy<Value = Tokens> {
    let pair =
        (inner.clone(), inner.clone()).prop_map(|(key, value)| concat([key, words(":"), value]));
    let attribute =
        (name(), inner.clone()).prop_map(|(name, value)| concat([name, words("="), value]));
    let between = |open: &'static str, all: Vec<Tokens>, close: &'static str| {
        concat([words(open), separated(all, ","), words(close)])
    };
    prop_oneof![
        inner
            .clone()
            .prop_map(|inner| concat([words("("), inner, words(")")])),
        vec(inner.clone(), 1..4).prop_map(move |all| between("[", all, "]")),
        vec(inner, 1..4).prop_map(move |all| between("{", all, "}")),
        vec(pair, 1..3).prop_map(move |all| between("{", all, "}")),
        vec(attribute, 1..4).prop_map(move |all| between("{", all, "}")),
    ]
}
