//! Words of SQL in expressions, `like`, `between`, `case when` and `as`: each gives one message
//! with what SPL has in its place.

use super::{expr, types};
use crate::SyntaxKind::*;
use crate::parser::marker::CompletedNode;
use crate::parser::parser_state::Parser;

/// Whether a word that joins two values in SQL is here, behind the first.
pub(super) fn begins_operator(p: &Parser) -> bool {
    if p.at(AsKw) {
        return p.nth(1) == Ident || p.nth(1).is_type_keyword();
    }
    let word = p.pos + usize::from(is_word(p, p.pos, &["not"]));
    let begins_value = matches!(
        p.kind_at(word + 1),
        Ident | Number | StringToken | Minus | LParen
    );
    begins_value && is_word(p, word, &["like", "ilike", "rlike", "between"])
}

/// Takes such a word with the value behind it; `left` is the value before it.
pub(super) fn operator(p: &mut Parser, left: CompletedNode) -> CompletedNode {
    let node = p.precede(left);
    if p.at(AsKw) {
        alias(p);
        return p.finish(node, Error);
    }
    if is_word(p, p.pos, &["not"]) {
        p.bump();
    }
    let word = p.token_text(p.pos);
    p.error_at_token("foreign-operator", format!("SPL has no `{word}`"));
    let is_range = word == "between";
    p.add_help(match is_range {
        true => "write `x >= low && x <= high`",
        false => {
            "`size(regexMatch(text, pattern)) > 0` asks whether a regular expression is found in a \
             text, `findFirst(text, part) >= 0` whether a part is"
        }
    });
    p.bump();
    if is_range {
        p.skip(|p| p.at(Comma) || is_word(p, p.pos, &["and"]));
        if is_word(p, p.pos, &["and"]) {
            p.bump();
        }
    }
    p.reported_at = None;
    expr::prefix(p);
    p.finish(node, Error)
}

/// `value as float64`, `value as name`
fn alias(p: &mut Parser) {
    p.error_at_token(
        "foreign-operator",
        "`as` names streams and operators, not values",
    );
    let is_type = p.nth(1).is_type_keyword();
    let target = p.token_text(p.pos + 1);
    p.add_help(match is_type {
        true => format!("a cast is written `({target}) value`"),
        false => format!("a name stands before its value: `{target} = value`"),
    });
    p.bump();
    match is_type {
        true => {
            types::type_expr(p);
        }
        false => p.bump(),
    }
    p.reported_at = None;
}

/// Whether `case when c then a else b end` or `case x when ...` begins here.
pub(super) fn begins_case(p: &Parser) -> bool {
    let when = |index| is_word(p, index, &["when"]);
    is_word(p, p.pos, &["case"])
        && (when(p.pos + 1) || (p.kind_at(p.pos + 1) == Ident && when(p.pos + 2)))
}

/// Passes over such an expression up to its `end`.
pub(super) fn case(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.error_at_token("foreign-operator", "SPL has no `case`");
    p.add_help("write `condition ? value : other`; `other` may be such an expression again");
    p.skip(|p| is_word(p, p.pos, &["end"]));
    if is_word(p, p.pos, &["end"]) {
        p.bump();
    }
    p.reported_at = None;
    p.finish(node, Error)
}

fn is_word(p: &Parser, index: usize, words: &[&str]) -> bool {
    p.kind_at(index) == Ident && words.contains(&p.token_text(index))
}
