//! Types: `int32`, `rstring[8]`, `list<T>[10]`, `tuple<...>`, `ns::C.T`.

use super::{expr, foreign};
use crate::SyntaxKind::*;
use crate::parser::marker::CompletedNode;
use crate::parser::parser_state::Parser;
use crate::parser::recover::OpenBrace;
use crate::{Diagnostic, SyntaxKind};

/// Advice for types written as in other languages, `int32[]`.
const ARRAY_ADVICE: &str = "values of one type in order are a `list<T>`";

/// A type. `None` if none begins here; that was said then.
pub(in crate::parser) fn type_expr(p: &mut Parser) -> Option<CompletedNode> {
    p.nested(|p| match p.current() {
        kind if kind.is_primitive_keyword() => Some(primitive(p)),
        Ident => Some(named_type(p)),
        RstringKw => Some(bounded_string(p)),
        XmlKw => Some(xml(p)),
        EnumKw => Some(enumeration(p)),
        TupleKw => Some(tuple(p)),
        ListKw => Some(collection(p, ListType, 1)),
        SetKw => Some(collection(p, SetType, 1)),
        MapKw => Some(collection(p, MapType, 2)),
        OptionalKw => Some(optional(p)),
        VoidKw => Some(misplaced_void(p)),
        _ => {
            p.error_expected("a type");
            None
        }
    })
}

/// Passes over the `:` behind a name and the type behind that.
pub(in crate::parser) fn skip_type_behind(p: &mut Parser) {
    let broken = p.start();
    p.bump();
    type_expr(p);
    p.finish(broken, Error);
}

/// The result of a function: a type or `void`.
pub(in crate::parser) fn result_type(p: &mut Parser) {
    if p.at(VoidKw) {
        primitive(p);
    } else {
        type_expr(p);
    }
}

/// `stream<...>`; the token here is `stream`, or a word taken for it.
pub(in crate::parser) fn stream_type(p: &mut Parser) {
    let node = p.start();
    p.bump_as(StreamKw, 1);
    angle_body(p, "stream");
    p.finish(node, StreamType);
}

/// `<...>` of a stream whose word is missing.
pub(in crate::parser) fn bare_stream_type(p: &mut Parser) {
    let node = p.start();
    angle_body(p, "stream");
    p.finish(node, StreamType);
}

/// Parses the right side of a type definition: a type, or a tuple body without `tuple<>`.
pub(in crate::parser) fn definition(p: &mut Parser) {
    let body = p.start();
    let is_body = match elements(p, false) {
        ParsedTypeList::SingleType => false,
        ParsedTypeList::TupleBody => true,
    };
    match is_body {
        true => {
            p.finish(body, TupleBody);
        }
        false => p.abandon(body),
    }
}

fn primitive(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    p.finish(node, PrimitiveType)
}

fn misplaced_void(p: &mut Parser) -> CompletedNode {
    let span = p.span(p.pos);
    p.report(
        Diagnostic::error("misplaced-void", span, "`void` is no type of a value")
            .help("only a function's result may be `void`"),
    );
    primitive(p)
}

fn named_type(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    expr::qualified_name(p);
    if p.at(Dot) && p.nth(1) == Ident {
        p.bump();
        let name = p.start();
        p.bump();
        p.finish(name, Name);
    }
    if p.at(Lt) {
        foreign_arguments(p);
    }
    p.finish(node, NamedType)
}

/// `List<int32>`: only the words of the language take type arguments.
fn foreign_arguments(p: &mut Parser) {
    let at = p.pos - 1;
    let written = p.token_text(at);
    let message = format!("the type `{written}` takes no types in `<` `>`");
    p.report(Diagnostic::error("foreign-type", p.span(at), message));
    if let Some(word) = foreign::collection(written) {
        p.add_help(format!("did you mean `{word}`?"));
    } else if let Some(word) = p.similar_keyword(at, &[ListKw, SetKw, MapKw, TupleKw, OptionalKw]) {
        p.add_help(format!("did you mean `{}`?", word.text()));
    }
    p.bump();
    while type_expr(p).is_some() && p.eat(Comma) {}
    close_angle(p, "to close the types");
}

fn bounded_string(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    bound(p);
    p.finish(node, StringType)
}

/// Advice for brackets behind a type that takes no bound.
pub(in crate::parser) fn array_advice(p: &Parser) -> &'static str {
    match p.kind_at(p.pos.saturating_sub(1)) {
        UstringKw => "only `rstring` and collections can be bounded: `rstring[10]`",
        _ => ARRAY_ADVICE,
    }
}

/// `[n]` after a type, if it is there.
fn bound(p: &mut Parser) {
    if !p.at(LBracket) {
        return;
    }
    let node = p.start();
    p.bump();
    expr::expr(p);
    p.expect(RBracket, "after the bound");
    p.finish(node, Dim);
}

fn xml(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    if p.eat(Lt) {
        if !p.eat(StringToken) {
            p.error_expected("the schema's address in quotes");
        }
        close_angle(p, "after the schema's address");
    }
    p.finish(node, XmlType)
}

fn enumeration(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    let Some(opening) = p.open_brace("enumeration", "after `enum`") else {
        p.add_help("an enumeration is written `enum { a, b }`");
        return p.finish(node, EnumType);
    };
    if p.at(RBrace) {
        p.error_expected("an enumerator");
    }
    while !p.at_any(&[RBrace, Semi, Eof]) {
        let name = p.start();
        let is_name = p.declared_name("an enumerator");
        p.finish(name, Name);
        if !is_name {
            break;
        }
        if !p.eat(Comma) {
            break;
        }
        if p.at(RBrace) {
            p.error_expected("an enumerator after `,`");
        }
    }
    close_list(p, opening);
    p.finish(node, EnumType)
}

/// The closing brace of a short list: what stands before it is passed over.
fn close_list(p: &mut Parser, opening: OpenBrace) {
    if !p.at(RBrace) {
        p.error_missing("expected `,` or `}` after the enumerator");
        if p.at(Eq) {
            p.add_help("enumerators have no numbers of their own: the first counts as 0");
        }
        p.skip(|_| false);
    }
    p.close_brace(opening);
}

fn tuple(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    angle_body(p, "tuple");
    p.finish(node, TupleType)
}

fn collection(p: &mut Parser, kind: SyntaxKind, count: usize) -> CompletedNode {
    let node = p.start();
    let word = p.current().text();
    p.bump();
    if p.expect(Lt, &format!("after `{word}`")) {
        type_expr(p);
        if count == 2 && p.expect(Comma, "after the type of the map's keys") {
            type_expr(p);
        }
        close_angle(p, &format!("to close `{word}<`"));
    } else {
        let help = match count {
            2 => "a map says its types: `map<rstring, int32>`".to_owned(),
            _ => format!("a {word} says its type: `{word}<int32>`"),
        };
        p.add_help(help);
    }
    bound(p);
    p.finish(node, kind)
}

fn optional(p: &mut Parser) -> CompletedNode {
    let node = p.start();
    p.bump();
    if p.expect(Lt, "after `optional`") {
        if p.at(OptionalKw) {
            let span = p.span(p.pos);
            p.report_remark(Diagnostic::error(
                "nested-optional",
                span,
                "an optional type cannot hold an optional type",
            ));
        }
        type_expr(p);
        close_angle(p, "to close `optional<`");
    }
    p.finish(node, OptionalType)
}

/// `<` tuple body `>`.
fn angle_body(p: &mut Parser, word: &str) {
    if !p.expect(Lt, &format!("after `{word}`")) && p.closing_angle().is_none() {
        return;
    }
    let body = p.start();
    if p.at(Gt) {
        let message = format!("a {word} type needs at least one attribute");
        p.error_here("empty-tuple-type", message);
        p.add_help(format!("write `{word}<int32 a>` or `{word}<T>`"));
    } else {
        elements(p, true);
    }
    p.finish(body, TupleBody);
    close_angle(p, &format!("to close `{word}<`"));
}

/// The `>` of a type. What stands before it is passed over if it is on this line.
fn close_angle(p: &mut Parser, place: &str) {
    if p.eat(Gt) {
        return;
    }
    p.error_missing(format!("expected `>` {place}"));
    if let Some(help) = foreign::separator_advice(p) {
        p.add_help(help);
    }
    if let Some(close) = p.closing_angle() {
        let broken = p.start();
        while p.pos < close {
            p.bump();
        }
        p.finish(broken, Error);
        p.bump();
    }
}

/// Form of a list of types: with names or without.
enum ParsedTypeList {
    /// A single type without a name.
    SingleType,
    /// Attributes, or several tuple types.
    TupleBody,
}

/// `int32 a, rstring b` or `T1, tuple<...>`: one form throughout.
fn elements(p: &mut Parser, in_angles: bool) -> ParsedTypeList {
    let mut first_is_named = None;
    let mut count = 0;
    loop {
        let element = p.start();
        if begins_with_name(p) {
            name_first(p);
            p.finish(element, TupleAttr);
            first_is_named.get_or_insert(true);
            count += 1;
            match another_element(p) {
                true => continue,
                false => break,
            }
        }
        let Some(ty) = type_expr(p) else {
            p.abandon(element);
            if skip_element(p) {
                continue;
            }
            break;
        };
        let is_named = attribute_name(p);
        match is_named {
            true => {
                p.finish(element, TupleAttr);
            }
            false => p.abandon(element),
        }
        let is_element = in_angles || count > 0 || p.at(Comma);
        match first_is_named {
            Some(form) if form != is_named => report_mixed(p, is_named),
            // It is not known which form is meant.
            _ if !is_named && is_element && !is_extendee(ty) => report_unnamed(p),
            _ => first_is_named = Some(is_named),
        }
        count += 1;
        if !another_element(p) {
            break;
        }
    }
    match first_is_named == Some(false) && count == 1 {
        true => ParsedTypeList::SingleType,
        false => ParsedTypeList::TupleBody,
    }
}

/// `n int32`: a name, and behind it what can only be a type.
fn begins_with_name(p: &Parser) -> bool {
    let ends = matches!(p.nth(2), Comma | Gt);
    p.at(Ident)
        && match p.nth(1) {
            Colon => p.nth(2).is_type_keyword(),
            // These three are names that people give to attributes of a type of their own.
            TimestampKw | BlobKw | XmlKw => false,
            RstringKw => ends || p.nth(2) == LBracket,
            ListKw | SetKw | MapKw | TupleKw | OptionalKw => p.nth(2) == Lt,
            kind => kind.is_primitive_keyword() && ends,
        }
}

/// An attribute that is written as other languages write it.
fn name_first(p: &mut Parser) {
    let ty = p.pos + 1 + usize::from(p.nth(1) == Colon);
    let (written, after) = (p.token_text(p.pos).to_owned(), p.kind_at(ty + 1));
    let ty = p.token_text(ty);
    let help = match after {
        Comma | Gt => format!("write `{ty} {written}`"),
        _ => format!("write the type, then `{written}`"),
    };
    let message = "the type of an attribute stands before its name";
    p.error_at_token("type-after-name", message);
    p.add_help(help);
    p.reported_at = None;
    let name = p.start();
    p.bump();
    p.finish(name, Name);
    if p.at(Colon) {
        p.skip_token();
    }
    type_expr(p);
}

/// Passes over what is no element, and the comma behind it. Says whether another one follows.
fn skip_element(p: &mut Parser) -> bool {
    let end = |p: &Parser| {
        p.at_any(&[Comma, Gt, Semi, Eq, LBrace, RBrace, LParen, RParen, Eof])
            || p.is_on_new_line(p.pos)
    };
    let (broken, before) = (p.start(), p.pos);
    while !end(p) {
        p.bump();
    }
    let goes_on = p.eat(Comma);
    if p.pos > before {
        p.finish(broken, Error);
    } else {
        p.abandon(broken);
    }
    goes_on
}

/// Takes the comma before another element; says so if only the comma is missing.
fn another_element(p: &mut Parser) -> bool {
    if p.eat(Comma) {
        if p.at_any(&[Gt, Semi]) {
            p.error_expected("an attribute after `,`");
            return false;
        }
        return true;
    }
    let is_attribute = p.current().is_type_keyword() || (p.at(Ident) && p.nth(1) == Ident);
    let goes_on = is_attribute && !p.is_on_new_line(p.pos);
    if goes_on {
        let span = p.previous_end();
        let message = "expected `,` between the attributes";
        p.report(Diagnostic::error("expected-token", span, message));
    }
    goes_on
}

/// An element without a name must be a tuple type or the name of one.
fn is_extendee(ty: CompletedNode) -> bool {
    matches!(ty.kind, NamedType | TupleType)
}

/// Reports an attribute without a name.
fn report_unnamed(p: &mut Parser) {
    p.error_missing("expected a name after the attribute's type");
    if p.at(LBracket) {
        p.add_help(array_advice(p));
    }
}

fn report_mixed(p: &mut Parser, is_named: bool) {
    let span = p.previous_end();
    if !is_named {
        let message = "expected a name after the attribute's type";
        p.report(Diagnostic::error("expected-token", span, message));
        p.add_help(match p.at(LBracket) {
            true => array_advice(p),
            false => "to add those of a tuple type, put all into such types: `tuple<int32 a>, T`",
        });
        return;
    }
    let message = "attributes and tuple types cannot be mixed";
    p.report(
        Diagnostic::error("mixed-tuple", span, message)
            .help("put the attributes into a tuple type of their own: `T, tuple<int32 a>`"),
    );
}

/// The name of an attribute, if one is here; also a reserved word in its place.
fn attribute_name(p: &mut Parser) -> bool {
    let is_word = p.current().is_keyword() && matches!(p.nth(1), Comma | Gt | Semi);
    if !p.at(Ident) && !is_word {
        return false;
    }
    let name = p.start();
    p.declared_name("the name of an attribute");
    p.finish(name, Name);
    true
}
