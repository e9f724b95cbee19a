//! Functions and prototypes.

use std::sync::Arc;

use super::AstLowering;
use crate::SyntaxKind::*;
use crate::ast::{Function, FunctionParam, Ident, Prototype};
use crate::node_view::SyntaxNodeView;

impl<'a> AstLowering<'a> {
    pub(super) fn function(
        &mut self,
        node: SyntaxNodeView<'a>,
        doc: Option<Arc<str>>,
    ) -> Option<Function> {
        Some(Function {
            is_public: node.has_token(PublicKw),
            is_stateful: node.has_token(StatefulKw),
            result: self.child_type(node)?,
            name: self.name(node)?,
            params: self.formals(node, false),
            body: self.block(node.first_of_kind(Block)?),
            span: self.span(node),
            doc,
        })
    }

    pub(super) fn prototype(&mut self, node: SyntaxNodeView<'a>) -> Option<Prototype> {
        let mut type_formals = Vec::new();
        for formal in node
            .first_of_kind(TypeFormals)
            .into_iter()
            .flat_map(|n| n.nodes_of_kind(TypeFormal))
        {
            let mut names = self.all_names(formal).into_iter();
            type_formals.push((names.next()?, names.next()?));
        }
        let mut bounds = Vec::new();
        for name in node
            .first_of_kind(BoundFormals)
            .into_iter()
            .flat_map(|n| n.nodes_of_kind(QName))
        {
            bounds.push(self.qualified_name(name).name);
        }
        Some(Prototype {
            type_formals,
            bounds,
            is_public: node.has_token(PublicKw),
            is_stateful: node.has_token(StatefulKw),
            result: self.child_type(node)?,
            name: self.name(node)?,
            params: self.formals(node, true),
        })
    }

    /// The parameters. Those of a prototype may lack names: theirs is empty.
    fn formals(&mut self, node: SyntaxNodeView<'a>, may_lack_names: bool) -> Vec<FunctionParam> {
        let Some(list) = node.first_of_kind(FormalList) else {
            return Vec::new();
        };
        let file = self.file;
        list.nodes_of_kind(FunctionParam)
            .filter_map(|formal| {
                let nameless = || Ident {
                    text: Arc::from(""),
                    span: formal.span(file),
                };
                let name = self.name(formal);
                Some(FunctionParam {
                    is_mutable: formal.has_token(MutableKw),
                    ty: self.child_type(formal)?,
                    name: name.or_else(|| may_lack_names.then(nameless))?,
                })
            })
            .collect()
    }
}
