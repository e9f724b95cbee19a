//! Definitions of types, in composites, in units and among statements.

use super::types;
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;
use crate::{DeclarationKind, Diagnostic};

/// `Name = ...;` in a unit or a block, the word `type` before it taken already.
pub(in crate::parser) fn plain_type_definition(p: &mut Parser) {
    if p.at(StaticKw) {
        let message = "only a type of a composite can be `static`";
        let finding = Diagnostic::error("misplaced-modifier", p.span(p.pos), message)
            .help("write only `type`");
        p.report_remark(finding);
        p.skip_token();
    }
    type_definition(p);
}

/// `static Name = ...;` in the `type` clause of a composite.
pub(in crate::parser) fn type_definition(p: &mut Parser) {
    let node = p.start();
    p.eat(StaticKw);
    let name = p.start();
    p.declaration_name(DeclarationKind::Type, "the name of a type");
    p.finish(name, Name);
    if p.expect(Eq, "after the type's name") {
        let is_braced = p.at(LBrace);
        types::definition(p);
        if is_braced {
            p.add_help("the attributes follow at once: `type Name = int32 a, rstring b;`");
        }
    } else {
        p.add_help("a type is defined by `type Name = int32;`");
    }
    p.semicolon("the type definition");
    p.finish(node, TypeDef);
}
