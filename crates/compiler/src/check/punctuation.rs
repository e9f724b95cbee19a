//! Window markers: an input port that needs them has to get them from exactly one operator.
//!
//! A port needs markers if its model says so, or if its window is `punct()`. Going upstream through
//! operators that preserve markers there must be one stream at each step, and at the end an operator
//! that generates them. If that is one that never does, a warning says so ([`super::marked`]).

use std::cell::LazyCell;

use graph::{Edge, Operator, OperatorId, Policy, PunctuationIn, PunctuationOut, Role};
use syntax::Diagnostic;
use tuple::Value;

use super::marked::Marked;
use crate::Diagnostics;
use crate::expand::{InSite, Site};

/// Checks every port that needs window markers. `is_whole`: all logic of the program is there, so that
/// it shows which markers are submitted.
pub(crate) fn check(
    operators: &[Operator],
    sites: &[Site],
    diagnostics: &Diagnostics,
    is_whole: bool,
) {
    let walk = Walk { operators, sites };
    let all_marked = LazyCell::new(|| Marked::new(operators, sites));
    for (operator, site) in operators.iter().zip(sites) {
        for (port, (input, place)) in operator.inputs.iter().zip(&site.inputs).enumerate() {
            let needs = match place.model.punctuation {
                PunctuationIn::Oblivious => false,
                PunctuationIn::Expecting => true,
                PunctuationIn::WindowBound => {
                    let evict = input.window.as_ref().map(|w| &w.evict);
                    matches!(evict, Some(Policy::Punct))
                }
            };
            if !needs {
                continue;
            }
            match walk.upstream(operator, port) {
                Err(why) => {
                    diagnostics.add(finding(operator, port, place, &why));
                }
                Ok(Some(maker)) if is_whole && !all_marked.contains(maker) => {
                    let why = all_marked.reason(maker);
                    diagnostics.add(never(operator, port, place, &why));
                }
                Ok(_) => {}
            }
        }
    }
}

fn finding(operator: &Operator, port: usize, place: &InSite, why: &str) -> Diagnostic {
    let name = &operator.inputs[port].name;
    let message = format!("input port `{name}` needs window markers, but {why}");
    let finding = Diagnostic::error("missing-punctuation", place.span, message);
    let finding = with_window(finding, place, "because its window is punct()");
    finding.help("feed it from one stream that carries markers; a Punctor can make them")
}

fn never(operator: &Operator, port: usize, place: &InSite, why: &str) -> Diagnostic {
    let name = &operator.inputs[port].name;
    let message = format!("input port `{name}` waits for window markers, and none ever comes");
    let finding = Diagnostic::warning("no-window-markers", place.span, message);
    let finding = with_window(finding, place, "so this window never fires");
    let help = "`submit(Sys.WindowMarker, ...)` in the logic of a Custom makes one, and so does a \
                Punctor";
    finding.help(why).help(help)
}

fn with_window(finding: Diagnostic, place: &InSite, text: &str) -> Diagnostic {
    match place.window {
        Some(window) => finding.label(window, text),
        None => finding,
    }
}

struct Walk<'a> {
    operators: &'a [Operator],
    sites: &'a [Site],
}

impl Walk<'_> {
    /// The output port whose markers come to a port, as far as there is one; if none can, why.
    fn upstream(&self, operator: &Operator, port: usize) -> Result<Option<Edge>, String> {
        let (mut operator, mut port) = (operator, port);
        // Each step goes to another operator, or round a loop in which nobody generates markers.
        for _ in 0..=self.operators.len() {
            let Some(input) = operator.inputs.get(port) else {
                return Ok(None);
            };
            let [edge] = input.sources[..] else {
                return self.several(operator, port).map(|()| None);
            };
            match self.next(edge)? {
                Some(before) => port = before,
                None => return Ok(Some(edge)),
            }
            operator = self.operator(edge.operator);
        }
        Err("no operator in its feedback loop makes any".into())
    }

    /// The input port whose markers an output port passes on; none if it generates them.
    fn next(&self, edge: Edge) -> Result<Option<usize>, String> {
        let operator = self.operator(edge.operator);
        let site = &self.sites[edge.operator.0 as usize];
        let stream = &operator.outputs[edge.port as usize].name;
        if site.model.role == Role::Boundary {
            return Err(format!("stream `{stream}` is imported"));
        }
        if is_parallel(operator) {
            return Err(format!("stream `{stream}` comes from a parallel region"));
        }
        match site.outputs[edge.port as usize].model.punctuation {
            PunctuationOut::Generating => Ok(None),
            PunctuationOut::Preserving(port) => Ok(Some(port as usize)),
            PunctuationOut::Free => {
                let kind = site.model.name;
                Err(format!("stream `{stream}` of the {kind} carries none"))
            }
        }
    }

    /// A port without a source was reported before; several cannot agree on their markers.
    fn several(&self, operator: &Operator, port: usize) -> Result<(), String> {
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

    fn operator(&self, id: OperatorId) -> &Operator {
        &self.operators[id.0 as usize]
    }
}

/// Whether an operator runs in several channels, whose markers nobody brings together.
fn is_parallel(operator: &Operator) -> bool {
    let mut keys = operator
        .annotations
        .iter()
        .filter(|(name, _)| &**name == "parallel")
        .flat_map(|(_, keys)| keys);
    keys.any(|(key, value)| &**key == "width" && !matches!(value, Value::Int32(1)))
}
