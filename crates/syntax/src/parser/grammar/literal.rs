//! List, set, map and tuple literals.

use super::expr;
use crate::SyntaxKind;
use crate::SyntaxKind::*;
use crate::parser::marker::CompletedNode;
use crate::parser::parser_state::Parser;

/// `[a, b]`; the token here is `[`.
pub(in crate::parser) fn list(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    if !p.at(RBracket) {
        elements(p, RBracket, |p| expr::value(p).is_some());
    }
    p.expect(RBracket, "to close the list");
    p.finish(node, ListExpr)
}

/// `{}`, `{a, b}`, `{k: v}` or `{a = e}`; the token here is `{`.
pub(in crate::parser) fn braces(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    let kind = match (p.current(), p.nth(1)) {
        (RBrace, _) => SetExpr,
        (Ident, Eq) => TupleExpr,
        (kind, Eq) if kind.is_keyword() => TupleExpr,
        _ => set_or_map(p),
    };
    if kind == TupleExpr {
        elements(p, RBrace, tuple_entry);
    }
    let what = match kind {
        TupleExpr => "to close the tuple",
        MapExpr => "to close the map",
        _ => "to close the set",
    };
    p.expect(RBrace, what);
    p.finish(node, kind)
}

/// The first element tells which of the two it is.
fn set_or_map(p: &mut Parser) -> SyntaxKind {
    let mut kind = SetExpr;
    let mut is_first = true;
    elements(p, RBrace, |p| {
        let Some(key) = expr::value(p) else {
            return false;
        };
        if is_first && p.at(Colon) {
            kind = MapExpr;
        }
        is_first = false;
        if kind == MapExpr {
            let entry = p.precede(key);
            if p.expect(Colon, "after the key") {
                expr::value(p);
            }
            p.finish(entry, MapEntry);
        }
        true
    });
    kind
}

fn tuple_entry(p: &mut Parser) -> bool {
    if p.at(LBrace) {
        // The next tuple of a list: what closes this one is missing.
        return false;
    }
    let entry = p.start();
    let name = p.start();
    let is_name = p.name("the name of an attribute");
    p.finish(name, Name);
    if is_name && p.expect(Eq, "after the attribute") {
        expr::value(p);
    }
    p.finish(entry, TupleEntry);
    is_name
}

/// Elements with commas between up to `close`, which is not taken. An element that is broken does
/// not end the list: what is left of it is passed over.
pub(in crate::parser) fn elements(
    p: &mut Parser,
    close: SyntaxKind,
    mut element: impl FnMut(&mut Parser) -> bool,
) {
    let open = p.pos.saturating_sub(1);
    loop {
        let before = p.pos;
        let is_whole = element(p);
        if !p.at_any(&[Comma, close]) {
            let lacks_comma = close == Semi && p.at(Ident) && p.nth(1) == Eq;
            if is_whole && close == Semi && !lacks_comma {
                return;
            }
            if is_whole {
                p.error_missing(match lacks_comma {
                    true => "expected `,` between the assignments".to_owned(),
                    false => format!("expected `,` or `{}`", close.text()),
                });
            }
            if lacks_comma {
                continue;
            }
            if !is_whole && close == RBrace && p.at(LBrace) {
                return;
            }
            if !resume(p, open, close) {
                return;
            }
        }
        if (p.pos == before && !p.at(Comma)) || lacks_brace(p, close) {
            return;
        }
        if !p.eat(Comma) {
            return;
        }
        if p.at(close) {
            p.error_expected("an element after `,`");
            return;
        }
    }
}

/// Whether a tuple ends before the comma here although its brace is missing: what follows is the
/// last argument of the call around it, as in `submit({a = 1, Out);`.
fn lacks_brace(p: &Parser, close: SyntaxKind) -> bool {
    let is_argument = matches!(p.nth(1), Ident | Number) && p.nth(2) == RParen;
    close == RBrace && p.at(Comma) && is_argument
}

/// Passes over tokens to the next comma or to `close`, if the list is closed at all.
fn resume(p: &mut Parser, open: usize, close: SyntaxKind) -> bool {
    let Some(ahead) = p.next_element(close).or_else(|| end_of_line(p, open)) else {
        return false;
    };
    if ahead > p.pos {
        let broken = p.start();
        while p.pos < ahead {
            p.bump();
        }
        p.finish(broken, Error);
    }
    true
}

/// Token that closes the list opened at `open`, if that is on this line.
fn end_of_line(p: &Parser, open: usize) -> Option<usize> {
    let end = p.after_group(open)?.checked_sub(1)?;
    let is_near = end >= p.pos && p.next_line(p.pos) > end;
    is_near.then_some(end)
}
