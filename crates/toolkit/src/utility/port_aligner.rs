//! Alignment of input ports, for Barrier and Pair: the n-th tuples of all ports are matched,
//! partition by partition.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use eval::{Fault, StateMemory};
use graph::{
    Expr, InvocationError, InvocationPart, OperatorNode, ParamMode, ParamModel, ParamValue,
    PortIndex,
};
use runtime::abi::Projection;
use runtime::window::encode_key;
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{TupleBuf, TupleRef};

use crate::verify_params::report_misuse;

/// Listed parameters of Barrier and Pair; `partitionBy<n>` is accepted too.
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
        is_list: true,
        port: Some(PortIndex(0)),
        doc: "Partition key of the first input port.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "partitionByRHS",
        mode: ParamMode::Expression,
        is_list: true,
        doc: "Partition key of the last input port.",
        ..ParamModel::DEFAULT
    },
];

/// The partition parameter of each input port, by its number or its side.
pub fn keys(operator: &OperatorNode) -> Vec<Option<&[Expr]>> {
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
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    let ports = operator.inputs.len();
    // Index of the parameter that partitions each port.
    let mut by_port: Vec<Option<u32>> = vec![None; ports];
    for (at, param) in (0..).zip(&operator.params) {
        if &*param.name == "bufferSize" {
            continue;
        }
        let name = &param.name;
        let Some(port) = port_of(name, ports) else {
            return misuse(InvocationPart::ParamIndex(at), unknown_param(name, ports));
        };
        if by_port[port].replace(at).is_some() {
            let message = format!("`{name}` partitions input port {port} a second time");
            return misuse(InvocationPart::ParamIndex(at), message);
        }
    }
    if by_port.iter().all(Option::is_none) {
        return Ok(());
    }
    if let Some(missing) = by_port.iter().position(Option::is_none) {
        let message = format!("input port {missing} is not partitioned, and others are");
        return misuse(InvocationPart::Input(PortIndex(missing as u32)), message);
    }
    verify_own_tuples(operator, &by_port)?;
    verify_same_types(&keys(operator), &by_port)
}

/// Verifies that keys use tuples of their own port: no other port's tuple is present when they are
/// evaluated.
fn verify_own_tuples(
    operator: &OperatorNode,
    by_port: &[Option<u32>],
) -> Result<(), InvocationError> {
    for (own, key) in (0..).map(PortIndex).zip(keys(operator)) {
        let mut exprs = key.unwrap_or_default().iter();
        if exprs.any(|expr| expr.reads_port(|port| port != own)) {
            let name = &operator.inputs[own.index()].name;
            let message =
                format!("the key of input port {own} can only be made of tuples of `{name}`");
            let part =
                by_port[own.index()].map_or(InvocationPart::Head, InvocationPart::ParamIndex);
            return misuse(part, message);
        }
    }
    Ok(())
}

fn unknown_param(name: &str, ports: usize) -> String {
    match name.strip_prefix("partitionBy").map(str::parse::<u64>) {
        Some(Ok(port)) => format!("there is no input port {port}; there are {ports}, from 0"),
        _ => format!("there is no parameter `{name}`, only bufferSize and those that partition"),
    }
}

fn verify_same_types(
    keys: &[Option<&[Expr]>],
    by_port: &[Option<u32>],
) -> Result<(), InvocationError> {
    let types = |key: &Option<&[Expr]>| -> Vec<_> {
        let exprs = key.unwrap_or_default();
        exprs.iter().map(|e| e.ty.clone()).collect()
    };
    let first = types(&keys[0]);
    match keys.iter().position(|key| types(key) != first) {
        Some(port) => {
            let part = by_port[port].map_or(InvocationPart::Head, InvocationPart::ParamIndex);
            misuse(
                part,
                format!("the partition keys of input ports 0 and {port} have different types"),
            )
        }
        None => Ok(()),
    }
}

fn misuse(part: InvocationPart, message: String) -> Result<(), InvocationError> {
    let help = "partition every input port by as many expressions of the same types: \
                partitionBy0, partitionBy1, ... (also partitionByLHS and partitionByRHS)";
    report_misuse(part, message, help)
}

/// Tuples of all ports that wait for each other.
pub struct PortAligner {
    /// Partition keys by input port; empty without partitions.
    keys: Vec<Projection>,
    /// Waiting tuples by the canonical bytes of their key.
    partitions: HashMap<Box<[u8]>, AlignedPartition>,
    ports: usize,
    /// Greatest number of waiting tuples of a port in a partition.
    limit: usize,
    /// Buffers to be used again.
    spare: Vec<TupleBuf>,
    /// Counts of the waiting tuples.
    memory: Arc<StateMemory>,
    key: TupleBuf,
    bytes: Vec<u8>,
}

/// Waiting tuples of one partition, by input port.
type AlignedPartition = Vec<VecDeque<TupleBuf>>;

impl PortAligner {
    /// An aligner for an operator with the parameters of this module.
    pub fn new(build: &mut BuildContext<'_>) -> Result<PortAligner, Fault> {
        let ports = build.operator.inputs.len();
        let operator = build.operator;
        let keys = keys(operator).into_iter().flatten();
        let keys = keys.map(|exprs| build.projection(exprs));
        let keys = keys.collect::<Result<_, _>>()?;
        let limit = build.integer("bufferSize")?.filter(|&limit| limit > 0);
        if limit.is_some() {
            build.set_bounded();
        }
        Ok(PortAligner {
            keys,
            partitions: HashMap::new(),
            ports,
            limit: limit.map_or(usize::MAX, |limit| {
                usize::try_from(limit).unwrap_or(usize::MAX)
            }),
            spare: Vec::new(),
            memory: build.state_memory(),
            key: TupleBuf::default(),
            bytes: Vec::new(),
        })
    }

    /// Whether a tuple of a port would find room in its partition.
    pub fn has_room(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        self.find_key(port, tuple, out)?;
        let waiting = self.partitions.get(&*self.bytes);
        Ok(waiting.is_none_or(|ports| ports[port.index()].len() < self.limit))
    }

    /// A tuple arrives. If it was the last that was missing, one of each port is in `met`.
    ///
    /// # Errors
    /// The fault of the partition key, or of a tuple that waits and is beyond the bound of state.
    pub fn add(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
        met: &mut Vec<TupleBuf>,
    ) -> Result<bool, Fault> {
        self.find_key(port, tuple, out)?;
        let is_new = !self.partitions.contains_key(&*self.bytes);
        if is_new {
            let empty = vec![VecDeque::new(); self.ports];
            self.partitions.insert(self.bytes.as_slice().into(), empty);
        }
        let Some(waiting) = self.partitions.get_mut(&*self.bytes) else {
            return Ok(false);
        };
        let mut others = waiting.iter().enumerate();
        let is_last = others.all(|(at, tuples)| at == port.index() || !tuples.is_empty());
        if !is_last && let Err(beyond) = self.memory.add(state_bytes(tuple.bytes())) {
            if is_new {
                self.partitions.remove(&*self.bytes);
            }
            return Err(beyond.into());
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.copy_from(tuple);
        waiting[port.index()].push_back(copy);
        if !is_last {
            return Ok(false);
        }
        met.extend(waiting.iter_mut().filter_map(VecDeque::pop_front));
        for (at, tuple) in met.iter().enumerate() {
            // The last one has not waited.
            if at != port.index() {
                self.memory.remove(state_bytes(tuple.as_ref().bytes()));
            }
        }
        // The key may never come again, so its partition is removed; a single one stays.
        if !self.keys.is_empty() && waiting.iter().all(VecDeque::is_empty) {
            self.partitions.remove(&*self.bytes);
        }
        Ok(true)
    }

    /// Takes back the memory of tuples that have met.
    pub fn release(&mut self, met: &mut Vec<TupleBuf>) {
        self.spare.append(met);
    }

    fn find_key(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.bytes.clear();
        if let Some(key) = self.keys.get_mut(port.index()) {
            let mut inputs = vec![None; port.index() + 1];
            inputs[port.index()] = Some(tuple);
            key.write(&EvaluationInputs::new(&inputs), out, &mut self.key)?;
            encode_key(self.key.as_ref(), &key.layout, &mut self.bytes);
        }
        Ok(())
    }
}

/// Bytes of a waiting tuple that are counted as state.
fn state_bytes(tuple: &[u8]) -> usize {
    size_of::<TupleBuf>() + tuple.len()
}
