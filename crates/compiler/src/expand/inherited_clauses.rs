//! Joins the config and annotations of enclosing composites with those of a composite's definition
//! or invocation.

use std::rc::Rc;

use syntax::ast::{Composite, Invocation};

use crate::Session;
use crate::annotation::{self, AnnotatedPorts};
use crate::config;
use crate::instance::{CheckedAnnotation, InheritedClauses, LocatedConfigEntry};
use crate::names::Scope;

/// Adds the config and annotations of a composite's definition.
pub(super) fn with_composite<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    composite: &'w Composite,
    outer: &Rc<InheritedClauses>,
    is_main: bool,
) -> Rc<InheritedClauses> {
    let own = config::composite_config(session, scope, &composite.config, is_main);
    let annotations = annotation::of_definition(session, scope, composite);
    join(outer, own, annotations)
}

/// Adds the config and annotations of a composite's invocation.
pub(super) fn with_invocation<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    ast: &'w Invocation,
    ports: &AnnotatedPorts,
    outer: &Rc<InheritedClauses>,
) -> Rc<InheritedClauses> {
    let own = config::invocation_config(session, scope, &ast.config);
    let annotations = annotation::of_composite(session, scope, &ast.annotations, ports);
    join(outer, own, annotations)
}

fn join(
    outer: &Rc<InheritedClauses>,
    own: Vec<LocatedConfigEntry>,
    annotations: Vec<CheckedAnnotation>,
) -> Rc<InheritedClauses> {
    if own.is_empty() && annotations.is_empty() {
        return outer.clone();
    }
    let mut joined = InheritedClauses {
        config: outer.config.clone(),
        annotations: outer.annotations.clone(),
    };
    config::override_with(&mut joined.config, own);
    annotation::override_with(&mut joined.annotations, annotations);
    Rc::new(joined)
}
