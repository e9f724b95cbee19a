//! The ports of an annotated invocation, as its annotations name them.

use std::sync::Arc;

use syntax::ast::Invocation;
use tuple::TupleType;

use crate::expand::{Fed, Given};
use crate::names::OperatorFrame;

/// Ports by their names.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

/// A port.
#[derive(Debug)]
pub(crate) struct Port {
    /// Every name that means it.
    pub names: Vec<Arc<str>>,
    /// Its type; `None` if it is broken.
    pub schema: Option<Arc<TupleType>>,
}

impl Ports {
    /// The ports of a primitive operator.
    pub fn of_frame(frame: &OperatorFrame) -> Ports {
        let inputs = frame
            .inputs
            .iter()
            .map(|p| Port::new(p.names.clone(), &p.schema));
        let outputs = frame
            .outputs
            .iter()
            .map(|p| Port::new(p.names.clone(), &p.schema));
        Ports {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
        }
    }

    /// The ports of the invocation of a composite.
    pub fn of_invocation(ast: &Invocation, inputs: &[Fed], outputs: &[Given]) -> Ports {
        let names = crate::invoke::input_names(ast);
        let inputs = names.into_iter().zip(inputs);
        let inputs = inputs.map(|(names, fed)| Port::new(names, &fed.schema));
        let outputs = ast.outputs.iter().zip(outputs).map(|(port, given)| {
            let names = std::iter::once(&port.name)
                .chain(&port.alias)
                .map(|n| n.text.clone());
            Port::new(names.collect(), &given.schema)
        });
        Ports {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
        }
    }
}

impl Port {
    fn new(names: Vec<Arc<str>>, schema: &Option<Arc<TupleType>>) -> Port {
        Port {
            names,
            schema: schema.clone(),
        }
    }
}

/// The ports of a name.
pub(super) fn find<'p>(ports: &'p [Port], name: &str) -> impl Iterator<Item = &'p Port> {
    let has_name = move |port: &&Port| port.names.iter().any(|n| &**n == name);
    ports.iter().filter(has_name)
}
