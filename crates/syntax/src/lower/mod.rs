//! The lossless tree to the owned syntax tree.
//!
//! Comes after parsing and adds no findings: what is broken was reported, and is left out here or
//! is an `Error`.

mod composite;
mod expr;
mod function;
mod invocation;
mod stmt;
mod types;

use std::sync::Arc;

use rowan::GreenNode;
use rustc_hash::FxHashMap;

use crate::ast::{Expr, Ident, Item, Prototype, QName, TypeExpr, Unit, Use};
use crate::node_view::{SyntaxElementView, SyntaxNodeView};
use crate::{FileId, Span, SyntaxKind};

/// Lowers a source file.
pub(crate) fn unit(file: FileId, tree: &GreenNode) -> Unit {
    let mut lower = AstLowering::new(file);
    lower.unit(SyntaxNodeView::root(tree))
}

/// Lowers a type that was parsed alone.
pub(crate) fn type_expr(file: FileId, tree: &GreenNode) -> Option<TypeExpr> {
    let node = SyntaxNodeView::root(tree).nodes().next()?;
    Some(AstLowering::new(file).type_expr(node))
}

/// Lowers an expression that was parsed alone.
pub(crate) fn expr(file: FileId, tree: &GreenNode) -> Option<Expr> {
    let node = SyntaxNodeView::root(tree).nodes().next()?;
    Some(AstLowering::new(file).expr(node))
}

/// Lowers the prototype of a native function.
pub(crate) fn prototype(file: FileId, tree: &GreenNode) -> Option<Prototype> {
    AstLowering::new(file).prototype(SyntaxNodeView::root(tree))
}

/// The state of lowering one file.
struct AstLowering<'a> {
    file: FileId,
    /// Names seen so far, each stored once.
    names: FxHashMap<&'a str, Arc<str>>,
}

impl<'a> AstLowering<'a> {
    fn new(file: FileId) -> AstLowering<'a> {
        AstLowering {
            file,
            names: FxHashMap::default(),
        }
    }

    fn unit(&mut self, root: SyntaxNodeView<'a>) -> Unit {
        let mut unit = Unit::default();
        let mut doc = None;
        for element in root.elements() {
            match element {
                SyntaxElementView::Token(leaf) if leaf.kind == SyntaxKind::BlockComment => {
                    doc = leaf.text.starts_with("/**").then_some(leaf.text);
                }
                SyntaxElementView::Token(_) => {}
                SyntaxElementView::Node(node) => {
                    let doc = doc.take().map(doc_text);
                    self.item(&mut unit, node, doc);
                }
            }
        }
        unit
    }

    fn item(&mut self, unit: &mut Unit, node: SyntaxNodeView<'a>, doc: Option<Arc<str>>) {
        match node.kind() {
            SyntaxKind::NamespaceDecl => {
                let name = node.first_of_kind(SyntaxKind::NamespaceName);
                unit.namespace = name.map(|name| self.dotted_ident(name));
            }
            SyntaxKind::UseDecl => unit.uses.extend(self.use_directive(node)),
            SyntaxKind::Composite => {
                let composite = self.composite(node, doc);
                unit.items
                    .extend(composite.map(|c| Item::Composite(Arc::new(c))));
            }
            SyntaxKind::Function => {
                let function = self.function(node, doc);
                unit.items
                    .extend(function.map(|f| Item::Function(Arc::new(f))));
            }
            SyntaxKind::TypeItem => {
                let definition = node.first_of_kind(SyntaxKind::TypeDef);
                let definition = definition.and_then(|node| self.type_definition(node));
                unit.items
                    .extend(definition.map(|t| Item::Type(Arc::new(t))));
            }
            _ => {}
        }
    }

    fn use_directive(&mut self, node: SyntaxNodeView<'a>) -> Option<Use> {
        let namespace = node.first_of_kind(SyntaxKind::NamespaceName)?;
        let name = self.name(node);
        if name.is_none() && !node.has_token(SyntaxKind::Star) {
            return None;
        }
        Some(Use {
            namespace: self.dotted_ident(namespace),
            name,
            span: node.span(self.file),
        })
    }

    // Names.

    /// The text, shared with all equal ones.
    fn intern(&mut self, text: &'a str) -> Arc<str> {
        let shared = self.names.entry(text).or_insert_with(|| Arc::from(text));
        Arc::clone(shared)
    }

    /// The identifier in a `Name` node.
    fn ident(&mut self, node: SyntaxNodeView<'a>) -> Option<Ident> {
        let leaf = node.tokens().next()?;
        Some(Ident {
            text: self.intern(leaf.text),
            span: leaf.span(self.file),
        })
    }

    /// The first `Name` below a node.
    fn name(&mut self, node: SyntaxNodeView<'a>) -> Option<Ident> {
        self.ident(node.first_of_kind(SyntaxKind::Name)?)
    }

    /// All `Name`s below a node.
    fn all_names(&mut self, node: SyntaxNodeView<'a>) -> Vec<Ident> {
        node.nodes_of_kind(SyntaxKind::Name)
            .filter_map(|name| self.ident(name))
            .collect()
    }

    /// A name of several parts as one identifier, without blanks.
    fn dotted_ident(&mut self, node: SyntaxNodeView<'a>) -> Ident {
        let text: String = node.tokens().map(|leaf| leaf.text).collect();
        Ident {
            text: Arc::from(text),
            span: node.span(self.file),
        }
    }

    fn qualified_name(&mut self, node: SyntaxNodeView<'a>) -> QName {
        let span = node.span(self.file);
        let mut before: Vec<crate::node_view::SyntaxTokenView<'a>> = Vec::new();
        let mut namespace = None;
        for leaf in node.tokens() {
            if leaf.kind == SyntaxKind::ColonColon {
                let text: String = before.iter().map(|leaf| leaf.text).collect();
                namespace = before
                    .first()
                    .zip(before.last())
                    .map(|(first, last)| Ident {
                        text: Arc::from(text),
                        span: first.span(self.file).to(last.span(self.file)),
                    });
                before.clear();
            } else {
                before.push(leaf);
            }
        }
        let name = match before.last() {
            Some(leaf) => Ident {
                text: self.intern(leaf.text),
                span: leaf.span(self.file),
            },
            None => Ident {
                text: Arc::from(""),
                span,
            },
        };
        QName {
            namespace,
            name,
            span,
        }
    }

    fn span(&self, node: SyntaxNodeView<'a>) -> Span {
        node.span(self.file)
    }
}

/// The text of a documentation comment without its markers and the stars of its lines.
fn doc_text(comment: &str) -> Arc<str> {
    let inner = comment.strip_prefix("/**").unwrap_or(comment);
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let lines: Vec<&str> = inner
        .lines()
        .map(|line| {
            let line = line.trim();
            let line = line.strip_prefix('*').unwrap_or(line);
            line.strip_prefix(' ').unwrap_or(line)
        })
        .collect();
    Arc::from(lines.join("\n").trim())
}
