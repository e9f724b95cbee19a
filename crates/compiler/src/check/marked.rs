//! The streams by which window markers may come: where one is not among them, a window that waits for
//! markers never fires.
//!
//! ```text
//!   Beacon(iterations) -> Custom, submits none -> Filter -> window by punct()
//!        may come             ends here            none comes
//! ```
//! A stream carries markers if its operator makes some, or passes on those of a port to which some may
//! come. Conditions in logic are taken to hold: what is left out here is left out for certain.
//!
//! # Cost
//! A walk over the statements of logic, then over each edge once.

use std::collections::HashSet;

use graph::{Body, Edge, ExprKind, Operator, OperatorId, PunctuationOut, Role, Stmt};
use tuple::Value;

use crate::expand::Site;

/// The enumerator of `Sys.FinalMarker`.
const FINAL_MARKER: u32 = 1;

/// The streams by which window markers may come.
pub(super) fn marked(operators: &[Operator], sites: &[Site]) -> HashSet<Edge> {
    let graph = Graph { operators, sites };
    let mut found: HashSet<Edge> = HashSet::new();
    let mut open: Vec<Edge> = graph.made().collect();
    let readers = graph.readers();
    while let Some(edge) = open.pop() {
        if !found.insert(edge) {
            continue;
        }
        let (operator, port) = (edge.operator.0 as usize, edge.port as usize);
        let after = readers[operator].get(port).into_iter().flatten();
        open.extend(after.flat_map(|&(reader, port)| graph.passed_on(reader, port)));
    }
    found
}

/// Why an operator that makes the markers of its output port makes none.
pub(super) fn reason(operator: &Operator, site: &Site, port: u32) -> String {
    let kind = site.model.name;
    let stream = &operator.outputs[port as usize].name;
    let name = &operator.name;
    if let Some(why) = site.model.no_markers.and_then(|why| why(operator)) {
        return format!("{kind} `{name}` makes none: {why}");
    }
    let mut bodies = bodies(operator);
    match bodies.any(|(_, body)| submits(&body.stmts, port, Mark::Current)) {
        true => format!("{kind} `{name}` passes on what comes in, and no window marker comes in"),
        false => format!("the logic of {kind} `{name}` submits none to `{stream}`"),
    }
}

#[derive(Clone, Copy)]
struct Graph<'a> {
    operators: &'a [Operator],
    sites: &'a [Site],
}

impl<'a> Graph<'a> {
    /// The streams whose operators make markers, whatever comes in.
    fn made(self) -> impl Iterator<Item = Edge> + 'a {
        self.streams().filter(move |&edge| self.makes(edge))
    }

    fn streams(self) -> impl Iterator<Item = Edge> + 'a {
        (0..).zip(self.operators).flat_map(|(at, operator)| {
            (0..operator.outputs.len() as u32).map(move |port| Edge {
                operator: OperatorId(at),
                port,
            })
        })
    }

    fn makes(self, edge: Edge) -> bool {
        let operator = &self.operators[edge.operator.0 as usize];
        let site = &self.sites[edge.operator.0 as usize];
        let is_imported = site.model.role == Role::Boundary;
        if is_imported {
            return true;
        }
        match site.outputs[edge.port as usize].model.punctuation {
            PunctuationOut::Free | PunctuationOut::Preserving(_) => false,
            PunctuationOut::Generating if site.model.submits => {
                let mut bodies = bodies(operator);
                bodies.any(|(_, body)| submits(&body.stmts, edge.port, Mark::Own))
            }
            PunctuationOut::Generating => {
                let why = site.model.no_markers.and_then(|why| why(operator));
                why.is_none()
            }
        }
    }

    /// The streams by which an operator passes on the markers of an input port.
    fn passed_on(self, at: OperatorId, input: u32) -> impl Iterator<Item = Edge> + 'a {
        let operator = &self.operators[at.0 as usize];
        let site = &self.sites[at.0 as usize];
        let is_passed = move |port: u32| {
            if site.model.submits {
                let mut bodies = bodies(operator).filter(|(from, _)| *from == Some(input));
                return bodies.any(|(_, body)| submits(&body.stmts, port, Mark::Current));
            }
            let mode = site.outputs[port as usize].model.punctuation;
            matches!(mode, PunctuationOut::Preserving(from) if from == input)
        };
        let ports = (0..site.outputs.len() as u32).filter(move |&port| is_passed(port));
        ports.map(move |port| Edge { operator: at, port })
    }

    /// The input ports to which each output port brings markers.
    fn readers(self) -> Vec<Vec<Vec<(OperatorId, u32)>>> {
        let outputs = |operator: &Operator| vec![Vec::new(); operator.outputs.len()];
        let mut readers: Vec<_> = self.operators.iter().map(outputs).collect();
        for (at, operator) in (0..).zip(self.operators) {
            for (port, input) in (0..).zip(&operator.inputs) {
                let sources = (0..).zip(&input.sources);
                for (_, from) in sources.filter(|(source, _)| !input.unmarked.contains(source)) {
                    let of = readers.get_mut(from.operator.0 as usize);
                    if let Some(list) = of.and_then(|of| of.get_mut(from.port as usize)) {
                        list.push((OperatorId(at), port));
                    }
                }
            }
        }
        readers
    }
}

/// The bodies of an operator's logic; those of `onPunct` with the port whose marker they are given.
fn bodies(operator: &Operator) -> impl Iterator<Item = (Option<u32>, &Body)> {
    let logic = &operator.logic;
    let tuples = logic.on_tuple.iter().flatten().map(|body| (None, body));
    let marks = (0..).zip(&logic.on_punct);
    let marks = marks.filter_map(|(port, body)| Some((Some(port), body.as_ref()?)));
    let process = logic.on_process.iter().map(|body| (None, body));
    tuples.chain(marks).chain(process)
}

/// Which markers are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Those that may be window markers whatever comes in.
    Own,
    /// `currentPunct()`, which is what has come in.
    Current,
}

/// Whether statements may submit such a marker to a port.
fn submits(stmts: &[Stmt], port: u32, wanted: Mark) -> bool {
    let within = |stmts: &[Stmt]| submits(stmts, port, wanted);
    stmts.iter().any(|stmt| match stmt {
        Stmt::If(_, a, b) => within(a) || within(b),
        Stmt::While(_, body) | Stmt::For(_, _, body) | Stmt::Clause(body) => within(body),
        Stmt::SubmitPunct { port: to, mark, .. } => {
            let is_there = match to.kind {
                ExprKind::Const(Value::Uint32(to)) => to == port,
                _ => true,
            };
            let is_wanted = match mark.kind {
                ExprKind::CurrentPunct => wanted == Mark::Current,
                ExprKind::Const(Value::Enum(FINAL_MARKER)) => false,
                _ => wanted == Mark::Own,
            };
            is_there && is_wanted
        }
        _ => false,
    })
}
