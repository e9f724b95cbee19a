//! What operators inherit from the composites around them: config and some annotations.

use std::rc::Rc;

use syntax::ast::{Composite, Invocation};

use crate::Session;
use crate::annotation::{self, Checked, Ports};
use crate::config::{self, Entry};
use crate::names::Scope;

/// Config and annotations from outside; inner ones come over outer ones.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    /// Config entries.
    pub config: Vec<Entry>,
    /// Annotations.
    pub annotations: Vec<Checked>,
}

/// Adds what a composite's definition says.
pub(super) fn of_composite<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    composite: &'w Composite,
    outer: &Rc<Inherited>,
    is_main: bool,
) -> Rc<Inherited> {
    let own = config::of_composite(session, scope, &composite.config, is_main);
    let annotations = annotation::of_definition(session, scope, composite);
    join(outer, own, annotations)
}

/// Adds what the invocation of a composite says.
pub(super) fn of_invocation<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    ast: &'w Invocation,
    ports: &Ports,
    outer: &Rc<Inherited>,
) -> Rc<Inherited> {
    let own = config::of_invocation(session, scope, &ast.config);
    let annotations = annotation::of_composite(session, scope, &ast.annotations, ports);
    join(outer, own, annotations)
}

fn join(outer: &Rc<Inherited>, own: Vec<Entry>, annotations: Vec<Checked>) -> Rc<Inherited> {
    if own.is_empty() && annotations.is_empty() {
        return outer.clone();
    }
    let mut joined = Inherited {
        config: outer.config.clone(),
        annotations: outer.annotations.clone(),
    };
    config::override_with(&mut joined.config, own);
    annotation::override_with(&mut joined.annotations, annotations);
    Rc::new(joined)
}
