//! `logic` clauses: `state`, `onTuple`, `onPunct` and `onProcess`.

use super::clause::entry_name;
use super::stmt;
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;
use crate::{SyntaxKind, spelling};

/// All entries of the clause.
pub(in crate::parser) fn entries(p: &mut Parser) {
    const ENTRIES: &str = "`state`, `onTuple`, `onPunct` or `onProcess`";
    if p.at_any(&[LBrace, Colon]) {
        p.error_unexpected(ENTRIES);
        p.add_help("the entries follow the word at once: `logic onTuple In : { }`");
    }
    p.entries(ENTRIES, begins_logic, logic);
}

fn begins_logic(p: &Parser) -> bool {
    match p.current() {
        OnTupleKw | OnPunctKw => true,
        Ident => logic_word(p).is_some(),
        _ => false,
    }
}

/// The word of a logic entry that the name here is, or resembles.
fn logic_word(p: &Parser) -> Option<&'static str> {
    const WORDS: [&str; 4] = ["state", "onProcess", "onTuple", "onPunct"];
    let written = p.token_text(p.pos);
    let word = WORDS.into_iter().find(|word| *word == written);
    word.or_else(|| spelling::closest(written, WORDS).filter(|_| is_entry(p)))
}

/// Whether what stands here has the colon of a logic entry.
fn is_entry(p: &Parser) -> bool {
    matches!((p.nth(1), p.nth(2)), (Colon, _) | (Ident, Colon))
}

/// Whether the next logic entry begins within braces that are still open. `state` and `onProcess`
/// may name a type there.
fn is_next_entry(p: &Parser) -> bool {
    begins_logic(p) && (!p.at(Ident) || is_entry(p))
}

fn logic(p: &mut Parser) {
    match p.current() {
        OnTupleKw => on_port(p, OnTuple),
        OnPunctKw => on_port(p, OnPunct),
        _ => contextual(p),
    }
}

/// An entry that begins with a word that is no keyword: `state`, `onProcess`, or a misspelt one.
fn contextual(p: &mut Parser) {
    let word = logic_word(p).unwrap_or("state");
    let written = p.token_text(p.pos);
    if word != written {
        let message = format!("`{written}` is no word of SPL here");
        p.error_at_token("misspelt-keyword", message);
        p.add_help(format!("did you mean `{word}`?"));
        p.reported_at = None;
    }
    match word {
        "onTuple" => on_port(p, OnTuple),
        "onPunct" => on_port(p, OnPunct),
        "state" => state(p),
        _ => {
            let node = p.start();
            p.bump();
            p.expect(Colon, "after `onProcess`");
            handler(p);
            p.finish(node, OnProcess);
        }
    }
}

/// `onTuple Port : stmt`
fn on_port(p: &mut Parser, kind: SyntaxKind) {
    let node = p.start();
    p.bump();
    let is_named = !p.at_any(&[Colon, LParen, LBrace]);
    entry_name(p, "the name of an input");
    if !is_named {
        let word = if kind == OnTuple {
            "onTuple"
        } else {
            "onPunct"
        };
        p.add_help(format!(
            "the input that it is for is named: `{word} In : {{ }}`"
        ));
    }
    p.expect(Colon, "after the input");
    handler(p);
    p.finish(node, kind);
}

fn handler(p: &mut Parser) {
    match p.at(LBrace) {
        true => {
            stmt::block(p, "block");
            remainder(p);
        }
        false if p.at_any(&[RBrace, Eof]) => p.error_expected("a statement"),
        false => {
            let entry = p.indentation(p.pos.saturating_sub(1));
            stmt::statement(p);
            unbraced_statements(p, entry);
            unopened_brace(p, entry);
        }
    }
}

/// Further statements behind the one of a handler without braces, and the brace that may end them.
/// The entry is indented by `entry` blanks.
fn unbraced_statements(p: &mut Parser, entry: usize) {
    if !p.is_at_boundary() || !is_statement(p) {
        return;
    }
    p.error_at_token("unexpected-token", "several statements stand in braces");
    p.add_help("write `onTuple In : { println(In); println(1); }`");
    while is_statement(p) {
        stmt::statement(p);
    }
    unbraced_end(p, entry);
}

/// The brace behind the one statement of a handler whose `{` was forgotten.
fn unopened_brace(p: &mut Parser, entry: usize) {
    if is_end_of_entry(p, entry) {
        p.error_at_token("unmatched-brace", "this `}` closes nothing");
        p.add_help("perhaps a `{` is missing behind the `:` of the entry: `onTuple In : { }`");
        p.skip_token();
    }
}

/// Whether a brace stands below an entry that is indented by `entry` blanks, rather than further
/// out, and there is one too many in the file.
fn is_end_of_entry(p: &Parser, entry: usize) -> bool {
    let is_below = p.is_on_new_line(p.pos) && p.indentation(p.pos) >= entry;
    p.at(RBrace) && is_below && has_stray_brace(p)
}

/// Whether a brace here or further on closes nothing.
fn has_stray_brace(p: &Parser) -> bool {
    p.lookahead.last_stray_brace >= Some(p.pos)
}

/// Whether the next tokens begin a statement rather than an entry of the clause.
fn is_statement(p: &Parser) -> bool {
    const WORDS: &[SyntaxKind] = &[
        IfKw, ElseKw, ForKw, WhileKw, ReturnKw, BreakKw, ContinueKw, MutableKw, LBrace,
    ];
    let is_declaration = p.current().is_type_keyword() && p.begins_declaration();
    let is_name = p.at(Ident) && !is_entry(p) && !p.is_misspelt_clause();
    p.at_any(WORDS) || is_declaration || is_name
}

/// Statements behind the block of a handler: a brace within it closes it too early, if there is one
/// too many.
fn remainder(p: &mut Parser) {
    if !is_statement(p) {
        return;
    }
    let message = format!("{} stands behind its block", p.found_here());
    p.error_at_token("unexpected-token", message);
    p.add_help("perhaps a `}` before it closes the block too early");
    while is_statement(p) {
        stmt::statement(p);
    }
    if p.at(RBrace) && has_stray_brace(p) {
        p.bump();
    }
}

/// The closing brace of what has no opening one, in an entry that is indented by `entry` blanks.
fn unbraced_end(p: &mut Parser, entry: usize) {
    let is_end = matches!(p.nth(1), OnTupleKw | OnPunctKw)
        || matches!(p.token_text(p.pos + 1), "state" | "onProcess")
        || p.begins_clause(p.pos + 1);
    if (p.at(RBrace) && is_end) || is_end_of_entry(p, entry) {
        p.bump();
    }
}

/// `state : decl` or `state : { decls }`
fn state(p: &mut Parser) {
    let node = p.start();
    let entry = p.indentation(p.pos);
    p.bump();
    p.expect(Colon, "after `state`");
    let opening = match p.at(LBrace) {
        true => p.open_brace("state", "after `state:`"),
        false => None,
    };
    match opening {
        None => {
            declaration(p);
            unbraced(p, entry);
        }
        Some(opening) => {
            while !p.at_any(&[RBrace, Eof]) && !p.is_clause_end() && !is_next_entry(p) {
                let before = p.pos;
                declaration(p);
                if p.pos == before {
                    p.skip_token();
                }
            }
            p.close_brace(opening);
        }
    }
    p.finish(node, StateEntry);
}

/// Further declarations behind the one of a `state` without braces, and the brace that may end
/// them.
fn unbraced(p: &mut Parser, entry: usize) {
    let is_declaration =
        |p: &Parser| (p.at(MutableKw) || p.current().is_type_keyword()) && p.begins_declaration();
    if !is_declaration(p) {
        return;
    }
    p.error_at_token(
        "unexpected-token",
        "several state variables stand in braces",
    );
    p.add_help("write `state : { mutable int32 a = 0; mutable int32 b = 0; }`");
    while is_declaration(p) {
        declaration(p);
    }
    unbraced_end(p, entry);
}

fn declaration(p: &mut Parser) {
    if p.begins_declaration() {
        stmt::local_declaration(p);
    } else {
        p.error_expected("the declaration of a state variable");
        p.skip_entry();
    }
}
