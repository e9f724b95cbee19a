//! A source file: `namespace`, `use`, and the definitions.

use super::type_definition::plain_type_definition;
use super::{annotation, composite, foreign, function};
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;
use crate::{Diagnostic, SyntaxKind};

/// How far a unit has come; what belongs further up is complained about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UnitSection {
    Start,
    Uses,
    Items,
}

/// Parses a whole file.
pub(in crate::parser) fn unit(p: &mut Parser) {
    let node = p.start();
    let mut progress = UnitSection::Start;
    while !p.at_end() {
        let before = p.pos;
        p.is_too_deep = false;
        item(p, &mut progress);
        if p.pos == before {
            p.skip_token();
        }
    }
    p.finish(node, Unit);
}

fn item(p: &mut Parser, progress: &mut UnitSection) {
    match p.current() {
        NamespaceKw => {
            check_order(
                p,
                *progress == UnitSection::Start,
                "`namespace` must be the first of a file",
            );
            namespace(p);
            *progress = (*progress).max(UnitSection::Uses);
        }
        UseKw => {
            check_order(
                p,
                *progress < UnitSection::Items,
                "`use` must stand before all definitions",
            );
            use_directive(p);
            *progress = (*progress).max(UnitSection::Uses);
        }
        _ => {
            if definition(p) {
                *progress = UnitSection::Items;
            }
        }
    }
}

fn check_order(p: &mut Parser, is_in_order: bool, message: &str) {
    if !is_in_order {
        let span = p.span(p.pos);
        p.report_remark(Diagnostic::error("item-order", span, message));
    }
}

/// Parses a namespace directive, `namespace a.b;`.
fn namespace(p: &mut Parser) {
    let node = p.start();
    p.bump();
    namespace_name(p);
    let help = match p.current() {
        LBrace => Some("a namespace is that of a whole file: `namespace a.b;`"),
        ColonColon => Some("the parts of its name are joined by `.`: `namespace a.b;`"),
        _ => None,
    };
    p.semicolon("the namespace");
    if let Some(help) = help {
        p.add_help(help);
    }
    p.finish(node, NamespaceDecl);
}

fn namespace_name(p: &mut Parser) {
    let node = p.start();
    while p.name("the name of a namespace") && p.eat(Dot) {}
    p.finish(node, NamespaceName);
}

/// `use a.b::Name;` or `use a.b::*;`
fn use_directive(p: &mut Parser) {
    let node = p.start();
    p.bump();
    namespace_name(p);
    if p.expect(ColonColon, "after the namespace") {
        if !p.eat(Star) {
            let name = p.start();
            p.name("a name or `*`");
            p.finish(name, Name);
        }
    } else {
        p.add_help("write `use name.space::Name;` or `use name.space::*;`");
    }
    p.semicolon("the `use` directive");
    p.finish(node, UseDecl);
}

/// A composite, function or type. Says whether it was one.
fn definition(p: &mut Parser) -> bool {
    match p.current() {
        At => annotated_item(p),
        TypeKw => type_item(p),
        PublicKw | StatefulKw => modified_item(p),
        CompositeKw => composite_item(p),
        VoidKw => function::function(p),
        EnumKw if foreign::begins_named_enum(p) => foreign::named_enum(p),
        kind if kind.is_type_keyword() && !is_variable(p) => function::function(p),
        Ident => return item_after_name(p),
        _ => {
            stray_item(p);
            return false;
        }
    }
    true
}

fn composite_item(p: &mut Parser) {
    let node = p.start();
    composite::composite(p);
    p.finish(node, Composite);
}

fn annotated_item(p: &mut Parser) {
    let node = p.start();
    let first = p.span(p.pos);
    annotation::annotations(p);
    let is_composite = p.at(CompositeKw) || (p.at(PublicKw) && p.nth(1) == CompositeKw);
    if is_composite {
        composite::composite(p);
        p.finish(node, Composite);
        return;
    }
    p.finish(node, Error);
    let message = "an annotation stands before a composite or an operator invocation";
    p.report_remark(Diagnostic::error("misplaced-annotation", first, message));
    p.reported_at = Some(p.pos);
}

/// After `public` or `stateful`.
fn modified_item(p: &mut Parser) {
    let mut ahead = p.pos;
    while matches!(p.kind_at(ahead), PublicKw | StatefulKw) {
        ahead += 1;
    }
    match p.kind_at(ahead) {
        CompositeKw => {
            let node = p.start();
            composite_modifiers(p, ahead);
            composite::composite(p);
            p.finish(node, Composite);
        }
        TypeKw => {
            let span = p.span(p.pos);
            p.report_remark(
                Diagnostic::error("misplaced-modifier", span, "a type cannot be `public`")
                    .help("a type is visible everywhere; write only `type`"),
            );
            let node = p.start();
            while p.pos < ahead {
                p.bump();
            }
            p.finish(node, Error);
            type_item(p);
        }
        Ident if p.similar_keyword(ahead, &[CompositeKw]).is_some() && is_composite(p, ahead) => {
            let node = p.start();
            while p.pos < ahead {
                p.bump();
            }
            p.misspelt(&[CompositeKw]);
            composite::composite(p);
            p.finish(node, Composite);
        }
        Ident if is_composite(p, ahead - 1) => {
            let message = format!("expected `composite` before `{}`", p.token_text(ahead));
            let node = p.start();
            while p.pos < ahead {
                p.bump();
            }
            p.error_at_token("expected-token", message);
            p.reported_at = None;
            composite::composite(p);
            p.finish(node, Composite);
        }
        _ => function::function(p),
    }
}

/// Only one `public` may stand before `composite`; all others are passed over.
fn composite_modifiers(p: &mut Parser, composite: usize) {
    while p.pos < composite {
        let is_last = p.pos + 1 == composite;
        if is_last && p.at(PublicKw) {
            return;
        }
        let word = p.current().text();
        let message = format!("`{word}` cannot stand here before `composite`");
        let span = p.span(p.pos);
        p.report_remark(Diagnostic::error("misplaced-modifier", span, message));
        p.skip_token();
    }
}

fn type_item(p: &mut Parser) {
    let node = p.start();
    p.bump();
    plain_type_definition(p);
    p.finish(node, TypeItem);
}

/// A name at the beginning of a definition: the result type of a function, or a misspelt word.
fn item_after_name(p: &mut Parser) -> bool {
    let is_function = p
        .after_type_name(p.pos)
        .is_some_and(|after| p.kind_at(after) == Ident && p.kind_at(after + 1) == LParen);
    if p.similar_keyword(p.pos, &[CompositeKw]).is_some() && is_composite(p, p.pos) {
        let node = p.start();
        p.misspelt(&[CompositeKw]);
        composite::composite(p);
        p.finish(node, Composite);
        return true;
    }
    if is_function {
        function::function(p);
        return true;
    }
    if p.nth(1) == Eq && p.nth(2).is_type_keyword() {
        let message = format!("expected `type` before `{} =`", p.token_text(p.pos));
        p.error_at_token("unexpected-token", message);
        p.reported_at = None;
        let node = p.start();
        plain_type_definition(p);
        p.finish(node, TypeItem);
        return true;
    }
    match p.similar_keyword(p.pos, &[NamespaceKw, UseKw, TypeKw, PublicKw, StatefulKw]) {
        Some(kind) if p.nth(1) == Ident || p.nth(1) == CompositeKw => {
            let written = p.token_text(p.pos);
            let message = format!("`{written}` is no word of SPL here");
            let span = p.span(p.pos);
            p.report(
                Diagnostic::error("misspelt-keyword", span, message)
                    .help(format!("did you mean `{}`?", kind.text())),
            );
            resume_misspelt(p, kind)
        }
        _ => {
            stray_item(p);
            false
        }
    }
}

/// Goes on as if the word had been spelt well.
fn resume_misspelt(p: &mut Parser, kind: SyntaxKind) -> bool {
    p.reported_at = None;
    match kind {
        PublicKw | StatefulKw => {
            p.skip_token();
            return false;
        }
        NamespaceKw => namespace(p),
        UseKw => use_directive(p),
        _ => {
            type_item(p);
            return true;
        }
    }
    false
}

/// After the word at `index` there is what can only be the rest of a composite's head.
fn is_composite(p: &Parser, index: usize) -> bool {
    let after = match p.kind_at(index + 1) {
        Ident => index + 2,
        _ => return false,
    };
    match p.kind_at(after) {
        LBrace => true,
        LParen => match p.kind_at(after + 1) {
            OutputKw | InputKw => true,
            RParen => {
                let inner = after + 3;
                p.kind_at(after + 2) == LBrace
                    && p.begins_clause(inner)
                    && p.kind_at(inner) != TypeKw
            }
            _ => false,
        },
        _ => false,
    }
}

/// Reports text that begins no definition, and passes over it to the next definition.
fn stray_item(p: &mut Parser) {
    match p.current() {
        RBrace => {
            p.error_at_token("unmatched-brace", "this `}` closes nothing");
            p.skip_token();
            return;
        }
        Semi => {
            p.error_at_token("unexpected-token", "no `;` is needed here");
            p.skip_token();
            return;
        }
        _ if p.begins_invocation(p.pos) || p.begins_clause(p.pos) => {
            let word = p.current().text();
            p.error_at_token("misplaced-clause", format!("`{word}` outside a composite"));
            p.add_help("perhaps a `}` before it closes the composite too early");
        }
        _ => {
            p.error_unexpected("a composite, a function or a type");
            if let Some(help) = foreign::start_advice(p) {
                p.add_help(help);
            }
        }
    }
    let is_remainder = is_remainder(p);
    if is_remainder && !p.begins_clause(p.pos) && !p.begins_invocation(p.pos) {
        p.add_help("perhaps a `}` before it closes the function too early");
    }
    let broken = p.start();
    p.skip_one();
    while !p.at_end() && !(is_item(p) && (!is_remainder || p.indentation(p.pos) == 0)) {
        p.skip_one();
    }
    p.finish(broken, Error);
}

/// Whether the text behind a `}`, on a line that begins with blanks, is the rest of a body.
fn is_remainder(p: &Parser) -> bool {
    let is_behind_brace = p.pos > 0 && p.kind_at(p.pos - 1) == RBrace;
    is_behind_brace && p.is_on_new_line(p.pos) && p.indentation(p.pos) > 0
}

/// A variable of a body that was closed too early.
fn is_variable(p: &Parser) -> bool {
    is_remainder(p) && p.nth(1) == Ident && p.nth(2) != LParen
}

fn is_item(p: &Parser) -> bool {
    match p.current() {
        At => matches!(
            p.kind_at(p.after_annotations(p.pos)),
            CompositeKw | PublicKw
        ),
        _ if p.begins_item(p.pos) => true,
        _ => {
            p.is_at_boundary()
                && p.is_on_new_line(p.pos)
                && (begins_function(p) || begins_other_item(p))
        }
    }
}

/// A word at the beginning of a line that may be meant to begin a definition, and is no entry of a
/// clause.
fn begins_other_item(p: &Parser) -> bool {
    p.at(TypeKw) || (p.at(Ident) && p.nth(1) != Colon)
}

/// A word that is a type only, or a type, a name and a parenthesis.
fn begins_function(p: &Parser) -> bool {
    let is_named = || match p.after_type_name(p.pos) {
        Some(after) => p.kind_at(after) == Ident && p.kind_at(after + 1) == LParen,
        None => false,
    };
    p.current().is_type_keyword() || p.at(VoidKw) || is_named()
}
