//! DynamicFilter: passes the tuples whose key is in a set; other streams add and remove keys.

use std::collections::HashSet;
use std::sync::Arc;

use eval::{Fault, StateMemory};
use graph::{
    AssignmentMode, Cardinality, InvocationError, InvocationPart, OperatorNode as Invocation,
    PortIndex, PunctuationOutputMode,
};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::abi::Projection;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::{TupleBuf, TupleRef};

use crate::key_evaluator::KeyEvaluator;
use crate::verify_params::{exprs, has_param, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "DynamicFilter",
    doc: "Passes the tuples of the first input port whose key is known. A tuple of the second port \
          makes a key known, one of the third makes it unknown. Tuples with an unknown key are \
          dropped, or sent to the second output port.",
    inputs: &[
        InPortModel::DEFAULT,
        InPortModel::DEFAULT,
        InPortModel {
            count: Cardinality::Optional,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[
        OutPortModel {
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            same_schema_as: Some(PortIndex(0)),
            ..OutPortModel::DEFAULT
        },
        OutPortModel {
            count: Cardinality::Optional,
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            assign: AssignmentMode::Expression,
            auto_assignment: true,
            complete_assignment: true,
            same_schema_as: None,
        },
    ],
    params: &[
        ParamModel {
            name: "key",
            mode: ParamMode::Expression,
            mandatory: true,
            is_list: true,
            port: Some(PortIndex(0)),
            doc: "The key of a tuple of the first input port.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "addKey",
            mode: ParamMode::Expression,
            mandatory: true,
            is_list: true,
            port: Some(PortIndex(1)),
            doc: "The key that a tuple of the second input port makes known.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "removeKey",
            mode: ParamMode::Expression,
            is_list: true,
            port: Some(PortIndex(2)),
            doc: "The key that a tuple of the third input port makes unknown.",
            ..ParamModel::DEFAULT
        },
    ],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Keys are of the same types, and there is a `removeKey` if and only if there is a port for it.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    match (has_param(operator, "removeKey"), operator.inputs.len() > 2) {
        (true, false) => {
            let message = "`removeKey` needs a third input port";
            return report_misuse(
                InvocationPart::Param("removeKey"),
                message,
                REMOVE_PORT_HELP,
            );
        }
        (false, true) => {
            let message = "the third input port needs the parameter `removeKey`";
            return report_misuse(
                InvocationPart::Input(PortIndex(2)),
                message,
                REMOVE_PORT_HELP,
            );
        }
        _ => {}
    }
    let keys = exprs(operator, "key");
    for name in ["addKey", "removeKey"] {
        let others = exprs(operator, name);
        if !has_param(operator, name) || keys.iter().map(|k| &k.ty).eq(others.iter().map(|k| &k.ty))
        {
            continue;
        }
        let list = |exprs: &[graph::Expr]| {
            let types: Vec<_> = exprs.iter().map(|expr| expr.ty.to_string()).collect();
            types.join(", ")
        };
        let (found, wanted) = (list(others), list(keys));
        let message = format!("`{name}` is of type {found}, and `key` of type {wanted}");
        let help = "each expression is compared with the one at its place in `key`";
        return report_misuse(InvocationPart::Param(name), message, help);
    }
    Ok(())
}

const REMOVE_PORT_HELP: &str = "the keys that tuples of the third input port give are removed";

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let mut keys = Vec::new();
    for name in ["key", "addKey", "removeKey"] {
        keys.extend(
            build
                .param_projection(name)?
                .map(|code| KeyEvaluator::new(Some(code))),
        );
    }
    let rejected = (build.outputs.len() > 1).then(|| build.output_projection(PortIndex(1)));
    Ok(Box::new(DynamicFilter {
        keys,
        keys_in_set: HashSet::new(),
        memory: build.state_memory(),
        rejected: rejected.transpose()?,
        buffer: TupleBuf::default(),
    }))
}

struct DynamicFilter {
    /// Key evaluators of both input ports.
    keys: Vec<KeyEvaluator>,
    /// Canonical bytes of the keys that tuples may have.
    keys_in_set: HashSet<Box<[u8]>>,
    /// Counts of these keys.
    memory: Arc<StateMemory>,
    /// Output of port 1 for a tuple with an unknown key.
    rejected: Option<Projection>,
    buffer: TupleBuf,
}

impl Operator for DynamicFilter {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let mut tuples = [None; 3];
        tuples[port.index()] = Some(tuple);
        let inputs = EvaluationInputs::new(&tuples);
        let key = &mut self.keys[port.index()];
        key.evaluate(&inputs, out)?;
        match port {
            PortIndex(0) if key.equals_itself() && self.keys_in_set.contains(key.bytes()) => {
                out.submit(PortIndex(0), tuple)?;
            }
            PortIndex(0) => {
                if let Some(rejected) = &mut self.rejected {
                    rejected.write(&inputs, out, &mut self.buffer)?;
                    out.submit(PortIndex(1), self.buffer.as_ref())?;
                }
            }
            PortIndex(1) => {
                if !self.keys_in_set.contains(key.bytes()) {
                    self.memory.add(state_bytes(key.bytes()))?;
                    self.keys_in_set.insert(key.bytes().into());
                }
            }
            _ => {
                if self.keys_in_set.remove(key.bytes()) {
                    self.memory.remove(state_bytes(key.bytes()));
                }
            }
        }
        Ok(())
    }
}

/// Bytes of a key that are counted as state.
fn state_bytes(key: &[u8]) -> usize {
    size_of::<Box<[u8]>>() + key.len()
}
