//! What Barrier and Pair have in common: tuples of all ports meet, partition by partition.

use graph::{Expr, Misuse, Operator, ParamMode, ParamModel, ParamValue, Part};

/// Their listed parameters; `partitionBy<n>` is accepted besides.
pub const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "bufferSize",
        ty: "uint32",
        doc: "How many tuples of a port may wait in each partition; when full, the sender waits. \
              Default: without limit.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "partitionByLHS",
        mode: ParamMode::Expression,
        list: true,
        port: Some(0),
        doc: "Partition key of the first input port.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "partitionByRHS",
        mode: ParamMode::Expression,
        list: true,
        doc: "Partition key of the last input port.",
        ..ParamModel::DEFAULT
    },
];

/// The partition parameter of each input port, by its number or its side.
pub fn keys(operator: &Operator) -> Vec<Option<&[Expr]>> {
    let ports = operator.inputs.len();
    let mut keys = vec![None; ports];
    for param in &operator.params {
        if let (Some(port), ParamValue::Exprs(exprs)) = (port_of(&param.name, ports), &param.value)
        {
            keys[port] = Some(exprs.as_slice());
        }
    }
    keys
}

/// `partitionBy3`: 3; LHS is the first port and RHS the last.
fn port_of(param: &str, ports: usize) -> Option<usize> {
    let port = match param.strip_prefix("partitionBy")? {
        "LHS" => 0,
        "RHS" => ports - 1,
        digits => digits.parse().ok()?,
    };
    (port < ports).then_some(port)
}

/// Either no port is partitioned or all are, by as many expressions of the same types.
pub fn verify(operator: &Operator) -> Result<(), Misuse> {
    let ports = operator.inputs.len();
    let mut by_port: Vec<Option<&graph::Param>> = vec![None; ports];
    for param in operator.params.iter().filter(|p| &*p.name != "bufferSize") {
        let Some(port) = port_of(&param.name, ports) else {
            return Err(misuse(format!("there is no parameter `{}`", param.name)));
        };
        if by_port[port].replace(param).is_some() {
            return Err(misuse(format!("input port {port} is partitioned twice")));
        }
    }
    if let Some(missing) = by_port.iter().position(Option::is_none)
        && by_port.iter().any(Option::is_some)
    {
        return Err(misuse(format!("input port {missing} is not partitioned")));
    }
    same_types(&keys(operator))
}

fn same_types(keys: &[Option<&[Expr]>]) -> Result<(), Misuse> {
    let types = |key: &Option<&[Expr]>| -> Vec<_> {
        let exprs = key.unwrap_or_default();
        exprs.iter().map(|e| e.ty.clone()).collect()
    };
    let first = types(&keys[0]);
    match keys.iter().position(|key| types(key) != first) {
        Some(port) => Err(misuse(format!(
            "the partition keys of input ports 0 and {port} have different types"
        ))),
        None => Ok(()),
    }
}

fn misuse(message: String) -> Misuse {
    Misuse {
        part: Part::Head,
        message,
        help: "partition every input port by as many expressions of the same types: \
               partitionBy0, partitionBy1, ... (also partitionByLHS and partitionByRHS)"
            .to_owned(),
    }
}
