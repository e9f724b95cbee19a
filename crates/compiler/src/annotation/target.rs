//! The definition or invocation that annotations stand before, with its scope and ports.

use super::ports::AnnotatedPorts;
use crate::Session;
use crate::names::Scope;

/// Definition or invocation that an annotation stands before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnnotationTarget<'a> {
    /// The definition of a composite.
    Definition,
    /// The invocation of a composite.
    Composite,
    /// The invocation of a primitive operator.
    Primitive(&'a graph::OperatorModel),
}

/// Place of the annotations that are being checked: scope, target and ports.
pub(super) struct AnnotationCheck<'a, 'w> {
    pub session: &'a Session<'w>,
    pub scope: &'a Scope<'w>,
    pub target: AnnotationTarget<'a>,
    pub ports: &'a AnnotatedPorts,
}
