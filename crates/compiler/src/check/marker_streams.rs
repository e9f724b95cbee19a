//! The streams by which window markers may come: where one is not among them, a window that waits
//! for markers never fires.
//!
//! ```text
//!   Beacon(iterations) -> Custom, submits none -> Filter -> window by punct()
//!        may come             ends here            none comes
//! ```
//! A stream carries markers if its operator makes some, or passes on those of a port to which some
//! may come. Conditions in logic are taken to hold: what is left out here is left out for certain.
//!
//! # Cost
//! One pass over the statements of logic, then one over the ports that markers reach.

use std::collections::{HashMap, HashSet};

use graph::{
    Expr, ExprKind, OperatorId, OperatorNode, OperatorRole, OutPortId, PortIndex,
    PunctuationOutputMode, Stmt,
};
use tuple::Value;

use crate::instance::OperatorSite;

/// The enumerator of `Sys.FinalMarker`.
const FINAL_MARKER: u32 = 1;

/// Where window markers may come.
pub(super) struct MarkerStreams<'a> {
    graph: MarkerGraph<'a>,
    submitted: Vec<SubmittedMarkers>,
    streams: HashSet<OutPortId>,
}

impl<'a> MarkerStreams<'a> {
    /// In the graph of these operators.
    pub fn new(operators: &'a [OperatorNode], sites: &'a [OperatorSite]) -> MarkerStreams<'a> {
        let submitted =
            operators
                .iter()
                .zip(sites)
                .map(|(operator, site)| match site.model.submits {
                    true => SubmittedMarkers::from_operator(operator),
                    false => SubmittedMarkers::default(),
                });
        let mut marked = MarkerStreams {
            graph: MarkerGraph { operators, sites },
            submitted: submitted.collect(),
            streams: HashSet::new(),
        };
        marked.propagate();
        marked
    }

    /// Whether a window marker may come by a stream.
    pub fn contains(&self, stream: OutPortId) -> bool {
        self.streams.contains(&stream)
    }

    /// Why the operator that makes the markers of a stream makes none.
    pub fn reason(&self, stream: OutPortId) -> String {
        let (at, port) = (stream.operator.0 as usize, stream.port);
        let (operator, site) = (&self.graph.operators[at], &self.graph.sites[at]);
        let kind = site.model.name;
        let stream = &operator.outputs[port.index()].name;
        let name = &operator.name;
        if let Some(why) = site.model.no_markers_reason.and_then(|why| why(operator)) {
            return format!("{kind} `{name}` makes none: {why}");
        }
        let mut current = self.submitted[at].current.values();
        match current.any(|ports| ports.has(port)) {
            true => {
                format!("{kind} `{name}` passes on what comes in, and no window marker comes in")
            }
            false => format!("the logic of {kind} `{name}` submits none to `{stream}`"),
        }
    }

    fn propagate(&mut self) {
        let graph = self.graph;
        let mut open: Vec<OutPortId> = graph
            .streams()
            .filter(|&edge| self.generates_markers(edge))
            .collect();
        let readers = graph.readers();
        let mut reached = HashSet::new();
        while let Some(edge) = open.pop() {
            if !self.streams.insert(edge) {
                continue;
            }
            let (operator, port) = (edge.operator.0 as usize, edge.port.index());
            let after = readers[operator].get(port).into_iter().flatten();
            for &(reader, port) in after.filter(|&&input| reached.insert(input)) {
                open.extend(self.forwarded_streams(reader, port));
            }
        }
    }

    /// Whether the operator of a stream makes markers of its own.
    fn generates_markers(&self, edge: OutPortId) -> bool {
        let at = edge.operator.0 as usize;
        let site = &self.graph.sites[at];
        let is_imported = site.model.role == OperatorRole::Boundary;
        if is_imported {
            return true;
        }
        match site.outputs[edge.port.index()].model.punctuation {
            PunctuationOutputMode::Free | PunctuationOutputMode::Preserving(_) => false,
            PunctuationOutputMode::Generating if site.model.submits => {
                self.submitted[at].own.has(edge.port)
            }
            PunctuationOutputMode::Generating => {
                let operator = &self.graph.operators[at];
                let why = site.model.no_markers_reason.and_then(|why| why(operator));
                why.is_none()
            }
        }
    }

    /// The streams by which an operator passes on the markers of an input port.
    fn forwarded_streams(
        &self,
        at: OperatorId,
        input: PortIndex,
    ) -> impl Iterator<Item = OutPortId> {
        let index = at.0 as usize;
        let site = &self.graph.sites[index];
        let submitted = self.submitted[index].current.get(&input);
        let is_passed = move |port: PortIndex| {
            if site.model.submits {
                return submitted.is_some_and(|ports| ports.has(port));
            }
            let mode = site.outputs[port.index()].model.punctuation;
            matches!(mode, PunctuationOutputMode::Preserving(from) if from == input)
        };
        let ports = (0..site.outputs.len() as u32).map(PortIndex);
        let passed = ports.filter(move |&port| is_passed(port));
        passed.map(move |port| OutPortId { operator: at, port })
    }
}

#[derive(Clone, Copy)]
struct MarkerGraph<'a> {
    operators: &'a [OperatorNode],
    sites: &'a [OperatorSite],
}

impl<'a> MarkerGraph<'a> {
    fn streams(self) -> impl Iterator<Item = OutPortId> + 'a {
        (0..).zip(self.operators).flat_map(|(at, operator)| {
            let ports = (0..operator.outputs.len() as u32).map(PortIndex);
            ports.map(move |port| OutPortId {
                operator: OperatorId(at),
                port,
            })
        })
    }

    /// The input ports to which each output port brings markers.
    fn readers(self) -> Vec<Vec<Vec<(OperatorId, PortIndex)>>> {
        let outputs = |operator: &OperatorNode| vec![Vec::new(); operator.outputs.len()];
        let mut readers: Vec<_> = self.operators.iter().map(outputs).collect();
        for (at, operator) in (0..).zip(self.operators) {
            for (port, input) in (0..).map(PortIndex).zip(&operator.inputs) {
                let sources = (0..).zip(&input.sources);
                for (_, from) in
                    sources.filter(|(source, _)| !input.sources_without_markers.contains(source))
                {
                    let of = readers.get_mut(from.operator.0 as usize);
                    if let Some(list) = of.and_then(|of| of.get_mut(from.port.index())) {
                        list.push((OperatorId(at), port));
                    }
                }
            }
        }
        readers
    }
}

/// The output ports to which logic may submit markers.
#[derive(Default)]
struct SubmittedMarkers {
    /// Output ports to which logic may submit window markers of its own, whatever the input.
    own: MarkerPorts,
    /// `currentPunct()`, which is what has come in, by the input port that it came to.
    current: HashMap<PortIndex, MarkerPorts>,
}

/// Output ports of an operator.
#[derive(Default)]
struct MarkerPorts {
    /// Whether the port is chosen only when the program runs, so that it may be any.
    is_any: bool,
    /// Numbers of the output ports that are known.
    known: HashSet<PortIndex>,
}

impl MarkerPorts {
    fn has(&self, port: PortIndex) -> bool {
        self.is_any || self.known.contains(&port)
    }

    fn add(&mut self, port: &Expr) {
        match port.kind {
            ExprKind::Const(Value::Uint32(port)) => drop(self.known.insert(PortIndex(port))),
            _ => self.is_any = true,
        }
    }
}

impl SubmittedMarkers {
    /// By the logic of an operator.
    fn from_operator(operator: &OperatorNode) -> SubmittedMarkers {
        let mut submitted = SubmittedMarkers::default();
        let logic = &operator.logic;
        let others = logic.on_tuple.iter().flatten().chain(&logic.on_process);
        for body in others {
            submitted.add(None, &body.stmts);
        }
        for (port, body) in (0..).map(PortIndex).zip(&logic.on_punct) {
            let stmts = body.iter().flat_map(|body| &body.stmts);
            stmts.for_each(|stmt| submitted.add(Some(port), std::slice::from_ref(stmt)));
        }
        submitted
    }

    /// Adds what statements submit that are given a marker of this port.
    fn add(&mut self, input: Option<PortIndex>, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::If(_, a, b) => {
                    self.add(input, a);
                    self.add(input, b);
                }
                Stmt::While(_, body) | Stmt::For(_, _, body) | Stmt::Clause(body) => {
                    self.add(input, body);
                }
                Stmt::SubmitPunct { port, mark, .. } => match (&mark.kind, input) {
                    (ExprKind::CurrentPunct, Some(input)) => {
                        self.current.entry(input).or_default().add(port);
                    }
                    (ExprKind::CurrentPunct, None)
                    | (ExprKind::Const(Value::Enum(FINAL_MARKER)), _) => {}
                    _ => self.own.add(port),
                },
                _ => {}
            }
        }
    }
}
