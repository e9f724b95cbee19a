//! Composites and what their clauses hold.

use std::sync::Arc;

use super::AstLowering;
use crate::SyntaxKind::*;
use crate::ast::{
    Actual, Annotation, Composite, CompositePort, Config, Formal, Mode, TypeDef, TypeDefBody,
};
use crate::node_view::{SyntaxElementView, SyntaxNodeView};

impl<'a> AstLowering<'a> {
    pub(super) fn composite(
        &mut self,
        node: SyntaxNodeView<'a>,
        doc: Option<Arc<str>>,
    ) -> Option<Composite> {
        let mut composite = Composite {
            annotations: self.annotations(node),
            is_public: node.has_token(PublicKw),
            name: self.name(node)?,
            outputs: Vec::new(),
            inputs: Vec::new(),
            params: Vec::new(),
            types: Vec::new(),
            graph: Vec::new(),
            config: Vec::new(),
            span: self.span(node),
            doc,
        };
        for list in node.nodes_of_kind(PortList) {
            for group in list.nodes() {
                let ports = group
                    .nodes_of_kind(CompositePort)
                    .filter_map(|port| self.composite_port(port));
                match group.kind() {
                    OutputPorts => composite.outputs.extend(ports),
                    _ => composite.inputs.extend(ports),
                }
            }
        }
        for body in node.nodes_of_kind(CompositeBody) {
            for clause in body.nodes() {
                self.composite_clause(&mut composite, clause);
            }
        }
        Some(composite)
    }

    fn composite_port(&mut self, node: SyntaxNodeView<'a>) -> Option<CompositePort> {
        Some(CompositePort {
            ty: self.stream_type(node),
            name: self.name(node)?,
        })
    }

    fn composite_clause(&mut self, composite: &mut Composite, clause: SyntaxNodeView<'a>) {
        for entry in clause.nodes() {
            match entry.kind() {
                Formal => composite.params.extend(self.formal(entry)),
                TypeDef => {
                    let definition = self.type_definition(entry);
                    composite.types.extend(definition.map(Arc::new));
                }
                Invocation => composite.graph.extend(self.invocation(entry)),
                ConfigEntry => composite.config.extend(self.config(entry)),
                _ => {}
            }
        }
    }

    fn formal(&mut self, node: SyntaxNodeView<'a>) -> Option<Formal> {
        let mode = self.mode(node.first_of_kind(Mode)?)?;
        let mut values = node
            .nodes()
            .filter(|child| !matches!(child.kind(), Mode | Name));
        let default = match node.has_token(Colon) {
            true => self.actual(&mut values),
            false => None,
        };
        Some(Formal {
            mode,
            name: self.name(node)?,
            default,
            span: self.span(node),
        })
    }

    fn mode(&mut self, node: SyntaxNodeView<'a>) -> Option<Mode> {
        Some(match node.tokens().next()?.kind {
            AttributeKw => Mode::Attribute,
            FunctionKw => Mode::Function,
            OperatorKw => Mode::Operator,
            TypeKw => Mode::Type,
            _ => Mode::Expression(node.nodes().next().map(|ty| self.type_expr(ty))),
        })
    }

    /// A type if the first node is one, else all of them as expressions.
    pub(super) fn actual(
        &mut self,
        nodes: &mut dyn Iterator<Item = SyntaxNodeView<'a>>,
    ) -> Option<Actual> {
        let first = nodes.next()?;
        if super::types::is_type(first.kind()) {
            return Some(Actual::Type(self.type_expr(first)));
        }
        let mut exprs = vec![self.expr(first)];
        let others = nodes.filter(|node| node.kind() != Error);
        exprs.extend(others.map(|node| self.expr(node)));
        Some(Actual::Exprs(exprs))
    }

    pub(super) fn type_definition(&mut self, node: SyntaxNodeView<'a>) -> Option<TypeDef> {
        let body = node.nodes().find(|child| child.kind() != Name)?;
        Some(TypeDef {
            is_static: node.has_token(StaticKw),
            name: self.name(node)?,
            body: match body.kind() {
                TupleBody => TypeDefBody::Tuple(self.tuple_body(body)),
                _ => TypeDefBody::Type(self.type_expr(body)),
            },
            span: self.span(node),
        })
    }

    pub(super) fn config(&mut self, node: SyntaxNodeView<'a>) -> Option<Config> {
        Some(Config {
            name: self.name(node)?,
            values: self.values(node),
            span: self.span(node),
        })
    }

    pub(super) fn annotations(&mut self, node: SyntaxNodeView<'a>) -> Vec<Annotation> {
        node.nodes_of_kind(Annotation)
            .filter_map(|node| self.annotation(node))
            .collect()
    }

    fn annotation(&mut self, node: SyntaxNodeView<'a>) -> Option<Annotation> {
        let mut args = Vec::new();
        for arg in node
            .first_of_kind(AnnotationArgs)
            .into_iter()
            .flat_map(|n| n.nodes_of_kind(AnnotationArg))
        {
            let value = arg.nodes().find(|child| child.kind() != Name);
            if let (Some(key), Some(value)) = (self.name(arg), value) {
                args.push((key, self.expr(value)));
            }
        }
        Some(Annotation {
            name: self.name(node)?,
            args,
            span: self.span(node),
        })
    }

    /// The `Name` that follows an `as` directly below a node.
    pub(super) fn alias(&mut self, node: SyntaxNodeView<'a>) -> Option<crate::ast::Ident> {
        let mut after_as = false;
        for element in node.elements() {
            match element {
                SyntaxElementView::Token(leaf) if leaf.kind == AsKw => after_as = true,
                SyntaxElementView::Node(name) if after_as && name.kind() == Name => {
                    return self.ident(name);
                }
                _ => {}
            }
        }
        None
    }
}
