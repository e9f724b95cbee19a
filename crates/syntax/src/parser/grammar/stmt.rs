//! Statements of functions and of logic clauses.

use super::type_definition::plain_type_definition;
use super::{expr, foreign, function, types};
use crate::SyntaxKind::*;
use crate::parser::marker::{CompletedNode, NodeMarker};
use crate::parser::parser_state::{OPEN_ELSE_IFS_MAX, Parser};
use crate::parser::recover::OpenBrace;
use crate::{DeclarationKind, Diagnostic, SyntaxKind};

/// `{ ... }`; the token here is `{`.
pub(in crate::parser) fn block(p: &mut Parser, what: &'static str) -> CompletedNode {
    let node = p.start();
    let opening = OpenBrace {
        span: p.span(p.pos),
        what,
    };
    p.bump();
    let (mut failed, mut is_broken) = (false, false);
    let is_closed = p.after_group(p.pos - 1).is_some();
    while !p.at_any(&[RBrace, Eof]) && !is_outside(p) && (is_closed || !begins_type_item(p)) {
        let before = (p.pos, p.report_count);
        // The `else` of a broken `if` is no further mistake.
        if (failed && !p.begins_statement()) || (is_broken && p.at(ElseKw)) {
            p.skip_token();
            continue;
        }
        let is_if = p.at(IfKw);
        p.is_too_deep &= failed || is_broken;
        statement(p);
        failed = p.report_count != before.1 && !p.is_at_boundary();
        is_broken = is_if && p.report_count != before.1;
        if p.pos == before.0 {
            p.skip_token();
        }
    }
    p.close_brace(opening);
    p.finish(node, Block)
}

/// Whether the next tokens begin a clause or an item, so that a brace is missing before them.
fn is_outside(p: &Parser) -> bool {
    let is_definition = p.at(TypeKw) && matches!(p.nth(1), Ident | StaticKw);
    let is_word = p.at_any(&[StreamKw, OnTupleKw, OnPunctKw]);
    // An annotation begins a line; another `@` is a slip.
    let is_stray = p.at(At) && !p.is_on_new_line(p.pos);
    let is_outer = p.begins_clause(p.pos) || p.begins_item(p.pos) || is_word;
    is_outer && !is_definition && !is_stray
}

/// Whether a type that belongs to the file is defined here, rather than one of the block.
fn begins_type_item(p: &Parser) -> bool {
    p.at(TypeKw) && p.nth(1) == Ident && p.is_unindented(p.pos)
}

/// A statement. Whatever is here, something is taken unless it belongs to what is around.
pub(in crate::parser) fn statement(p: &mut Parser) {
    let done = p.nested(|p| {
        one_statement(p);
        Some(())
    });
    if done.is_none() {
        p.eat(Semi);
    }
}

fn one_statement(p: &mut Parser) {
    match p.current() {
        LBrace => {
            block(p, "block");
        }
        IfKw => if_statement(p),
        WhileKw => while_statement(p),
        ForKw => for_statement(p),
        BreakKw => jump(p, BreakStmt, "`break`"),
        ContinueKw => jump(p, ContinueStmt, "`continue`"),
        ReturnKw => return_statement(p),
        TypeKw => {
            let node = p.start();
            p.bump();
            plain_type_definition(p);
            p.finish(node, TypeStmt);
        }
        Semi => empty_statement(p),
        ElseKw => {
            p.error_at_token("misplaced-else", "`else` without an `if` before it");
            p.bump();
        }
        VarKw if p.nth(1) == Ident => {
            let message = "a variable is declared with its type, not with `var`";
            untyped_declaration(p, "reserved-word", message);
        }
        MutableKw if p.nth(1) == Ident && p.nth(2) == Eq => {
            untyped_declaration(p, "missing-type", "a variable is declared with its type");
        }
        Ident if foreign::begins_inferred_declaration(p) => {
            let word = p.token_text(p.pos);
            let message = format!("a variable is declared with its type, not with `{word}`");
            untyped_declaration(p, "missing-type", &message);
        }
        Ident | MutableKw if foreign::begins_with_name(p) => name_first_declaration(p),
        Ident if foreign::begins_foreach(p) => foreach(p),
        Ident if foreign::begins_throw(p) => foreign::throw(p),
        Ident if foreign_advice(p).is_some() => foreign_statement(p),
        Ident if foreign::begins_mut_declaration(p) => {
            let node = p.start();
            let declaration = p.start();
            foreign::mut_for_mutable(p);
            declared_variables(p, declaration);
            p.finish(node, LocalStmt);
        }
        Ident if is_foreign_qualifier(p) => {
            let word = p.token_text(p.pos);
            p.error_at_token("foreign-statement", format!("SPL has no `{word}`"));
            p.add_help(match word {
                "unsigned" | "signed" => "write `uint32` or `int32` for instance, with the width",
                _ => "leave it out: a variable that is not `mutable` never changes",
            });
            p.reported_at = None;
            p.skip_token();
            one_statement(p);
        }
        _ if p.begins_function(p.pos) => nested_function(p),
        _ if p.begins_declaration() => {
            let node = p.start();
            local_declaration(p);
            p.finish(node, LocalStmt);
        }
        _ => expression_statement(p),
    }
}

/// `mutable T a = 1, b;`
pub(in crate::parser) fn local_declaration(p: &mut Parser) {
    let node = p.start();
    p.eat(MutableKw);
    declared_variables(p, node);
}

/// The rest of a declaration behind `mutable`.
fn declared_variables(p: &mut Parser, node: NodeMarker) {
    if types::type_expr(p).is_some() {
        let first = p.pos;
        loop {
            variable(p, p.pos == first);
            if !p.eat(Comma) {
                break;
            }
        }
    }
    let help = match p.current() {
        Eq => Some("`==` compares two values"),
        LBracket => Some(types::array_advice(p)),
        _ => None,
    };
    p.semicolon("the declaration");
    if let Some(help) = help {
        p.add_help(help);
    }
    p.finish(node, LocalDecl);
}

fn variable(p: &mut Parser, is_first: bool) {
    let node = p.start();
    let name = p.start();
    let help = match p.current() {
        LBracket => Some(types::array_advice(p)),
        MutableKw => Some("`mutable` stands before the type: `mutable int32 x = 1;`"),
        Question => Some("a type with the value null is written `optional<int32>`"),
        kind if kind.is_type_keyword() && !is_first => {
            Some("each type has a declaration of its own")
        }
        _ => None,
    };
    p.declaration_name(DeclarationKind::Variable, "the name of a variable");
    if let Some(help) = help {
        p.add_help(help);
    }
    p.finish(name, Name);
    foreign_assignment(p);
    if p.eat(Eq) {
        expr::value(p);
    }
    p.finish(node, LocalVar);
}

/// The colon of `:=`; the `=` behind it is left.
fn foreign_assignment(p: &mut Parser) {
    if is_foreign_assignment(p) {
        let span = p.span(p.pos).to(p.span(p.pos + 1));
        p.report(Diagnostic::error(
            "foreign-operator",
            span,
            "SPL has no `:=`",
        ));
        p.add_help("write `=`");
        p.reported_at = None;
        p.skip_token();
    }
}

fn is_foreign_assignment(p: &Parser) -> bool {
    p.at(Colon) && p.nth(1) == Eq && p.is_joined(p.pos)
}

/// `var x = 1;`, `mutable x = 1;`: a declaration as other languages have it.
fn untyped_declaration(p: &mut Parser, code: &'static str, message: &str) {
    let node = p.start();
    let declaration = p.start();
    p.error_at_token(code, message);
    p.add_help("write `int32 x = 1;` for instance, or `mutable int32 x = 1;`");
    p.bump_as(MutableKw, 1);
    let nothing = p.start();
    p.finish(nothing, NamedType);
    variable(p, true);
    p.semicolon("the declaration");
    p.finish(declaration, LocalDecl);
    p.finish(node, LocalStmt);
}

/// `mutable x : int32 = 5;`
fn name_first_declaration(p: &mut Parser) {
    let statement = p.start();
    let declaration = p.start();
    p.eat(MutableKw);
    foreign::report_type_behind(p, "a variable");
    let nothing = p.start();
    p.finish(nothing, NamedType);
    let variable = p.start();
    let name = p.start();
    p.declaration_name(DeclarationKind::Variable, "the name of a variable");
    p.finish(name, Name);
    types::skip_type_behind(p);
    if p.eat(Eq) {
        expr::value(p);
    }
    p.finish(variable, LocalVar);
    p.semicolon("the declaration");
    p.finish(declaration, LocalDecl);
    p.finish(statement, LocalStmt);
}

/// Parses the loop that `foreach` begins.
fn foreach(p: &mut Parser) {
    p.error_at_token("foreign-statement", "SPL has no `foreach`");
    p.add_help("write `for (int32 x in values) { }`");
    p.reported_at = None;
    for_statement(p);
}

/// Statements that other languages have: the word, what follows it, and what SPL has instead.
const FOREIGN_STATEMENTS: &[(&str, SyntaxKind, &str)] = &[
    (
        "switch",
        LParen,
        "write `if (...) { } else if (...) { } else { }`",
    ),
    ("do", LBrace, "write `while (condition) { }`"),
    (
        "try",
        LBrace,
        "a fault ends the program, unless `@catch` takes it from the operator",
    ),
    ("foreach", LParen, "write `for (int32 x in values) { }`"),
];

fn foreign_advice(p: &Parser) -> Option<&'static str> {
    let text = p.token_text(p.pos);
    let follows = |&&(word, next, _): &&(&str, SyntaxKind, &str)| word == text && p.nth(1) == next;
    let (_, next, help) = FOREIGN_STATEMENTS.iter().find(follows)?;
    // `switch (x);` calls a function of that name.
    let is_followed = *next == LBrace
        || (p.after_group(p.pos + 1)).is_some_and(|after| p.kind_at(after) == LBrace);
    is_followed.then_some(help)
}

/// `const`, `unsigned` and the like before a declaration.
fn is_foreign_qualifier(p: &Parser) -> bool {
    let is_word = matches!(
        p.token_text(p.pos),
        "const" | "final" | "constexpr" | "unsigned" | "signed"
    );
    is_word && (p.nth(1).is_type_keyword() || (p.nth(1) == Ident && p.nth(2) == Ident))
}

/// A statement of another language, with the blocks that belong to it, is passed over.
fn foreign_statement(p: &mut Parser) {
    let node = p.start();
    let help = foreign_advice(p).unwrap_or_default();
    let word = p.token_text(p.pos);
    p.error_at_token("foreign-statement", format!("SPL has no `{word}`"));
    p.add_help(help);
    let is_loop = word == "do";
    p.bump();
    while p.at_any(&[LParen, LBrace]) || (p.at(Ident) && p.token_text(p.pos) == "catch") {
        p.skip_one();
    }
    if is_loop && p.eat(WhileKw) {
        p.skip_one();
        p.eat(Semi);
    }
    p.finish(node, Error);
}

/// A function where none may stand: it is parsed and left out.
fn nested_function(p: &mut Parser) {
    let node = p.start();
    p.error_at_token(
        "nested-function",
        "a function cannot be defined inside of another body",
    );
    p.add_help("define it at the top level of the file, outside of composites");
    p.reported_at = None;
    function::function(p);
    p.finish(node, Error);
}

fn expression_statement(p: &mut Parser) {
    let node = p.start();
    let begin = p.pos;
    match expr::expr(p) {
        None => {
            if p.pos == begin && p.current().is_keyword() && !is_outside(p) {
                p.skip_token();
            }
            p.skip_line();
        }
        Some(left) => {
            if is_foreign_assignment(p) {
                let assignment = p.precede(left);
                foreign_assignment(p);
                p.bump();
                expr::value(p);
                p.finish(assignment, AssignExpr);
            }
            let is_call = left.kind == QName && p.at(StringToken) && !p.is_on_new_line(p.pos);
            p.semicolon("the statement");
            if is_call {
                p.add_help("the arguments of a function stand in parentheses");
            }
        }
    }
    p.finish(node, ExprStmt);
}

fn empty_statement(p: &mut Parser) {
    let span = p.span(p.pos);
    p.report_remark(Diagnostic::warning(
        "empty-statement",
        span,
        "a `;` without a statement before it",
    ));
    let node = p.start();
    p.bump();
    p.finish(node, EmptyStmt);
}

/// Parses an `if` with its `else if`s: each stands in the `else` of the one before, and costs no
/// stack here.
fn if_statement(p: &mut Parser) {
    let mut open = vec![p.start()];
    let open_before = p.open_else_ifs;
    while one_if(p) {
        if p.open_else_ifs == OPEN_ELSE_IFS_MAX {
            p.too_deep();
            break;
        }
        p.open_else_ifs += 1;
        open.push(p.start());
    }
    p.open_else_ifs = open_before;
    while let Some(node) = open.pop() {
        p.finish(node, IfStmt);
    }
}

/// Parses from `if` up to the `if` behind `else`; true if there is one.
fn one_if(p: &mut Parser) -> bool {
    p.bump();
    condition(p, "if");
    if is_foreign_then(p) {
        p.error_at_token("foreign-statement", "SPL has no `then`");
        p.add_help("leave it out");
        p.reported_at = None;
        p.skip_token();
    }
    statement(p);
    if p.eat(ElseKw) {
        if p.at(IfKw) {
            return true;
        }
        statement(p);
    } else if is_foreign_else_if(p) {
        let word = p.token_text(p.pos);
        p.error_at_token("foreign-statement", format!("SPL has no `{word}`"));
        p.add_help("write `else if (condition)`");
        p.reported_at = None;
        return true;
    }
    false
}

/// `if (condition) then statement`
fn is_foreign_then(p: &Parser) -> bool {
    let goes_on = matches!(p.nth(1), Ident | LBrace | ReturnKw | BreakKw | ContinueKw);
    goes_on && p.at(Ident) && p.token_text(p.pos) == "then"
}

fn is_foreign_else_if(p: &Parser) -> bool {
    let is_word = matches!(p.token_text(p.pos), "elif" | "elsif" | "elseif");
    is_word && p.nth(1) == LParen
}

fn while_statement(p: &mut Parser) {
    let node = p.start();
    p.bump();
    condition(p, "while");
    statement(p);
    p.finish(node, WhileStmt);
}

/// `(e)` after `if` and `while`.
fn condition(p: &mut Parser, word: &str) {
    let open = p.pos;
    if p.expect(LParen, &format!("after `{word}`")) {
        expr::expr(p);
        if !p.expect(RParen, "after the condition") {
            p.skip_to_close(open);
        }
    } else if !p.at(LBrace) {
        p.add_help(format!("write `{word} (condition)`"));
        expr::expr(p);
        p.eat(RParen);
    }
}

/// `for (T x in e) s`
fn for_statement(p: &mut Parser) {
    let node = p.start();
    p.bump();
    let open = p.pos;
    if p.expect(LParen, "after `for`") {
        for_head(p, open);
    } else {
        p.add_help("a loop is written `for (int32 x in values) { }`");
        p.skip(|p| p.at_any(&[LBrace, Semi]) || p.is_on_new_line(p.pos));
    }
    statement(p);
    p.finish(node, ForStmt);
}

fn for_head(p: &mut Parser, open: usize) {
    if p.at(MutableKw) {
        immutable_head(p, open);
    }
    if p.at(Ident) && p.nth(1) == InKw {
        let name = p.token_text(p.pos);
        let message = format!("expected a type before the loop's variable `{name}`");
        p.error_at_token("expected-token", message);
        p.reported_at = None;
    } else {
        types::type_expr(p);
    }
    let name = p.start();
    p.declared_name("the name of the loop's variable");
    p.finish(name, Name);
    if p.expect(InKw, "after the loop's variable") {
        expr::expr(p);
    } else {
        p.add_help("a loop is written `for (int32 x in values) { }`; there is no other form");
    }
    if p.eat(RParen) {
        return;
    }
    p.error_missing("expected `)` to close the head of the loop");
    if p.at(Number) && p.token_text(p.pos).starts_with('.') {
        p.add_help("write `range(0, 5)` for the numbers from 0 to 4");
    }
    p.skip_to_close(open);
}

/// `for (mutable ...`; of a loop as C has it something better is said later.
fn immutable_head(p: &mut Parser, open: usize) {
    let end = p.after_group(open).unwrap_or(open);
    if let Some(at) = (open..end).find(|&at| p.kind_at(at) == InKw) {
        let span = p.span(p.pos).to(p.span(at - 1));
        p.report(Diagnostic::error(
            "loop-variable",
            span,
            "the variable of a loop cannot be `mutable`",
        ));
        p.add_help("copy it into a `mutable` variable and change that");
        p.reported_at = None;
    }
    p.bump();
}

fn jump(p: &mut Parser, kind: SyntaxKind, after: &str) {
    let node = p.start();
    p.bump();
    p.semicolon(after);
    p.finish(node, kind);
}

fn return_statement(p: &mut Parser) {
    let node = p.start();
    p.bump();
    if !p.at_any(&[Semi, RBrace, Eof]) {
        expr::expr(p);
    }
    p.semicolon("`return`");
    p.finish(node, ReturnStmt);
}
