//! Hands every body of a program to the backend: built operators' logic clauses one by one, lowered
//! operators together with the others of their thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use eval::Fault;
use graph::{Body, CaughtFaults, InPort, PeThreadId, PortIndex};
use sampling::CpuSamples;

use crate::abi::{Backend, CodeScope, FrameEdge, OperatorCode};
use crate::assembly::batch_forwarder::{BatchForwarder, batch_forwarders};
use crate::assembly::chains::{self, ChainCandidate};
use crate::assembly::operator_factory::ConstructedOperator;
use crate::assembly::pe_topology::PeTopology;
use crate::contract::build_context;
use crate::execution::port_state::{ConsumerPort, OutputPortState};
use crate::services::operator_services::OperatorServices;
use crate::services::pe_context::PeContext;
use crate::services::report::Failure;

/// The code of each operator, by operator. The backend is finished afterwards.
pub(crate) fn compile_all(
    backend: &mut dyn Backend,
    constructed: &[ConstructedOperator<'_>],
    (topology, services): (&PeTopology, &[OperatorServices]),
    (context, samples): (&PeContext, &[Arc<CpuSamples>]),
) -> Result<Vec<OperatorCode>, Failure> {
    let mut codes: Vec<OperatorCode> = constructed
        .iter()
        .map(|_| OperatorCode::default())
        .collect();
    for one in constructed.iter().filter(|one| one.built.is_some()) {
        let code = compile_logic_clauses(backend, one)
            .map_err(|fault| Failure::for_operator(one.operator, fault))?;
        codes[one.index as usize] = code;
    }
    let forwarders = batch_forwarders(constructed, topology);
    for (thread, group) in groups_by_thread(constructed, topology) {
        let is_thread =
            |one: &&BatchForwarder| Some(one.thread) == thread && topology.is_alone(group[0]);
        let forwarders: Vec<_> = forwarders.iter().filter(is_thread).collect();
        // Receivers come before the operators that they feed.
        let heads = forwarders.iter().map(|&forwarder| {
            let services = &services[forwarder.operator];
            forwarder_candidate(forwarder, constructed, (topology, services))
        });
        let operators = group
            .iter()
            .map(|&at| chain_candidate(&constructed[at], constructed, (topology, &services[at])));
        let candidates: Vec<_> = heads.chain(operators).collect();
        let running = thread.map(|thread| samples[thread.index()].running.address());
        let compiled = chains::compile(backend, &candidates, context, running);
        let first = constructed[group[0]].operator;
        let compiled = compiled.map_err(|fault| Failure::for_operator(first, fault))?;
        let mut compiled = compiled.into_iter();
        for (forwarder, code) in forwarders.iter().zip(compiled.by_ref()) {
            let received = &mut codes[forwarder.operator].on_received;
            received.resize_with(topology.outs[forwarder.operator].len(), || None);
            received[forwarder.port.index()] = code.on_batch.into_iter().flatten().next();
        }
        for (&at, code) in group.iter().zip(compiled) {
            codes[at] = code;
        }
    }
    let finished = backend.finish();
    finished.map_err(|fault| Failure::for_program("code", fault, true))?;
    Ok(codes)
}

/// Lowered operators, thread by thread, upstream first, with the only thread that enters them. A
/// shared operator and one in a loop is a group by itself.
fn groups_by_thread(
    constructed: &[ConstructedOperator<'_>],
    topology: &PeTopology,
) -> Vec<(Option<PeThreadId>, Vec<usize>)> {
    let mut by_thread: BTreeMap<PeThreadId, Vec<usize>> = BTreeMap::new();
    let mut groups = Vec::new();
    let operators = topology.topological_order.iter().map(|&at| at as usize);
    for at in operators.filter(|&at| constructed[at].built.is_none()) {
        match topology.only_thread(at) {
            Some(thread) if topology.is_alone(at) => by_thread.entry(thread).or_default().push(at),
            only => groups.push((only, vec![at])),
        }
    }
    let by_thread = by_thread.into_iter();
    groups.extend(by_thread.map(|(thread, group)| (Some(thread), group)));
    groups
}

fn chain_candidate<'a>(
    constructed: &'a ConstructedOperator<'_>,
    all: &[ConstructedOperator<'_>],
    (topology, services): (&'a PeTopology, &'a OperatorServices),
) -> ChainCandidate<'a> {
    let at = constructed.index as usize;
    let catches_faults = constructed.operator.caught_faults() != CaughtFaults::None;
    let is_directly_callable =
        topology.is_alone(at) && !constructed.operator.keeps_history() && !catches_faults;
    let ports = constructed.operator.inputs.iter();
    // Streams of several forms that meet at a port are read in that of the first one.
    let batch_form = |port: &InPort| {
        let sources = port.sources.iter().filter(|_| is_directly_callable);
        let mut forms = sources.filter_map(|edge| {
            let forms = &all[edge.operator.0 as usize].batch_forms;
            forms.get(edge.port.index()).copied().flatten()
        });
        forms.next()
    };
    ChainCandidate {
        scope: scope(constructed),
        logic: &constructed.logic,
        state: constructed.state.address(),
        event_time: &services.events,
        outs: &topology.outs[at],
        processed: &topology.processed[at],
        punctuation: &topology.punctuation[at],
        forwarded_to: (0..constructed.operator.inputs.len() as u32)
            .map(|port| constructed.markers_forwarded_to(PortIndex(port)))
            .collect(),
        frame_edges: frame_edges_by_port(at, all, topology),
        batch_forms: ports.map(batch_form).collect(),
        is_directly_callable,
        chain: topology.chains[at],
        is_receiver: false,
    }
}

fn forwarder_candidate<'a>(
    forwarder: &'a BatchForwarder,
    all: &'a [ConstructedOperator<'_>],
    (topology, services): (&'a PeTopology, &'a OperatorServices),
) -> ChainCandidate<'a> {
    let at = forwarder.operator;
    let scope = CodeScope {
        operator: &forwarder.node,
        inputs: vec![Arc::clone(&forwarder.layout)],
        state: &[],
        tables: &[],
        ..scope(&all[at])
    };
    ChainCandidate {
        scope,
        logic: &forwarder.logic,
        state: all[at].state.address(),
        event_time: &services.events,
        outs: &topology.outs[at],
        processed: &[],
        punctuation: &[],
        forwarded_to: vec![Vec::new()],
        frame_edges: frame_edges_by_port(at, all, topology),
        batch_forms: vec![Some(forwarder.form)],
        is_directly_callable: false,
        chain: None,
        is_receiver: true,
    }
}

fn frame_edges_by_port<'a>(
    at: usize,
    all: &[ConstructedOperator<'_>],
    topology: &'a PeTopology,
) -> Vec<Vec<Option<FrameEdge<'a>>>> {
    let outs = topology.outs[at].iter();
    outs.map(|out| frame_edges(out, all, topology)).collect()
}

/// The rings into which compiled code may write frames for an output port: by consumer, if that
/// offers a grant and no other thread enters it.
fn frame_edges<'a>(
    out: &OutputPortState,
    all: &[ConstructedOperator<'_>],
    topology: &'a PeTopology,
) -> Vec<Option<FrameEdge<'a>>> {
    let edge = |consumer: &ConsumerPort| {
        let at = consumer.operator as usize;
        Some(FrameEdge {
            grant: all[at].frame_grant.filter(|_| topology.is_alone(at))?,
            processed: &topology.processed[at][consumer.port.index()],
            sender: consumer.operator,
        })
    };
    out.consumers.iter().map(edge).collect()
}

fn scope<'a>(constructed: &'a ConstructedOperator<'_>) -> CodeScope<'a> {
    CodeScope {
        operator: constructed.operator,
        index: constructed.index,
        inputs: build_context::slot_layouts(constructed.operator, &constructed.inputs, None),
        outputs: constructed.outputs.clone(),
        state: &constructed.logic.state,
        tables: &constructed.logic.tables,
    }
}

fn compile_logic_clauses(
    backend: &mut dyn Backend,
    constructed: &ConstructedOperator<'_>,
) -> Result<OperatorCode, Fault> {
    let scope = scope(constructed);
    let mut compile = |body: Option<&Body>| {
        let body = body.filter(|body| !body.stmts.is_empty());
        body.map(|body| backend.body(&scope, body)).transpose()
    };
    let on_tuple = constructed.logic.on_tuple.iter();
    let on_tuple = on_tuple
        .map(|body| compile(Some(body)))
        .collect::<Result<_, _>>()?;
    let on_punct = constructed.logic.on_punct.iter();
    let on_punct = on_punct
        .map(|body| compile(body.as_ref()))
        .collect::<Result<_, _>>()?;
    Ok(OperatorCode {
        on_tuple,
        on_batch: Vec::new(),
        on_punct,
        ..OperatorCode::default()
    })
}
