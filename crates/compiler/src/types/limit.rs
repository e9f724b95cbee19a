//! Limits of types: how far definitions refer to definitions, and how large a type may grow.
//!
//! A type is a tree, and a few lines that each name the one before twice make one that no memory
//! holds. So every definition is measured once, when it is resolved, out of a budget.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::{Span, ast::Ident};
use tuple::layout::FIXED_BYTES_MAX;
use tuple::{Layout, TupleType, Type};

use crate::Session;
use crate::names::{CircularDefinition, LazyResult};

/// Number of type definitions that may be resolved one within the other. Each takes stack.
const NESTING_MAX: u32 = 200;
/// Depth to which types may nest. Values are read and written by recursion.
const DEPTH_MAX: u32 = 256;
/// Number of types that one type may consist of, itself included. A few definitions that each name
/// the one before twice would fill the memory.
const TYPE_PARTS_MAX: usize = 1 << 16;

impl<'w> Session<'w> {
    /// Whether tuples of a stream fit their layout: bounded strings and collections are stored at
    /// full length. Reports a stream whose tuples do not.
    pub(super) fn has_layout(&self, schema: &Arc<TupleType>, stream: Span) -> bool {
        let layout = Layout::try_new(schema);
        if layout.is_err() {
            let message = "the tuples of this stream are too large";
            let finding = Diagnostic::error("type-too-large", stream, message);
            let help = format!(
                "bounded strings and collections take the room of their bound in every tuple, and \
                 a tuple has room for {FIXED_BYTES_MAX} bytes; leave the bound away"
            );
            self.report(finding.help(help));
        }
        layout.is_ok()
    }

    /// The type that a definition stands for, computed when first asked for.
    pub(super) fn resolve_definition(
        &self,
        slot: &LazyResult<Type>,
        asked: &Ident,
        resolve: impl FnOnce() -> Option<Type>,
    ) -> Result<Option<Type>, CircularDefinition> {
        slot.get(|| {
            let ty = self.with_depth(asked.span, resolve)?;
            let is_small = fits(&ty, 0, &mut { TYPE_PARTS_MAX });
            is_small.then_some(ty).or_else(|| {
                let message = format!("type `{}` is too large", asked.text);
                let finding = Diagnostic::error("type-too-large", asked.span, message);
                let help = format!("a type has at most {TYPE_PARTS_MAX} parts, {DEPTH_MAX} deep");
                self.report(finding.help(help));
                None
            })
        })
    }

    /// Resolves a definition or a stream's type that another one led to.
    pub(super) fn with_depth<T>(
        &self,
        asked: Span,
        resolve: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let depth = self.definition_depth.get();
        if depth >= NESTING_MAX {
            let message = format!("more than {NESTING_MAX} types are defined one by the other");
            return self.fail("type-too-deep", asked, message);
        }
        self.definition_depth.set(depth + 1);
        let result = resolve();
        self.definition_depth.set(depth);
        result
    }
}

/// Whether a type is not too deep, and within the budget, which is what is left afterwards.
fn fits(ty: &Type, depth: u32, budget: &mut usize) -> bool {
    if *budget == 0 || depth > DEPTH_MAX {
        return false;
    }
    *budget -= 1;
    let mut inside = |ty: &Type| fits(ty, depth + 1, budget);
    match ty {
        Type::List(element, _) | Type::Set(element, _) | Type::Optional(element) => inside(element),
        Type::Map(both, _) => inside(&both.0) && inside(&both.1),
        Type::Tuple(body) => attributes(body).all(inside),
        _ => true,
    }
}

fn attributes(body: &TupleType) -> impl Iterator<Item = &Type> {
    body.attributes.iter().map(|attribute| &attribute.ty)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn pair(ty: Type) -> Type {
        let attributes = [("a", ty.clone()), ("b", ty)];
        Type::Tuple(Arc::new(TupleType::new(attributes)))
    }

    #[test]
    fn a_type_that_doubles_is_measured_within_the_budget() {
        let small = (0..10).fold(Type::Int32, |ty, _| pair(ty));
        assert!(fits(&small, 0, &mut { TYPE_PARTS_MAX }));
        let large = (0..60).fold(Type::Int32, |ty, _| pair(ty));
        assert!(!fits(&large, 0, &mut { TYPE_PARTS_MAX }));
    }

    #[test]
    fn a_type_may_be_so_deep_and_no_deeper() {
        let list = |ty: Type, _| Type::List(Arc::new(ty), None);
        let deep = (0..DEPTH_MAX).fold(Type::Int32, list);
        assert!(fits(&deep, 0, &mut { TYPE_PARTS_MAX }));
        assert!(!fits(&list(deep, 0), 0, &mut { TYPE_PARTS_MAX }));
    }
}
