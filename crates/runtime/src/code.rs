//! Hands every body of a program to the backend: built operators' logic clauses one by one, lowered
//! operators together with the others of their thread.

use std::collections::BTreeMap;

use graph::{Body, Fault, InPort, inserted};

use crate::abi::{Backend, Code, FrameLink, Scope};
use crate::build;
use crate::catch::Catch;
use crate::fuse::{self, Candidate};
use crate::make::Made;
use crate::net::Net;
use crate::report::Failure;
use crate::stop::Stop;
use crate::wiring::OutPort;

/// The code of each operator. The backend is finished afterwards.
pub(crate) fn compile(
    backend: &mut dyn Backend,
    made: &[Made<'_>],
    net: &Net,
    stop: &Stop,
) -> Result<Vec<Code>, Failure> {
    let mut codes: Vec<Code> = made.iter().map(|_| Code::default()).collect();
    for one in made.iter().filter(|one| one.built.is_some()) {
        let code = clauses(backend, one).map_err(|fault| Failure::of(one.operator, fault))?;
        codes[one.index as usize] = code;
    }
    for group in groups(made, net) {
        let candidates: Vec<_> = group
            .iter()
            .map(|&at| candidate(&made[at], made, net))
            .collect();
        let compiled = fuse::compile(backend, &candidates, stop.address());
        let first = made[group[0]].operator;
        let compiled = compiled.map_err(|fault| Failure::of(first, fault))?;
        for (&at, code) in group.iter().zip(compiled) {
            codes[at] = code;
        }
    }
    let finished = backend.finish();
    finished.map_err(|fault| Failure::of_program("code", fault, true))?;
    Ok(codes)
}

/// Lowered operators, thread by thread, upstream first; shared ones and those in loops alone.
fn groups(made: &[Made<'_>], net: &Net) -> Vec<Vec<usize>> {
    let mut by_thread: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut groups = Vec::new();
    let lowered = net.order.iter().map(|&at| at as usize);
    for at in lowered.filter(|&at| made[at].built.is_none()) {
        match (&net.entered[at][..], net.loops[at]) {
            ([thread], None) => by_thread.entry(*thread).or_default().push(at),
            _ => groups.push(vec![at]),
        }
    }
    groups.extend(by_thread.into_values());
    groups
}

fn candidate<'a>(made: &'a Made<'_>, all: &[Made<'_>], net: &'a Net) -> Candidate<'a> {
    let at = made.index as usize;
    let is_alone = net.entered[at].len() == 1 && net.loops[at].is_none();
    let has_history = made.operator.inputs.iter().any(|port| port.history > 0);
    let is_linkable = is_alone && !has_history && !Catch::of(made.operator).is_on();
    let ports = made.operator.inputs.iter();
    let is_batched = |port: &InPort| {
        let mut sources = port.sources.iter();
        is_linkable && sources.any(|edge| is_crossing(&all[edge.operator.0 as usize]))
    };
    Candidate {
        scope: scope(made),
        logic: &made.logic,
        state: made.state.address(),
        outs: &net.outs[at],
        processed: &net.processed[at],
        frames: net.outs[at]
            .iter()
            .map(|out| frames(out, all, net))
            .collect(),
        batched: ports.map(is_batched).collect(),
        is_linkable,
    }
}

/// What compiled code may write itself for an output port: its one consumer offers a grant, and no
/// other thread enters that.
fn frames<'a>(out: &'a OutPort, all: &[Made<'_>], net: &'a Net) -> Option<FrameLink<'a>> {
    let [target] = out.targets[..] else {
        return None;
    };
    let at = target.node as usize;
    let is_alone = net.entered[at].len() == 1 && net.loops[at].is_none();
    Some(FrameLink {
        room: all[at].room.filter(|_| is_alone)?,
        submitted: &out.submitted,
        processed: &net.processed[at][target.port as usize],
    })
}

/// Whether an operator submits what came over a crossing edge or through a queue: in batches.
fn is_crossing(made: &Made<'_>) -> bool {
    [inserted::RECEIVE, inserted::QUEUE].contains(&&*made.operator.kind)
}

fn scope<'a>(made: &'a Made<'_>) -> Scope<'a> {
    Scope {
        operator: made.operator,
        index: made.index,
        inputs: build::slots(made.operator, &made.inputs, None),
        outputs: made.outputs.clone(),
        state: &made.logic.state,
    }
}

fn clauses(backend: &mut dyn Backend, made: &Made<'_>) -> Result<Code, Fault> {
    let scope = scope(made);
    let mut compile = |body: Option<&Body>| {
        let body = body.filter(|body| !body.stmts.is_empty());
        body.map(|body| backend.action(&scope, body)).transpose()
    };
    let on_tuple = made.logic.on_tuple.iter();
    let on_tuple = on_tuple
        .map(|body| compile(Some(body)))
        .collect::<Result<_, _>>()?;
    let on_punct = made.logic.on_punct.iter();
    let on_punct = on_punct
        .map(|body| compile(body.as_ref()))
        .collect::<Result<_, _>>()?;
    Ok(Code {
        on_tuple,
        on_each: Vec::new(),
        on_punct,
        on_process: None,
    })
}
