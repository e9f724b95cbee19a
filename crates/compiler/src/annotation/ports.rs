//! The ports of an annotated invocation by the names that keys may use.

use std::sync::Arc;

use syntax::ast::Invocation;
use tuple::TupleType;

use crate::instance::{InputFeed, OutputStream, input_names};
use crate::names::OperatorScope;

/// Ports by their names.
#[derive(Debug, Default)]
pub(crate) struct AnnotatedPorts {
    pub inputs: Vec<AnnotatedPort>,
    pub outputs: Vec<AnnotatedPort>,
}

/// Port of an annotated invocation, as keys may name it.
#[derive(Debug)]
pub(crate) struct AnnotatedPort {
    /// Every name that means it.
    pub names: Vec<Arc<str>>,
    /// Tuple type of the port; `None` if it is broken.
    pub schema: Option<Arc<TupleType>>,
}

impl AnnotatedPorts {
    /// The ports of a primitive operator.
    pub fn of_operator(operator_scope: &OperatorScope) -> AnnotatedPorts {
        let inputs = operator_scope
            .inputs
            .iter()
            .map(|p| AnnotatedPort::new(p.names.clone(), &p.schema));
        let outputs = operator_scope
            .outputs
            .iter()
            .map(|p| AnnotatedPort::new(p.names.clone(), &p.schema));
        AnnotatedPorts {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
        }
    }

    /// The ports of the invocation of a composite.
    pub fn from_invocation(
        ast: &Invocation,
        inputs: &[InputFeed],
        outputs: &[OutputStream],
    ) -> AnnotatedPorts {
        let names = input_names(ast);
        let inputs = names.into_iter().zip(inputs);
        let inputs = inputs.map(|(names, feed)| AnnotatedPort::new(names, &feed.schema));
        let outputs = ast.outputs.iter().zip(outputs).map(|(port, output)| {
            let names = std::iter::once(&port.name)
                .chain(&port.alias)
                .map(|n| n.text.clone());
            AnnotatedPort::new(names.collect(), &output.schema)
        });
        AnnotatedPorts {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
        }
    }
}

impl AnnotatedPort {
    /// Whether a key means this port by a name.
    pub fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|n| **n == *name)
    }

    fn new(names: Vec<Arc<str>>, schema: &Option<Arc<TupleType>>) -> AnnotatedPort {
        AnnotatedPort {
            names,
            schema: schema.clone(),
        }
    }
}

/// The ports of a name.
pub(super) fn find<'p>(
    ports: &'p [AnnotatedPort],
    name: &str,
) -> impl Iterator<Item = &'p AnnotatedPort> {
    ports.iter().filter(move |port| port.is_called(name))
}
