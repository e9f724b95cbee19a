//! Composite operators: head, `param`, `type`, `graph` and `config`.

use super::clause::{self, ClauseOrder};
use super::type_definition::type_definition;
use super::{invocation, types};
use crate::SyntaxKind::*;
use crate::parser::marker::NodeMarker;
use crate::parser::parser_state::Parser;
use crate::parser::recover::OpenBrace;
use crate::{DeclarationKind, Diagnostic, SyntaxKind};

const CLAUSES: &[SyntaxKind] = &[ParamKw, TypeKw, GraphKw, ConfigKw];

/// A composite, its annotations taken into `node` already. The token here is `public` or
/// `composite`.
pub(in crate::parser) fn composite(p: &mut Parser) {
    p.eat(PublicKw);
    p.eat(CompositeKw);
    let name = p.start();
    p.declaration_name(DeclarationKind::Composite, "the name of a composite");
    p.finish(name, Name);
    if p.at(LParen) {
        ports(p);
    }
    body(p);
}

/// `(output A; input stream<T> B)`
fn ports(p: &mut Parser) {
    let node = p.start();
    let open = p.pos;
    p.bump();
    let mut seen: Vec<SyntaxKind> = Vec::new();
    while p.at_any(&[OutputKw, InputKw]) {
        let kind = p.current();
        if seen.contains(&kind) {
            let span = p.span(p.pos);
            let message = format!("a second list of `{}` ports", kind.text());
            p.report_remark(
                Diagnostic::error("duplicate-ports", span, message)
                    .help("put all of them into one list, with commas between"),
            );
        }
        seen.push(kind);
        port_group(p, kind);
        if p.at(Comma) {
            p.error_missing("expected `;` between the inputs and the outputs");
            p.bump();
            continue;
        }
        if !p.eat(Semi) {
            break;
        }
        if p.at(RParen) {
            p.error_expected("`input` or `output` after `;`");
        }
    }
    close_ports(p, open);
    p.finish(node, PortList);
}

fn close_ports(p: &mut Parser, open: usize) {
    if p.eat(RParen) {
        return;
    }
    match p.tokens[p.pos - 1].kind {
        LParen => {
            p.error_expected("`output` or `input`");
            p.add_help("the ports of a composite are written `(output A; input B)`");
        }
        _ => p.error_missing("expected `;` or `)` after the port"),
    }
    p.skip_to_close(open);
}

fn port_group(p: &mut Parser, kind: SyntaxKind) {
    let group = p.start();
    p.bump();
    loop {
        let port = p.start();
        if p.at(StreamKw) {
            types::stream_type(p);
        }
        let name = p.start();
        p.declaration_name(DeclarationKind::Stream, "the name of a port");
        p.finish(name, Name);
        p.finish(port, CompositePort);
        let ends_group = matches!(p.nth(1), OutputKw | InputKw);
        if p.at(Comma) && ends_group || !p.eat(Comma) {
            break;
        }
    }
    p.finish(
        group,
        if kind == OutputKw {
            OutputPorts
        } else {
            InputPorts
        },
    );
}

fn body(p: &mut Parser) {
    let node = p.start();
    let opening = match p.open_brace("composite", "to open the composite") {
        Some(opening) => Some(opening),
        None => {
            p.skip(|p| p.at(LBrace) || p.begins_invocation(p.pos));
            let span = p.previous_end();
            let is_open = p.eat(LBrace);
            if !is_open && !p.is_clause_end() {
                p.finish(node, CompositeBody);
                return;
            }
            let what = "composite";
            is_open.then_some(OpenBrace { span, what })
        }
    };
    let mut order = ClauseOrder::strict(CLAUSES);
    while !p.at_any(&[RBrace, Eof]) {
        let before = p.pos;
        if is_nested(p) {
            nested_composite(p);
            continue;
        }
        let is_next_type = p.at(TypeKw) && p.is_unindented(p.pos) && order.has(GraphKw);
        if is_next_type || is_next_item(p) {
            break;
        }
        one_clause(p, &mut order);
        if p.pos == before {
            p.skip_token();
        }
    }
    match opening {
        Some(opening) => p.close_brace(opening),
        // A program that lacks the one often lacks the other.
        None => {
            p.eat(RBrace);
        }
    }
    p.finish(node, CompositeBody);
}

/// A definition of the unit begins here, so the composite was not closed.
fn is_next_item(p: &Parser) -> bool {
    match p.current() {
        CompositeKw | NamespaceKw | UseKw | PublicKw | StatefulKw => true,
        At => matches!(
            p.kind_at(p.after_annotations(p.pos)),
            CompositeKw | PublicKw
        ),
        TypeKw => false,
        _ => p.begins_item(p.pos),
    }
}

/// A composite inside of another: what follows its closing brace is a clause, an invocation or a
/// brace, which can only belong to the one around.
pub(in crate::parser) fn is_nested(p: &Parser) -> bool {
    let head = match p.current() {
        PublicKw => p.pos + 1,
        _ => p.pos,
    };
    if p.kind_at(head) != CompositeKw {
        return false;
    }
    let after = p.after_group(p.head_end(head));
    after.is_some_and(|after| match p.kind_at(after) {
        RBrace | StreamKw => true,
        LParen => p.begins_invocation(after),
        kind => kind != TypeKw && p.begins_clause(after),
    })
}

/// A composite where none may stand: it is parsed and left out.
pub(in crate::parser) fn nested_composite(p: &mut Parser) {
    let (node, before) = (p.start(), p.pos);
    p.error_at_token(
        "nested-composite",
        "a composite cannot be defined inside of another one",
    );
    p.add_help("define it at the top level of the file");
    p.reported_at = None;
    p.nested(|p| {
        composite(p);
        Some(())
    });
    if p.pos == before {
        p.skip_token();
    }
    p.finish(node, Error);
}

fn one_clause(p: &mut Parser, order: &mut ClauseOrder) {
    match p.current() {
        kind if CLAUSES.contains(&kind) => {
            order.check_clause(p);
            clause(p, kind);
        }
        LogicKw | WindowKw | OutputKw => {
            let word = p.current().text();
            let message = format!("a `{word}` clause belongs to an operator invocation");
            p.error_at_token("misplaced-clause", message);
            p.add_help("perhaps a `}` before it closes the invocation too early");
            skip_to_clause(p);
        }
        // The graph goes on behind a clause that stands in the midst of it.
        _ if p.begins_invocation(p.pos) && order.has(GraphKw) && order.is_late() => graph(p),
        _ if p.begins_invocation(p.pos) => {
            p.error_at_token(
                "missing-clause",
                "expected `graph` before the operator invocations",
            );
            p.reported_at = None;
            graph(p);
        }
        LBrace => {
            p.error_at_token("unexpected-token", "no `{` is needed here");
            let broken = p.start();
            p.bump();
            p.finish(broken, Error);
            p.reported_at = None;
        }
        _ => match p.misspelt(CLAUSES) {
            Some(kind) => after_keyword(p, kind),
            None => {
                let is_function = p.current().is_type_keyword() || p.at(VoidKw);
                p.error_unexpected("`param`, `type`, `graph`, `config` or `}`");
                if is_function {
                    p.add_help("functions are defined outside of composites");
                }
                skip_to_clause(p);
            }
        },
    }
}

fn skip_to_clause(p: &mut Parser) {
    let broken = p.start();
    p.skip_one();
    while !p.at_any(&[RBrace, Eof]) && !CLAUSES.contains(&p.current()) && !p.begins_item(p.pos) {
        p.skip_one();
    }
    p.finish(broken, Error);
}

fn clause(p: &mut Parser, kind: SyntaxKind) {
    let node = p.start();
    p.bump();
    entries(p, kind);
    p.finish(node, node_of(kind));
}

/// The clause whose misspelt keyword was taken already.
fn after_keyword(p: &mut Parser, kind: SyntaxKind) {
    let node = p.start();
    entries(p, kind);
    p.finish(node, node_of(kind));
}

fn node_of(kind: SyntaxKind) -> SyntaxKind {
    match kind {
        ParamKw => ParamClause,
        TypeKw => TypeClause,
        GraphKw => GraphClause,
        _ => ConfigClause,
    }
}

fn entries(p: &mut Parser, kind: SyntaxKind) {
    match kind {
        ParamKw => p.entries(
            "a parameter such as `expression<int32> $n`",
            begins_formal,
            formal,
        ),
        TypeKw => p.entries("a type definition `Name = type;`", begins_type, |p| {
            type_definition(p);
        }),
        GraphKw => invocation::invocations(p),
        _ => p.entries(
            "a configuration",
            clause::begins_entry,
            clause::config_entry,
        ),
    }
}

fn graph(p: &mut Parser) {
    let node = p.start();
    invocation::invocations(p);
    p.finish(node, GraphClause);
}

fn begins_formal(p: &Parser) -> bool {
    match p.current() {
        Ident => is_formal_without_mode(p),
        AttributeKw | ExpressionKw | FunctionKw | OperatorKw => true,
        TypeKw => !p.begins_type_clause(p.pos),
        _ => false,
    }
}

/// `mode $name;` or `mode $name : default;`
fn formal(p: &mut Parser) {
    let node = p.start();
    if is_formal_without_mode(p) {
        return without_mode(p, node);
    }
    let mode = p.start();
    let is_expression = p.at(ExpressionKw);
    p.bump();
    if is_expression && p.eat(Lt) {
        types::type_expr(p);
        p.expect(Gt, "after the parameter's type");
    }
    p.finish(mode, Mode);
    formal_name(p);
    if p.at_any(&[Colon, Eq]) {
        clause::colon(p, "before the default");
        clause::actual(p);
    }
    p.semicolon("the parameter");
    p.finish(node, Formal);
}

/// Whether a parameter begins with its name: `$name : 5;`.
fn is_formal_without_mode(p: &Parser) -> bool {
    p.at(Ident) && p.token_text(p.pos).starts_with('$') && matches!(p.nth(1), Colon | Semi)
}

/// Passes over a formal that does not say what may be passed.
fn without_mode(p: &mut Parser, node: NodeMarker) {
    let name = p.token_text(p.pos);
    p.error_at_token(
        "unexpected-token",
        "a parameter begins with what may be passed for it",
    );
    p.add_help(format!(
        "write `expression<int32> {name}` for a value; or `attribute`, `function`, `operator` or \
         `type` before it"
    ));
    p.recovery.unnamed.insert(DeclarationKind::Formal);
    p.skip_entry();
    p.reported_at = None;
    p.finish(node, Error);
}

fn formal_name(p: &mut Parser) {
    let node = p.start();
    let at = p.pos;
    let is_plain = p.at(Ident) && !p.token_text(at).starts_with('$');
    let is_name = p.name("a parameter's name such as `$name`");
    if !is_name {
        p.recovery.unnamed.insert(DeclarationKind::Formal);
    }
    if is_name && is_plain {
        let name = p.token_text(at);
        let message = format!("the name of a composite's parameter begins with `$`: `${name}`");
        p.report_remark(Diagnostic::error("formal-name", p.span(at), message));
    }
    p.finish(node, Name);
}

fn begins_type(p: &Parser) -> bool {
    p.at(StaticKw) || (p.nth(1) == Eq && (p.at(Ident) || p.current().is_keyword()))
}
