//! Operator invocations: `stream<T> Out as O = Op(A, B; C) { clauses }`.

use super::clause::{self, ClauseOrder, entry_name};
use super::{annotation, composite, expr, literal, logic, types};
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;
use crate::parser::recover::OpenBrace;
use crate::{DeclarationKind, SyntaxKind};

/// Words behind what is sorted by, as SQL has them.
const DIRECTIONS: &[&str] = &["asc", "desc", "ascending", "descending"];

const CLAUSES: &[SyntaxKind] = &[LogicKw, WindowKw, ParamKw, OutputKw, ConfigKw];

/// The invocations of a `graph` clause, up to what ends it.
pub(in crate::parser) fn invocations(p: &mut Parser) {
    let mut failed = false;
    let mut count = 0;
    while composite::is_nested(p) || !is_graph_end(p) {
        let before = (p.pos, p.report_count);
        if composite::is_nested(p) {
            composite::nested_composite(p);
        } else if p.begins_invocation(p.pos) || begins_broken_stream(p) {
            invocation(p);
        } else {
            if p.at(Semi) {
                p.error_at_token("unexpected-token", "no `;` is needed here");
            } else if !failed {
                p.error_unexpected("an operator invocation");
                p.add_help(invocation_help(p.current(), count));
            }
            skip_to_invocation(p);
        }
        failed = p.report_count != before.1 && !p.is_at_boundary();
        count += 1;
        if p.pos == before.0 {
            p.skip_token();
        }
    }
    if count == 0 && !p.begins_type_clause(p.pos) {
        p.error_unexpected("an operator invocation");
    }
}

/// Advice where an invocation should begin, and this token does; `count` invocations are before it.
fn invocation_help(found: SyntaxKind, count: usize) -> &'static str {
    match found {
        LBrace | Colon if count == 0 => {
            "invocations follow the word `graph` at once, without `:` or braces"
        }
        MinusMinus => "a comment begins with `//`",
        _ => "an invocation is written `stream<T> Name = Operator(Inputs) { }`",
    }
}

fn is_graph_end(p: &Parser) -> bool {
    match p.current() {
        At => matches!(
            p.kind_at(p.after_annotations(p.pos)),
            CompositeKw | PublicKw
        ),
        LogicKw | WindowKw | OutputKw => true,
        Ident => p.is_misspelt_clause(),
        _ => p.at_any(&[RBrace, Eof]) || p.begins_clause(p.pos) || p.begins_item(p.pos),
    }
}

/// The type of a stream whose word is misspelt or missing.
fn begins_broken_stream(p: &Parser) -> bool {
    p.at(Lt) || (p.nth(1) == Lt && p.similar_keyword(p.pos, &[StreamKw]).is_some())
}

/// Passes over what is no invocation, with the braces that may follow.
fn skip_to_invocation(p: &mut Parser) {
    let broken = p.start();
    loop {
        let ends = p.at_any(&[LBrace, Semi]);
        p.skip_one();
        if ends || is_graph_end(p) || p.begins_invocation(p.pos) {
            break;
        }
    }
    p.finish(broken, Error);
}

fn invocation(p: &mut Parser) {
    let node = p.start();
    annotation::annotations(p);
    head(p);
    p.expect(Eq, "between the outputs and the operator");
    if p.at(Ident) {
        expr::qualified_name(p);
    } else {
        p.error_expected("the name of an operator");
    }
    let takes_values = inputs(p);
    if takes_values && p.at(Semi) {
        let node = p.start();
        p.bump();
        p.finish(node, InvocationBody);
    } else {
        body(p);
    }
    p.finish(node, Invocation);
}

/// `() as S`, `stream<T> A as B`, `(stream<T> A; stream<T> B) as C`
fn head(p: &mut Parser) {
    let node = p.start();
    match p.current() {
        LParen => {
            head_list(p);
            alias(p);
        }
        Ident | StreamKw | Lt => out_port(p),
        _ => {
            p.error_expected("an operator invocation after the annotation");
            p.add_help("an invocation is written `stream<T> Name = Operator(Inputs) { }`");
        }
    }
    p.finish(node, Head);
}

fn head_list(p: &mut Parser) {
    let open = p.pos;
    p.bump();
    if p.eat(RParen) {
        if !p.at(AsKw) {
            p.error_here("expected-token", "expected `as` and a name after `()`");
            p.add_help("an operator without outputs is named: `() as Name = ...`");
            if p.at(Ident) {
                p.skip_token();
            }
        }
        return;
    }
    loop {
        out_port(p);
        if p.at(Comma) && p.nth(1) == StreamKw {
            let message = "expected `;` between the outputs, found `,`";
            p.error_at_token("expected-token", message);
            p.reported_at = None;
            p.bump();
        } else if !p.eat(Semi) {
            break;
        }
    }
    close_parenthesis(p, open, "expected `;` or `)` after the output");
}

/// The `)` of a list of ports. What stands before it is passed over.
fn close_parenthesis(p: &mut Parser, open: usize, message: &str) {
    if p.eat(RParen) {
        return;
    }
    p.error_missing(message);
    p.skip_to_close(open);
}

/// `stream<T> Name as Alias`
fn out_port(p: &mut Parser) {
    let node = p.start();
    if p.at(StreamKw) {
        types::stream_type(p);
    } else if p.at(Lt) {
        p.error_at_token("expected-token", "expected `stream` before the type");
        p.reported_at = None;
        types::bare_stream_type(p);
    } else if p.at(Ident) && p.nth(1) == Lt {
        not_stream(p);
        types::stream_type(p);
    } else {
        p.error_expected("`stream<...>`");
    }
    let name = p.start();
    p.declaration_name(DeclarationKind::Stream, "the name of a stream");
    p.finish(name, Name);
    alias(p);
    p.finish(node, OutPort);
}

/// A name stands where `stream` should before `<...>`.
fn not_stream(p: &mut Parser) {
    let written = p.token_text(p.pos);
    let message = format!("expected `stream`, found `{written}`");
    p.error_at_token("misspelt-keyword", message);
    if p.similar_keyword(p.pos, &[StreamKw]).is_some() {
        p.add_help("did you mean `stream`?");
    }
    p.reported_at = None;
}

/// `as Name`, if it is here. It is a `Name` after an `as`.
fn alias(p: &mut Parser) {
    if !p.eat(AsKw) {
        return;
    }
    let name = p.start();
    p.declared_name("a name");
    p.finish(name, Name);
}

/// `(A, B as X; C)`. Whether values stand there, which was said then: `foo(5)`.
fn inputs(p: &mut Parser) -> bool {
    let node = p.start();
    let open = p.pos;
    if !p.expect(LParen, "after the operator") {
        p.add_help(match p.at(Dot) {
            true => "a namespace and a name are joined by `::`, as in `spl.utility::Custom`",
            false => "an operator without inputs is followed by `()`",
        });
        p.finish(node, InputList);
        return false;
    }
    let mut takes_values = false;
    if !p.at(RParen) {
        loop {
            takes_values = begins_value(p);
            if takes_values {
                values_as_inputs(p, open);
                break;
            }
            in_port(p);
            if !p.eat(Semi) {
                break;
            }
        }
    }
    if !takes_values {
        let is_parameter = p.at(Colon);
        close_parenthesis(p, open, "expected `,`, `;` or `)` after the input");
        if is_parameter {
            p.add_help("parameters stand in the body: `{ param file : \"x.csv\"; }`");
        }
    }
    p.finish(node, InputList);
    takes_values
}

/// Whether a value begins here, in the place of a stream's name.
fn begins_value(p: &Parser) -> bool {
    let is_literal = p.at_any(&[Number, StringToken, TrueKw, FalseKw, NullKw]);
    let is_signed = p.at_any(&[Minus, Bang]) && matches!(p.nth(1), Number | Ident | LParen);
    let is_call = p.at(Ident) && p.nth(1) == LParen;
    is_literal || is_signed || is_call
}

/// Passes over the arguments of what is written like a call of a function.
fn values_as_inputs(p: &mut Parser, open: usize) {
    p.recovery.unnamed.insert(DeclarationKind::Stream);
    p.error_at_token(
        "expected-token",
        "the inputs of an operator are streams, not values",
    );
    p.add_help(match p.at(StringToken) {
        true => "the name of a stream is written without quotes",
        false => "values are given in its clauses: `A = Operator(Input) { param name : 5; }`",
    });
    p.skip_to_close(open);
    p.reported_at = None;
}

fn in_port(p: &mut Parser) {
    let node = p.start();
    if p.at(StreamKw) {
        types::stream_type(p);
    }
    loop {
        let name = p.start();
        let is_name = p.name("the name of a stream");
        p.finish(name, Name);
        if !is_name {
            p.recovery.unnamed.insert(DeclarationKind::Stream);
        }
        if !is_name || !p.eat(Comma) {
            break;
        }
    }
    alias(p);
    p.finish(node, InPort);
}

fn body(p: &mut Parser) {
    let node = p.start();
    let Some(opening) = p.open_brace("invocation", "after the inputs") else {
        p.add_help("an invocation without clauses ends with `{}`");
        if p.at_any(&[LogicKw, WindowKw, ParamKw, OutputKw]) {
            let span = p.previous_end();
            clauses(
                p,
                OpenBrace {
                    span,
                    what: "invocation",
                },
            );
        } else {
            p.eat(Semi);
        }
        p.finish(node, InvocationBody);
        return;
    };
    clauses(p, opening);
    p.finish(node, InvocationBody);
}

/// The clauses up to the closing brace.
fn clauses(p: &mut Parser, opening: OpenBrace) {
    let mut order = ClauseOrder::conventional(CLAUSES);
    while !is_body_end(p) {
        let before = p.pos;
        one_clause(p, &mut order);
        if p.pos == before {
            p.skip_token();
        }
    }
    p.close_brace(opening);
}

/// The closing brace, or what shows that it is missing.
fn is_body_end(p: &Parser) -> bool {
    p.at_any(&[RBrace, Eof, GraphKw])
        || p.begins_item(p.pos)
        || p.begins_invocation(p.pos)
        || (p.at(TypeKw) && p.begins_type_clause(p.pos))
}

fn one_clause(p: &mut Parser, order: &mut ClauseOrder) {
    let kind = p.current();
    if CLAUSES.contains(&kind) {
        order.check_clause(p);
        let node = p.start();
        p.bump();
        entries(p, kind);
        p.finish(node, node_of(kind));
    } else if let Some(kind) = p.misspelt(CLAUSES) {
        let node = p.start();
        entries(p, kind);
        p.finish(node, node_of(kind));
    } else {
        p.error_unexpected("`logic`, `window`, `param`, `output`, `config` or `}`");
        let is_logic = p.at(Ident) && matches!(p.token_text(p.pos), "state" | "onProcess");
        let is_output = p.at(Ident) && p.nth(1) == Colon && p.nth(2) == Ident && p.nth(3) == Eq;
        if is_output {
            p.add_help("assignments to an output stream are written after the word `output`");
        } else if p.at(Ident) && p.nth(1) == Colon && !is_logic {
            p.add_help("parameters are written after the word `param`");
        } else if is_logic || p.at_any(&[OnTupleKw, OnPunctKw]) {
            p.add_help("it is part of the clause that begins with the word `logic`");
        }
        skip_to_clause(p);
    }
}

fn skip_to_clause(p: &mut Parser) {
    let broken = p.start();
    p.skip_one();
    while !is_body_end(p) && !CLAUSES.contains(&p.current()) {
        p.skip_one();
    }
    p.finish(broken, Error);
}

fn node_of(kind: SyntaxKind) -> SyntaxKind {
    match kind {
        LogicKw => LogicClause,
        WindowKw => WindowClause,
        ParamKw => ArgumentClause,
        OutputKw => OutputClause,
        _ => ConfigClause,
    }
}

fn entries(p: &mut Parser, kind: SyntaxKind) {
    match kind {
        LogicKw => logic::entries(p),
        WindowKw => p.entries("a window `Port : ...;`", clause::begins_entry, window_entry),
        ParamKw => p.entries(
            "a parameter `name : value;`",
            clause::begins_entry,
            argument,
        ),
        OutputKw => p.entries(
            "assignments `Port : name = value;`",
            clause::begins_entry,
            output_entry,
        ),
        _ => p.entries(
            "a configuration",
            clause::begins_entry,
            clause::config_entry,
        ),
    }
}

/// Parses a parameter, `name : actual;`.
fn argument(p: &mut Parser) {
    let node = p.start();
    if p.at_any(&[OutputKw, WindowKw]) {
        lacks_port(p);
    }
    entry_name(p, "the name of a parameter");
    let has_colon = clause::colon(p, "after the parameter's name");
    let is_type = has_colon && clause::actual(p);
    let (is_next, is_attribute) = (p.at(Colon), is_type && p.at(Ident));
    let direction = p
        .at(Ident)
        .then(|| p.token_text(p.pos).to_ascii_lowercase());
    let is_direction = direction.is_some_and(|word| DIRECTIONS.contains(&&*word));
    p.semicolon("the parameter");
    if is_direction {
        p.add_help("the direction of a sort is a parameter of its own: `order : descending;`");
    } else if is_attribute {
        p.add_help("attributes are put into a tuple type: `tuple<int32 a, rstring b>`");
    }
    if is_next {
        p.add_help("each parameter ends with `;`: `a : 1; b : 2;`");
    }
    p.finish(node, Argument);
}

/// `output : a = 1;`: the clause that the word begins, without the port that it is for.
fn lacks_port(p: &mut Parser) {
    let (word, help) = match p.current() {
        OutputKw => (
            "output",
            "an output is written `output Out : name = value;`",
        ),
        _ => (
            "window",
            "a window is written `window In : sliding, count(10);`",
        ),
    };
    let message = format!("expected the name of a port between `{word}` and `:`");
    p.error_at_token("expected-token", message);
    p.add_help(help);
}

/// `Port : e, e;`
fn window_entry(p: &mut Parser) {
    let node = p.start();
    entry_name(p, "the name of an input");
    if !p.at(Colon) {
        p.error_missing("expected `:` after the window's port");
        p.add_help("a window names its input: `In : sliding, count(10);`");
    }
    if clause::colon(p, "after the window's port") {
        expr::expr_list(p);
    }
    let help = match p.current() {
        Number => Some("an amount stands in parentheses: `count(10)`"),
        Ident if !p.is_on_new_line(p.pos) => {
            Some("the parts of a window are separated by `,`: `sliding, count(10)`")
        }
        _ => None,
    };
    p.semicolon("the window");
    if let Some(help) = help {
        p.add_help(help);
    }
    p.finish(node, WindowEntry);
}

/// `Port : a = e, b = e;`
fn output_entry(p: &mut Parser) {
    let node = p.start();
    let lacks_port = p.at(Ident) && p.nth(1) == Eq;
    if lacks_port {
        p.error_at_token(
            "expected-token",
            "expected the name of an output before the assignments",
        );
        p.add_help(match p.kind_at(p.pos.saturating_sub(1)) {
            Semi => "the assignments of an output are separated by `,`: `Out : a = 1, b = 2;`",
            _ => "an output is written `Out : name = value;`",
        });
        p.reported_at = None;
    } else {
        entry_name(p, "the name of an output");
    }
    if lacks_port || clause::colon(p, "after the output's name") {
        literal::elements(p, Semi, output_assignment);
    }
    p.semicolon("the output assignments");
    p.finish(node, OutputEntry);
}

fn output_assignment(p: &mut Parser) -> bool {
    let node = p.start();
    let name = p.start();
    let mut is_whole = p.name("the name of an attribute");
    p.finish(name, Name);
    if is_whole {
        is_whole = p.expect(Eq, "after the output attribute") && expr::value(p).is_some();
    }
    p.finish(node, OutputAssign);
    is_whole
}
