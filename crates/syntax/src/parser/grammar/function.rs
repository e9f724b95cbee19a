//! Functions, and prototypes of native functions.

use super::{expr, foreign, stmt, types};
use crate::SyntaxKind::*;
use crate::parser::marker::NodeMarker;
use crate::parser::parser_state::Parser;
use crate::{DeclarationKind, Diagnostic};

/// `public stateful T name(formals) { ... }`
pub(in crate::parser) fn function(p: &mut Parser) {
    let node = p.start();
    signature(p, ParameterNaming::Required);
    if p.at(LBrace) {
        stmt::block(p, "function");
    } else {
        p.error_here("expected-token", "expected `{` and the function's body");
        p.skip(|p| p.at(LBrace) || p.is_on_new_line(p.pos));
        match p.at(LBrace) {
            true => {
                stmt::block(p, "function");
            }
            false => {
                p.eat(Semi);
            }
        }
    }
    p.finish(node, Function);
}

/// `<any T>[N] public stateful T name(formals)`: the whole text; the node is begun by the caller.
pub(in crate::parser) fn prototype(p: &mut Parser) {
    if p.at(Lt) {
        type_formals(p);
    }
    if p.at(LBracket) {
        bound_formals(p);
    }
    signature(p, ParameterNaming::Optional);
}

/// Whether the parameters of a function have names; those of a prototype need none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParameterNaming {
    Required,
    Optional,
}

fn signature(p: &mut Parser, naming: ParameterNaming) {
    modifiers(p);
    types::result_type(p);
    let name = p.start();
    p.declaration_name(DeclarationKind::Function, "the name of the function");
    p.finish(name, Name);
    formals(p, naming);
}

fn modifiers(p: &mut Parser) {
    let mut seen = Vec::new();
    while p.at_any(&[PublicKw, StatefulKw]) {
        let kind = p.current();
        if seen.contains(&kind) {
            let span = p.span(p.pos);
            let message = format!("`{}` is given twice", kind.text());
            p.report_remark(Diagnostic::error("duplicate-modifier", span, message));
        }
        seen.push(kind);
        p.bump();
    }
}

fn formals(p: &mut Parser, naming: ParameterNaming) {
    let node = p.start();
    let open = p.pos;
    if p.expect(LParen, "after the function's name") {
        while !p.at_any(&[RParen, Eof]) {
            if !formal(p, naming) || !p.eat(Comma) {
                break;
            }
            if p.at(RParen) {
                p.error_expected("a parameter after `,`");
            }
        }
        close_formals(p, open);
    } else if p.at_any(&[Eq, Semi, Comma]) {
        p.add_help("variables belong to operators and functions; there are none outside of them");
    }
    p.finish(node, FormalList);
}

/// The closing parenthesis. What stands before it is passed over.
fn close_formals(p: &mut Parser, open: usize) {
    if p.eat(RParen) {
        return;
    }
    p.error_missing("expected `,` or `)` after the function's parameter");
    if p.at(Eq) {
        p.add_help("parameters have no defaults; a second function may have fewer of them");
    }
    p.skip_to_close(open);
}

/// Parses a formal parameter, `mutable T name`.
fn formal(p: &mut Parser, naming: ParameterNaming) -> bool {
    let node = p.start();
    if foreign::begins_with_name(p) {
        return name_first_formal(p, node);
    }
    let is_const = matches!(p.token_text(p.pos), "const" | "final");
    if is_const && (p.nth(1).is_type_keyword() || (p.nth(1) == Ident && p.nth(2) == Ident)) {
        let word = p.token_text(p.pos);
        p.error_at_token("foreign-statement", format!("SPL has no `{word}`"));
        p.add_help("leave it out: a parameter that is not `mutable` never changes");
        p.reported_at = None;
        p.skip_token();
    }
    p.eat(MutableKw);
    let mut is_whole = types::type_expr(p).is_some();
    let is_nameless = naming == ParameterNaming::Optional && p.at_any(&[Comma, RParen]);
    if is_whole && !is_nameless {
        let name = p.start();
        if p.at_any(&[Amp, Star]) {
            p.error_expected("the name of the parameter");
            p.add_help("a parameter that the function changes is declared `mutable`");
            p.reported_at = None;
            p.skip_token();
        }
        is_whole = p.declared_name("the name of the parameter");
        if !is_whole {
            p.add_help("a parameter is a type and a name: `int32 x`");
        }
        p.finish(name, Name);
    }
    p.finish(node, FunctionParam);
    is_whole
}

/// `mutable x : int32`, the type behind the name; the node is begun by the caller.
fn name_first_formal(p: &mut Parser, node: NodeMarker) -> bool {
    p.eat(MutableKw);
    foreign::report_type_behind(p, "a parameter");
    let nothing = p.start();
    p.finish(nothing, NamedType);
    let name = p.start();
    p.declared_name("the name of the parameter");
    p.finish(name, Name);
    types::skip_type_behind(p);
    p.finish(node, FunctionParam);
    true
}

/// `<any T, ordered K>`
fn type_formals(p: &mut Parser) {
    let node = p.start();
    p.bump();
    loop {
        let formal = p.start();
        for what in ["a constraint such as `any`", "the name of the type"] {
            let name = p.start();
            match p.current().is_keyword() {
                true => p.bump_as(Ident, 1),
                false => {
                    p.name(what);
                }
            }
            p.finish(name, Name);
        }
        p.finish(formal, TypeFormal);
        if !p.eat(Comma) {
            break;
        }
    }
    p.expect(Gt, "after the type formals");
    p.finish(node, TypeFormals);
}

/// Parses the bound formals of a prototype, `[N, M]`.
fn bound_formals(p: &mut Parser) {
    let node = p.start();
    p.bump();
    expr::expr_list(p);
    p.expect(RBracket, "after the bound formals");
    p.finish(node, BoundFormals);
}
