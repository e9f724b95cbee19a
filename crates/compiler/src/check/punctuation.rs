//! Window markers: an input port that needs them has to get them from exactly one operator.
//!
//! A port needs markers if its model says so, or if its window is `punct()`. Going upstream through
//! operators that preserve markers there must be one stream at each step, and at the end an
//! operator that generates them. If that is one that never does, a warning says so
//! ([`super::marker_streams`]).

use std::cell::LazyCell;

use graph::{
    OperatorId, OperatorNode, OperatorRole, OutPortId, Policy, PunctuationInputMode,
    PunctuationOutputMode,
};
use syntax::Diagnostic;
use tuple::Value;

use super::marker_streams::MarkerStreams;
use crate::Diagnostics;
use crate::instance::{InPortSite, OperatorSite};

/// Checks every port that needs window markers. `is_whole`: all logic of the program is there, so
/// that it shows which markers are submitted.
pub(crate) fn check(
    operators: &[OperatorNode],
    sites: &[OperatorSite],
    diagnostics: &Diagnostics,
    is_whole: bool,
) {
    let walk = MarkerSourceSearch { operators, sites };
    let all_marked = LazyCell::new(|| MarkerStreams::new(operators, sites));
    for (operator, site) in operators.iter().zip(sites) {
        for (port, (input, place)) in operator.inputs.iter().zip(&site.inputs).enumerate() {
            let needs = match place.model.punctuation {
                PunctuationInputMode::Oblivious => false,
                PunctuationInputMode::Expecting => true,
                PunctuationInputMode::WindowBound => {
                    let evict = input.window.as_ref().map(|w| &w.evict);
                    matches!(evict, Some(Policy::Punct))
                }
            };
            if !needs {
                continue;
            }
            match walk.upstream(operator, port) {
                Err(why) => {
                    diagnostics.add(missing_markers(operator, port, place, &why));
                }
                Ok(Some(maker)) if is_whole && !all_marked.contains(maker) => {
                    let why = all_marked.reason(maker);
                    diagnostics.add(no_markers_ever(operator, port, place, &why));
                }
                Ok(_) => {}
            }
        }
    }
}

fn missing_markers(
    operator: &OperatorNode,
    port: usize,
    place: &InPortSite,
    why: &str,
) -> Diagnostic {
    let name = &operator.inputs[port].name;
    let message = format!("input port `{name}` needs window markers, but {why}");
    let finding = Diagnostic::error("missing-punctuation", place.span, message);
    let finding = with_window(finding, place, "because its window is punct()");
    finding.help("feed it from one stream that carries markers; a Punctor can make them")
}

fn no_markers_ever(
    operator: &OperatorNode,
    port: usize,
    place: &InPortSite,
    why: &str,
) -> Diagnostic {
    let name = &operator.inputs[port].name;
    let message = format!("input port `{name}` waits for window markers, and none ever comes");
    let finding = Diagnostic::warning("no-window-markers", place.span, message);
    let finding = with_window(finding, place, "so this window never fires");
    let help = "`submit(Sys.WindowMarker, ...)` in the logic of a Custom makes one, and so does a \
                Punctor";
    finding.help(why).help(help)
}

fn with_window(finding: Diagnostic, place: &InPortSite, text: &str) -> Diagnostic {
    match place.window {
        Some(window) => finding.label(window, text),
        None => finding,
    }
}

struct MarkerSourceSearch<'a> {
    operators: &'a [OperatorNode],
    sites: &'a [OperatorSite],
}

impl MarkerSourceSearch<'_> {
    /// The output port whose markers come to a port, as far as there is one; if none can, why.
    fn upstream(&self, operator: &OperatorNode, port: usize) -> Result<Option<OutPortId>, String> {
        let (mut operator, mut port) = (operator, port);
        // Each step goes to another operator, or round a loop in which no operator generates
        // markers.
        for _ in 0..=self.operators.len() {
            let Some(input) = operator.inputs.get(port) else {
                return Ok(None);
            };
            let [edge] = input.sources[..] else {
                return self.check_single_source(operator, port).map(|()| None);
            };
            match self.forwarding_input(edge)? {
                Some(before) => port = before,
                None => return Ok(Some(edge)),
            }
            operator = self.operator(edge.operator);
        }
        Err("no operator in its feedback loop makes any".into())
    }

    /// The input port whose markers an output port passes on; none if it generates them.
    fn forwarding_input(&self, edge: OutPortId) -> Result<Option<usize>, String> {
        let operator = self.operator(edge.operator);
        let site = &self.sites[edge.operator.0 as usize];
        let stream = &operator.outputs[edge.port.index()].name;
        if site.model.role == OperatorRole::Boundary {
            return Err(format!("stream `{stream}` is imported"));
        }
        if is_parallel(operator) {
            return Err(format!("stream `{stream}` comes from a parallel region"));
        }
        match site.outputs[edge.port.index()].model.punctuation {
            PunctuationOutputMode::Generating => Ok(None),
            PunctuationOutputMode::Preserving(port) => Ok(Some(port.index())),
            PunctuationOutputMode::Free => {
                let kind = site.model.name;
                Err(format!("stream `{stream}` of the {kind} carries none"))
            }
        }
    }

    /// A port without a source was reported before; several cannot agree on their markers.
    fn check_single_source(&self, operator: &OperatorNode, port: usize) -> Result<(), String> {
        let input = &operator.inputs[port];
        let mut sources = input.sources.iter();
        match input.sources.len() {
            0 => Ok(()),
            _ if sources.any(|edge| is_parallel(self.operator(edge.operator))) => Err(format!(
                "stream `{}` comes from a parallel region",
                input.name
            )),
            n => Err(format!("{n} streams come together in `{}`", input.name)),
        }
    }

    fn operator(&self, id: OperatorId) -> &OperatorNode {
        &self.operators[id.0 as usize]
    }
}

/// Whether an operator runs in several channels, whose markers nothing joins.
fn is_parallel(operator: &OperatorNode) -> bool {
    let mut keys = operator
        .annotations
        .iter()
        .filter(|(name, _)| &**name == "parallel")
        .flat_map(|(_, keys)| keys);
    keys.any(|(key, value)| &**key == "width" && !matches!(value, Value::Int32(1)))
}
