//! Expressions, by precedence climbing over the table of the language.
//!
//! ```text
//! 1 = += ...   2 ? :   3 ||   4 &&   5 in   6 |   7 ^   8 &   9 < <= > >= == !=
//! 10 << >>   11 + -   12 * / %   13 ?:   14 prefix, cast   15 postfix
//! ```
//! A dotted operator (`.+`) has the level of its plain one. Unlike in C, comparisons bind more
//! loosely than `&` only by the table above: all six are one level, tighter than `&`.

use super::{foreign, foreign_words, literal, types};
use crate::SyntaxKind::*;
use crate::parser::marker::CompletedNode;
use crate::parser::parser_state::{HEIGHT_MAX, Parser};
use crate::{Diagnostic, SyntaxKind};

const ASSIGN: u8 = 1;
const CONDITIONAL: u8 = 2;
const OR_ELSE: u8 = 13;

/// An expression, assignments included. `None` if none begins here; that was said then.
pub(in crate::parser) fn expr(p: &mut Parser) -> Option<CompletedNode> {
    binary(p, ASSIGN)
}

/// An expression that cannot be an assignment.
pub(in crate::parser) fn value(p: &mut Parser) -> Option<CompletedNode> {
    binary(p, CONDITIONAL)
}

/// `a, b, c`: one or more expressions up to what ends the list.
pub(in crate::parser) fn expr_list(p: &mut Parser) {
    loop {
        if expr(p).is_none() || !p.eat(Comma) {
            return;
        }
    }
}

/// `ns.sub::name` or `name`; the token here is a name.
pub(in crate::parser) fn qualified_name(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    let end = p.after_qualified_name(p.pos).unwrap_or(p.pos + 1);
    while p.pos < end {
        p.bump();
    }
    p.finish(node, QName)
}

/// Operators of at least `level`.
fn binary(p: &mut Parser, level: u8) -> Option<CompletedNode> {
    p.nested(|p| {
        let mut left = prefix(p)?;
        loop {
            if let Some(kind) = foreign_operator(p) {
                if left.height >= HEIGHT_MAX {
                    p.too_deep();
                    return Some(left);
                }
                left = foreign_side(p, left, kind);
                continue;
            }
            if foreign_words::begins_operator(p) {
                if left.height >= HEIGHT_MAX {
                    p.too_deep();
                    return Some(left);
                }
                left = foreign_words::operator(p, left);
                continue;
            }
            if level <= CONDITIONAL && foreign::begins_conditional(p) {
                return Some(foreign_conditional(p, left));
            }
            let (kind, count) = operator(p);
            let Some(found) = binding_level(kind).filter(|&found| found >= level) else {
                return Some(left);
            };
            if left.height >= HEIGHT_MAX {
                p.too_deep();
                return Some(left);
            }
            let node = p.precede(left);
            p.bump_as(kind, count);
            left = right_side(p, node, found);
        }
    })
}

fn right_side(p: &mut Parser, node: crate::parser::marker::NodeMarker, level: u8) -> CompletedNode {
    match level {
        ASSIGN => {
            binary(p, ASSIGN);
            p.finish(node, AssignExpr)
        }
        CONDITIONAL => {
            binary(p, CONDITIONAL);
            if p.expect(Colon, "between the two values of `? :`") {
                binary(p, CONDITIONAL);
            }
            p.finish(node, ConditionalExpr)
        }
        OR_ELSE => {
            if let Some(right) = binary(p, OR_ELSE + 1) {
                report_chained_or_else(p, right);
            }
            p.finish(node, BinaryExpr)
        }
        _ => {
            binary(p, level + 1);
            p.finish(node, BinaryExpr)
        }
    }
}

/// The operator here and of how many tokens it is: `>` `>` `=` without blanks are one.
fn operator(p: &Parser) -> (SyntaxKind, u8) {
    if p.current() != Gt || !p.is_joined(p.pos) {
        return (p.current(), 1);
    }
    match p.nth(1) {
        Eq => (GtEq, 2),
        Gt if p.nth(2) == Eq && p.is_joined(p.pos + 1) => (ShrEq, 3),
        Gt => (Shr, 2),
        _ => (Gt, 1),
    }
}

/// Operators that other languages have: how many tokens they are and what SPL writes instead.
fn foreign_operator(p: &Parser) -> Option<(u8, &'static str)> {
    let joined = |count: usize| (0..count - 1).all(|at| p.is_joined(p.pos + at));
    match (p.current(), p.nth(1)) {
        (Ident, _) => match p.token_text(p.pos) {
            "and" => Some((1, "&&")),
            "or" => Some((1, "||")),
            "not" if p.nth(1) == InKw => Some((2, "!(a in b)")),
            "is" if p.nth(1) == NullKw => Some((1, "==")),
            "is" if p.token_text(p.pos + 1) == "not" && p.nth(2) == NullKw => Some((2, "!=")),
            _ => None,
        },
        (EqEq, Eq) if joined(2) => Some((2, "==")),
        (BangEq, Eq) if joined(2) => Some((2, "!=")),
        (Lt, Gt) if joined(2) => Some((2, "!=")),
        (Minus, Gt) if joined(2) => Some((2, ".")),
        (Question, Dot) if joined(2) => Some((2, "!.")),
        (Star, Star) if joined(2) => Some((2, "pow(value, power)")),
        _ => None,
    }
}

/// Takes the text behind a foreign operator as a value, so that the statement goes on behind it.
fn foreign_side(
    p: &mut Parser,
    left: CompletedNode,
    (count, instead): (u8, &str),
) -> CompletedNode {
    let node = p.precede(left);
    let end = p.pos + usize::from(count);
    let span = p.span(p.pos).to(p.span(end - 1));
    let text = &p.text[span.start as usize..span.end as usize];
    let message = format!("SPL has no `{text}`");
    p.report(Diagnostic::error("foreign-operator", span, message));
    p.add_help(format!("write `{instead}`"));
    p.reported_at = None;
    while p.pos < end {
        p.bump();
    }
    prefix(p);
    p.finish(node, Error)
}

/// `a ?: b ?: c`: what is meant is that `b` takes the place of `a` and `c` that of both.
fn report_chained_or_else(p: &mut Parser, mut right: CompletedNode) {
    while p.at(QuestionColon) && right.height < HEIGHT_MAX {
        p.error_here("chained-operator", "`?:` cannot be chained");
        p.add_help("put parentheses around the last two: `a ?: (b ?: c)`");
        p.reported_at = None;
        let node = p.precede(right);
        p.bump();
        binary(p, OR_ELSE + 1);
        right = p.finish(node, BinaryExpr);
    }
}

pub(crate) fn binding_level(kind: SyntaxKind) -> Option<u8> {
    Some(match kind {
        Eq | PlusEq | MinusEq | StarEq | SlashEq | PercentEq | ShlEq | ShrEq | AmpEq | CaretEq
        | PipeEq => ASSIGN,
        Question => CONDITIONAL,
        PipePipe => 3,
        AmpAmp => 4,
        InKw => 5,
        Pipe | DotPipe => 6,
        Caret | DotCaret => 7,
        Amp | DotAmp => 8,
        Lt | LtEq | Gt | GtEq | EqEq | BangEq | DotLt | DotLtEq | DotGt | DotGtEq | DotEqEq
        | DotBangEq => 9,
        Shl | Shr | DotShl | DotShr => 10,
        Plus | Minus | DotPlus | DotMinus => 11,
        Star | Slash | Percent | DotStar | DotSlash | DotPercent => 12,
        QuestionColon => OR_ELSE,
        _ => return None,
    })
}

/// An operand with the operators before and behind it.
pub(super) fn prefix(p: &mut Parser) -> Option<CompletedNode> {
    match p.current() {
        Ident if is_foreign_new(p) => {
            let node = p.start();
            p.error_at_token("foreign-operator", "SPL has no `new`");
            p.add_help("write the value: `[]`, `{}`, or `{ a = 1 }` for instance");
            p.skip(|p| p.at(Comma));
            Some(p.finish(node, Error))
        }
        Ident if foreign_words::begins_case(p) => Some(foreign_words::case(p)),
        Ident if foreign::begins_cast(p) => Some(foreign_cast(p)),
        Ident if foreign::begins_prefixed_string(p) => Some(foreign::prefixed_string(p)),
        Ident if is_foreign_not(p) => p.nested(|p| {
            let node = p.start();
            p.error_at_token("foreign-operator", "SPL has no `not`");
            p.add_help("write `!`");
            p.reported_at = None;
            p.bump();
            prefix(p);
            Some(p.finish(node, Error))
        }),
        Plus => p.nested(|p| {
            let node = p.start();
            p.error_at_token("foreign-operator", "SPL has no `+` before a single value");
            p.add_help("leave it out");
            p.reported_at = None;
            p.bump();
            prefix(p);
            Some(p.finish(node, Error))
        }),
        Bang | Minus | Tilde | PlusPlus | MinusMinus => p.nested(|p| {
            let node = p.start();
            p.bump();
            prefix(p);
            Some(p.finish(node, PrefixExpr))
        }),
        LParen if p.begins_cast() => p.nested(|p| Some(cast(p))),
        _ => {
            let inner = primary(p)?;
            Some(postfix(p, inner))
        }
    }
}

/// Whether an expression begins as in other languages, `new T(...)`.
fn is_foreign_new(p: &Parser) -> bool {
    p.token_text(p.pos) == "new" && (p.nth(1) == Ident || p.nth(1).is_type_keyword())
}

/// `not x`; `not(x)` calls a function of that name.
fn is_foreign_not(p: &Parser) -> bool {
    let begins_value = matches!(
        p.nth(1),
        Ident | Number | StringToken | TrueKw | FalseKw | Bang
    );
    begins_value && p.token_text(p.pos) == "not"
}

fn cast(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    match p.at(VoidKw) {
        true => types::result_type(p),
        false => {
            types::type_expr(p);
        }
    }
    p.expect(RParen, "after the type of the cast");
    prefix(p);
    p.finish(node, CastExpr)
}

/// A cast as C++ has it: `static_cast<int32>(x)`.
fn foreign_cast(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    let word = p.token_text(p.pos);
    p.error_at_token("foreign-operator", format!("SPL has no `{word}`"));
    p.add_help("a cast is written `(int32) value`");
    p.reported_at = None;
    p.bump();
    p.bump();
    types::type_expr(p);
    p.eat(Gt);
    if p.at(LParen) {
        p.skip_one();
    }
    p.finish(node, Error)
}

/// Takes the rest of a conditional expression as Python writes it.
fn foreign_conditional(p: &mut Parser, left: CompletedNode) -> CompletedNode {
    let node = p.precede(left);
    p.error_at_token("foreign-operator", "SPL has no `if` within an expression");
    p.add_help("write `condition ? a : b`");
    p.reported_at = None;
    p.bump();
    if value(p).is_some() && p.eat(ElseKw) {
        value(p);
    }
    p.finish(node, Error)
}

fn postfix(p: &mut Parser, mut inner: CompletedNode) -> CompletedNode {
    loop {
        if inner.height >= HEIGHT_MAX {
            p.too_deep();
            return inner;
        }
        inner = match p.current() {
            LParen => call(p, inner),
            Dot => field(p, inner),
            LBracket => subscript(p, inner),
            PlusPlus | MinusMinus | Bang | QuestionQuestion => {
                let node = p.precede(inner);
                p.bump();
                p.finish(node, PostfixExpr)
            }
            _ => return inner,
        };
    }
}

fn call(p: &mut Parser, callee: CompletedNode) -> CompletedNode {
    let node = p.precede(callee);
    let args = p.start();
    p.bump();
    if p.at(Star) && p.nth(1) == RParen {
        p.error_at_token("foreign-operator", "SPL has no `*` for all attributes");
        p.add_help("what counts tuples takes no argument: `Count()`");
        p.reported_at = None;
        p.skip_one();
    } else if !p.at(RParen) {
        literal::elements(p, RParen, |p| expr(p).is_some());
    }
    p.expect(RParen, "after the arguments");
    p.finish(args, ArgList);
    p.finish(node, CallExpr)
}

fn field(p: &mut Parser, inner: CompletedNode) -> CompletedNode {
    let node = p.precede(inner);
    p.bump();
    let name = p.start();
    let is_text = p.at(StringToken);
    if !p.name("the name of an attribute") && is_text {
        p.add_help("strings are joined by `+`");
    }
    p.finish(name, Name);
    p.finish(node, FieldExpr)
}

/// `[i]`, `[l:u]`, `[:u]`, `[l:]`
fn subscript(p: &mut Parser, inner: CompletedNode) -> CompletedNode {
    let node = p.precede(inner);
    p.bump();
    let has_lower = !p.at(Colon);
    if has_lower {
        value(p);
    }
    let is_slice = p.eat(Colon);
    if is_slice && !(has_lower && p.at(RBracket)) {
        value(p);
    }
    let has_step = is_slice && p.at(Colon);
    if !p.expect(RBracket, "after the subscript") && has_step {
        p.add_help("a slice has no step; `slice(values, from, count, skip)` leaves some out");
    }
    p.finish(node, if is_slice { SliceExpr } else { IndexExpr })
}

fn primary(p: &mut Parser) -> Option<CompletedNode> {
    match p.current() {
        Ident => Some(qualified_name(p)),
        kind if p.reserved_names.contains(&kind) => {
            let node = p.start();
            p.bump_as(Ident, 1);
            Some(p.finish(node, QName))
        }
        Number | StringToken | TrueKw | FalseKw | NullKw => {
            let node = p.start();
            p.bump();
            Some(p.finish(node, Literal))
        }
        LParen => Some(parenthesized(p)),
        LBracket => p.nested(|p| Some(literal::list(p))),
        LBrace => p.nested(|p| Some(literal::braces(p))),
        kind if kind.is_type_keyword() => Some(misplaced_type(p)),
        kind if kind.is_keyword() && is_meant_as_value(p) => Some(reserved(p)),
        _ => {
            p.error_expected("an expression");
            None
        }
    }
}

/// The reserved word here is followed by what goes on with a value.
fn is_meant_as_value(p: &Parser) -> bool {
    let next = p.nth(1);
    matches!(next, RParen | RBracket | Comma | Semi | Dot) || binding_level(next).is_some()
}

fn reserved(p: &mut Parser) -> CompletedNode {
    let word = p.current().text();
    p.error_at_token(
        "reserved-word",
        format!("`{word}` is a reserved word and cannot be a name"),
    );
    p.skip_token()
}

fn parenthesized(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    expr(p);
    let is_tuple = p.at(Comma);
    if !p.expect(RParen, "to close the parenthesis") && is_tuple {
        p.add_help("a tuple is written `{a = 1, b = 2}`, a list `[1, 2]`");
    }
    p.finish(node, ParenExpr)
}

fn misplaced_type(p: &mut Parser) -> CompletedNode {
    let word = p.current().text();
    let span = p.span(p.pos);
    let message = format!("expected an expression, found the type `{word}`");
    p.report(Diagnostic::error("expected-token", span, message));
    if p.nth(1) == LParen {
        p.add_help(format!("a cast is written `({word}) value`"));
    }
    let node = p.start();
    p.bump_as(Ident, 1);
    p.finish(node, Error)
}
