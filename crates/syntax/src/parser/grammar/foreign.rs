//! Statements and values as other languages write them: each gives one message with what SPL has in
//! its place.

use crate::DeclarationKind;
use crate::SyntaxKind::*;
use crate::parser::marker::CompletedNode;
use crate::parser::parser_state::Parser;

/// Words with which other languages declare a variable whose type they find out.
pub(super) fn begins_inferred_declaration(p: &Parser) -> bool {
    let is_word = matches!(p.token_text(p.pos), "auto" | "let" | "val");
    is_word && p.nth(1) == Ident && p.nth(2) == Eq
}

/// `x : int32`, with or without `mutable` before it: the type stands behind the name.
pub(super) fn begins_with_name(p: &Parser) -> bool {
    let name = p.pos + usize::from(p.at(MutableKw));
    let is_pair = p.kind_at(name) == Ident && p.kind_at(name + 1) == Colon;
    is_pair && p.kind_at(name + 2).is_type_keyword()
}

/// `x : int32` in the place of `int32 x`; the token here is the name.
pub(super) fn report_type_behind(p: &mut Parser, what: &str) {
    let (name, ty) = (p.token_text(p.pos), p.token_text(p.pos + 2));
    let help = match p.kind_at(p.pos + 3) {
        Lt | LBracket => format!("write the type, then `{name}`"),
        _ => format!("write `{ty} {name}`"),
    };
    let message = format!("the type of {what} stands before its name");
    p.error_at_token("type-after-name", message);
    p.add_help(help);
    p.reported_at = None;
}

/// `mut int32 x = 5;`
pub(super) fn begins_mut_declaration(p: &Parser) -> bool {
    let goes_on = p.nth(1).is_type_keyword() || (p.nth(1) == Ident && p.nth(2) == Ident);
    p.token_text(p.pos) == "mut" && goes_on
}

/// Takes `mut` for `mutable`; the declaration goes on behind it.
pub(super) fn mut_for_mutable(p: &mut Parser) {
    p.error_at_token("misspelt-keyword", "`mut` is no word of SPL here");
    p.add_help("did you mean `mutable`?");
    p.reported_at = None;
    p.bump_as(MutableKw, 1);
}

/// `foreach (int32 x in values)`: a `for` but for its word.
pub(super) fn begins_foreach(p: &Parser) -> bool {
    let has_type = p.kind_at(p.pos + 2).is_type_keyword() || p.kind_at(p.pos + 3) == Ident;
    p.token_text(p.pos) == "foreach" && p.nth(1) == LParen && has_type
}

/// `throw "text";`, `raise Error(x);`
pub(super) fn begins_throw(p: &Parser) -> bool {
    let is_word = matches!(p.token_text(p.pos), "throw" | "raise");
    is_word && matches!(p.nth(1), StringToken | Ident)
}

/// Passes over a statement that raises an exception elsewhere.
pub(super) fn throw(p: &mut Parser) {
    let node = p.start();
    let word = p.token_text(p.pos);
    p.error_at_token("foreign-statement", format!("SPL has no `{word}`"));
    p.add_help("`assert(condition, \"text\")` ends the program unless the condition holds");
    p.bump();
    p.skip_line();
    p.finish(node, Error);
}

/// Functions that are no part of the language, before the type that they cast to.
pub(super) fn begins_cast(p: &Parser) -> bool {
    let text = p.token_text(p.pos);
    let is_word = matches!(
        text,
        "static_cast" | "dynamic_cast" | "reinterpret_cast" | "const_cast"
    );
    is_word && p.nth(1) == Lt
}

/// `f"text"`: a word that is written together with a string.
pub(super) fn begins_prefixed_string(p: &Parser) -> bool {
    p.at(Ident) && p.nth(1) == StringToken && p.is_joined(p.pos)
}

/// Takes a string with its prefix.
pub(super) fn prefixed_string(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    let word = p.token_text(p.pos);
    let message = format!("nothing can stand before the quotes of a string, as `{word}` does");
    p.error_at_token("unexpected-token", message);
    p.add_help("a letter behind them says its type; values are put in by `\"n = \" + (rstring) n`");
    p.reported_at = None;
    p.bump();
    p.bump();
    p.finish(node, Error)
}

/// `a if condition else b`, where `a` is parsed already.
pub(super) fn begins_conditional(p: &Parser) -> bool {
    p.at(IfKw) && p.nth(1) != LParen && !p.is_on_new_line(p.pos)
}

/// `enum Color { red, green }`: a definition as C has it.
pub(super) fn begins_named_enum(p: &Parser) -> bool {
    p.at(EnumKw) && p.nth(1) == Ident && p.nth(2) == LBrace
}

/// Passes over such a definition. What it names counts as declared in a broken part.
pub(super) fn named_enum(p: &mut Parser) {
    let node = p.start();
    let name = p.token_text(p.pos + 1);
    p.error_at_token("unexpected-token", "an enumeration is defined as a type");
    p.add_help(format!("write `type {name} = enum {{ a, b }};`"));
    for kind in [DeclarationKind::Type, DeclarationKind::Variable] {
        p.recovery.unnamed.insert(kind);
    }
    let end = |p: &Parser| p.at_any(&[RBrace, Eof]);
    while !end(p) && !p.at(LBrace) {
        p.bump();
    }
    p.skip_one();
    p.eat(Semi);
    p.finish(node, Error);
}

/// Advice for words with which other languages begin a definition: the words of SPL.
pub(super) fn start_advice(p: &Parser) -> Option<&'static str> {
    const NO_VARIABLES: &str =
        "variables belong to operators and functions; there are none outside of them";
    Some(match p.token_text(p.pos) {
        "import" | "include" | "using" | "package" => {
            "names of other namespaces are seen after `use name.space::*;`"
        }
        "struct" | "class" | "record" => {
            "write `type Name = int32 a, rstring b;` for a type of tuples"
        }
        "typedef" | "typealias" => "write `type Name = int32;`",
        "function" | "def" | "fn" | "func" => {
            "a function is written `int32 name(int32 x) { return x; }`"
        }
        "<" | "template" => {
            "functions of a program have no type parameters; write one for each type"
        }
        "static" | "private" | "protected" | "inline" if p.begins_function(p.pos + 1) => {
            "leave it out: other namespaces see a function only if it is `public`"
        }
        "mutable" | "static" | "const" | "final" | "var" | "let" | "auto" => NO_VARIABLES,
        _ if p.at(Ident) && p.nth(1) == LParen => {
            "a function begins with the type of its result, or with `void`"
        }
        _ => return None,
    })
}

/// The type of a collection that is called so in other languages.
pub(super) fn collection(name: &str) -> Option<&'static str> {
    Some(match name {
        "vector" | "array" | "Array" | "ArrayList" | "deque" | "sequence" => "list",
        "HashMap" | "unordered_map" | "dict" | "Dict" | "Dictionary" => "map",
        "HashSet" | "unordered_set" => "set",
        "Option" | "Maybe" | "Nullable" => "optional",
        _ => return None,
    })
}

/// Advice for a list of attributes that neither goes on nor ends at the token here.
pub(super) fn separator_advice(p: &Parser) -> Option<&'static str> {
    let next = p.pos + 1;
    let is_attribute = p.kind_at(next).is_type_keyword()
        || (p.kind_at(next) == Ident && p.kind_at(next + 1) == Ident);
    match p.current() {
        Semi if is_attribute && !p.is_on_new_line(next) => Some("attributes are separated by `,`"),
        _ => None,
    }
}
