//! Functions and prototypes.

use std::sync::Arc;

use super::Lower;
use super::view::Node;
use crate::SyntaxKind::*;
use crate::ast::{Function, FunctionParam, Ident, Prototype};

impl<'a> Lower<'a> {
    pub(super) fn function(&mut self, node: Node<'a>, doc: Option<Arc<str>>) -> Option<Function> {
        Some(Function {
            is_public: node.has(PublicKw),
            is_stateful: node.has(StatefulKw),
            result: self.child_type(node)?,
            name: self.name(node)?,
            params: self.formals(node, false),
            body: self.block(node.first(Block)?),
            span: self.span(node),
            doc,
        })
    }

    pub(super) fn prototype(&mut self, node: Node<'a>) -> Option<Prototype> {
        let mut type_formals = Vec::new();
        for formal in node
            .first(TypeFormals)
            .into_iter()
            .flat_map(|n| n.all(TypeFormal))
        {
            let mut names = self.all_names(formal).into_iter();
            type_formals.push((names.next()?, names.next()?));
        }
        let mut bounds = Vec::new();
        for name in node
            .first(BoundFormals)
            .into_iter()
            .flat_map(|n| n.all(QName))
        {
            bounds.push(self.qualified_name(name).name);
        }
        Some(Prototype {
            type_formals,
            bounds,
            is_public: node.has(PublicKw),
            is_stateful: node.has(StatefulKw),
            result: self.child_type(node)?,
            name: self.name(node)?,
            params: self.formals(node, true),
        })
    }

    /// The parameters. Those of a prototype may lack names: theirs is empty.
    fn formals(&mut self, node: Node<'a>, may_lack_names: bool) -> Vec<FunctionParam> {
        let Some(list) = node.first(FormalList) else {
            return Vec::new();
        };
        let file = self.file;
        list.all(FunctionParam)
            .filter_map(|formal| {
                let nameless = || Ident {
                    text: Arc::from(""),
                    span: formal.span(file),
                };
                let name = self.name(formal);
                Some(FunctionParam {
                    is_mutable: formal.has(MutableKw),
                    ty: self.child_type(formal)?,
                    name: name.or_else(|| may_lack_names.then(nameless))?,
                })
            })
            .collect()
    }
}
