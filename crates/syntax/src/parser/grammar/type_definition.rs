//! Definitions of types, in composites, in units and among statements.

use super::types;
use crate::DeclarationKind;
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;

/// `static Name = ...;`, the word `type` before it taken already.
pub(in crate::parser) fn type_definition(p: &mut Parser) {
    let node = p.start();
    p.eat(StaticKw);
    let name = p.start();
    p.declaration_name(DeclarationKind::Type, "the name of a type");
    p.finish(name, Name);
    if p.expect(Eq, "after the type's name") {
        types::definition(p);
    }
    p.semicolon("the type definition");
    p.finish(node, TypeDef);
}
