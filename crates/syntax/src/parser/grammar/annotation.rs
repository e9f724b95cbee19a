//! Annotations: `@parallel(width = 3, partitionBy = [{port = In, attributes = [a]}])`.

use super::{expr, literal};
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;

/// All annotations that stand here. Says whether there was one.
pub(in crate::parser) fn annotations(p: &mut Parser) -> bool {
    let any = p.at(At);
    while p.at(At) {
        annotation(p);
    }
    any
}

/// `@name` or `@name(key = value)`. In `@name () as Out = ...` the parenthesis is that of the head.
fn annotation(p: &mut Parser) {
    let node = p.start();
    p.bump();
    let name = p.start();
    p.lenient_name("the name of an annotation");
    p.finish(name, Name);
    if p.at(LParen) && !p.begins_invocation(p.pos) {
        let args = p.start();
        p.bump();
        if !p.at(RParen) {
            literal::elements(p, RParen, argument);
        }
        p.expect(RParen, "to close the annotation");
        p.finish(args, AnnotationArgs);
    }
    p.finish(node, Annotation);
}

/// Parses one argument, `key = value`.
fn argument(p: &mut Parser) -> bool {
    let node = p.start();
    if !is_key(p) {
        p.error_expected("`key = value`");
        p.abandon(node);
        return false;
    }
    let name = p.start();
    p.lenient_name("a key");
    p.finish(name, Name);
    p.bump();
    let is_whole = expr::value(p).is_some();
    p.finish(node, AnnotationArg);
    is_whole
}

fn is_key(p: &Parser) -> bool {
    (p.at(Ident) || p.current().is_keyword()) && p.nth(1) == Eq
}
