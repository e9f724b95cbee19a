//! Types.

use std::sync::Arc;

use super::AstLowering;
use crate::SyntaxKind::{self, *};
use crate::ast::{Expr, ExprKind, TupleBody, TupleBodyKind, TypeExpr, TypeKind};
use crate::node_view::SyntaxNodeView;

/// A node that is a type.
pub(super) fn is_type(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        PrimitiveType
            | NamedType
            | EnumType
            | StringType
            | XmlType
            | TupleType
            | ListType
            | SetType
            | MapType
            | OptionalType
    )
}

/// Whether something of a tuple body was passed over, or its elements are not of one form.
fn is_broken(body: SyntaxNodeView<'_>, is_named: bool) -> bool {
    let is_empty = body.nodes().next().is_none();
    let mut elements = body.nodes();
    is_empty
        || elements.any(|element| match element.kind() {
            Error => true,
            TupleAttr => !element.nodes().any(|part| is_type(part.kind())),
            NamedType | TupleType => is_named,
            kind => is_type(kind),
        })
}

impl<'a> AstLowering<'a> {
    /// A type; `Error` for what is none.
    pub(super) fn type_expr(&mut self, node: SyntaxNodeView<'a>) -> TypeExpr {
        TypeExpr {
            kind: self.type_kind(node).unwrap_or(TypeKind::Error),
            span: self.span(node),
        }
    }

    /// The type directly below a node.
    pub(super) fn child_type(&mut self, node: SyntaxNodeView<'a>) -> Option<TypeExpr> {
        let child = node.nodes().find(|child| is_type(child.kind()))?;
        Some(self.type_expr(child))
    }

    /// The body of the `stream<...>` directly below a node.
    pub(super) fn stream_type(&mut self, node: SyntaxNodeView<'a>) -> Option<TupleBody> {
        let stream = node.first_of_kind(StreamType)?;
        self.angle_body(stream)
    }

    fn type_kind(&mut self, node: SyntaxNodeView<'a>) -> Option<TypeKind> {
        Some(match node.kind() {
            PrimitiveType => TypeKind::Primitive(node.tokens().next()?.kind.text()),
            NamedType => {
                let name = self.qualified_name(node.first_of_kind(QName)?);
                TypeKind::Named(name, self.name(node))
            }
            EnumType => TypeKind::Enum(self.all_names(node)),
            StringType => match self.bound(node) {
                Some(bound) => TypeKind::BoundedString(bound),
                None => TypeKind::Primitive(RstringKw.text()),
            },
            XmlType => self.xml(node),
            TupleType => TypeKind::Tuple(self.angle_body(node)?),
            ListType => TypeKind::List(self.element(node, 0)?, self.bound(node)),
            SetType => TypeKind::Set(self.element(node, 0)?, self.bound(node)),
            MapType => {
                let key = self.element(node, 0)?;
                TypeKind::Map(key, self.element(node, 1)?, self.bound(node))
            }
            OptionalType => TypeKind::Optional(self.element(node, 0)?),
            _ => return None,
        })
    }

    fn element(&mut self, node: SyntaxNodeView<'a>, index: usize) -> Option<Box<TypeExpr>> {
        let child = node
            .nodes()
            .filter(|child| is_type(child.kind()))
            .nth(index)?;
        Some(Box::new(self.type_expr(child)))
    }

    fn bound(&mut self, node: SyntaxNodeView<'a>) -> Option<Box<Expr>> {
        let value = node.first_of_kind(Dim)?.nodes().next()?;
        Some(Box::new(self.expr(value)))
    }

    fn xml(&mut self, node: SyntaxNodeView<'a>) -> TypeKind {
        let address = node.tokens().find(|leaf| leaf.kind == StringToken);
        match address.map(|leaf| crate::lexer::decode_string(leaf.text)) {
            None => TypeKind::Primitive(XmlKw.text()),
            Some(ExprKind::String(text, _)) => TypeKind::Xml(text),
            Some(_) => TypeKind::Xml(Arc::from("")),
        }
    }

    /// The body between `<` and `>`.
    fn angle_body(&mut self, node: SyntaxNodeView<'a>) -> Option<TupleBody> {
        let body = node.first_of_kind(SyntaxKind::TupleBody)?;
        let mut lowered = self.tuple_body(body);
        if node.first_of_kind(Error).is_some() {
            lowered.kind = self.broken_body(body);
        }
        Some(lowered)
    }

    /// A body of which a part is unknown: looking up an attribute in it gives no answer.
    fn broken_body(&self, node: SyntaxNodeView<'a>) -> TupleBodyKind {
        TupleBodyKind::Concat(vec![TypeExpr {
            kind: TypeKind::Error,
            span: self.span(node),
        }])
    }

    pub(super) fn tuple_body(&mut self, node: SyntaxNodeView<'a>) -> TupleBody {
        let is_named = node.first_of_kind(TupleAttr).is_some();
        let kind = match is_named {
            _ if is_broken(node, is_named) => self.broken_body(node),
            true => TupleBodyKind::Attributes(
                node.nodes_of_kind(TupleAttr)
                    .filter_map(|attr| Some((self.child_type(attr)?, self.name(attr)?)))
                    .collect(),
            ),
            false => TupleBodyKind::Concat(
                node.nodes()
                    .filter(|child| is_type(child.kind()))
                    .map(|child| self.type_expr(child))
                    .collect(),
            ),
        };
        TupleBody {
            kind,
            span: self.span(node),
        }
    }
}
