//! Number of ports of an invocation, and the port set of the model that each port belongs to.

use graph::{Cardinality, InPortModel, OperatorModel, OutPortModel};
use syntax::ast::{Ident, Invocation};
use syntax::{Diagnostic, Span};

use crate::Session;
use crate::instance::{COMMA_HELP, count_phrase, first_merging_port};

/// The model of each input port, and whether the operator has that many; reports that it has not.
pub(super) fn inputs(
    session: &Session<'_>,
    ast: &Invocation,
    model: &'static OperatorModel,
) -> (Vec<&'static InPortModel>, bool) {
    let counts: Vec<_> = model.inputs.iter().map(|set| set.count).collect();
    let first_extra = |at: usize| ast.inputs.get(at).map_or(ast.head, |port| port.span);
    let found = match_ports(&counts, ast.inputs.len());
    report(
        session,
        ast,
        model,
        "input port",
        &counts,
        &found,
        first_extra,
    );
    let fallback: &'static InPortModel = &InPortModel::DEFAULT;
    let sets = found
        .sets
        .iter()
        .map(|set| set.map_or(fallback, |at| &model.inputs[at]));
    (sets.collect(), found.is_matched())
}

/// The model of each output port, and whether the operator has that many; reports that it has not.
pub(super) fn outputs(
    session: &Session<'_>,
    ast: &Invocation,
    model: &'static OperatorModel,
) -> (Vec<&'static OutPortModel>, bool) {
    let counts: Vec<_> = model.outputs.iter().map(|set| set.count).collect();
    let first_extra = |at: usize| ast.outputs.get(at).map_or(ast.head, |port| port.span);
    let found = match_ports(&counts, ast.outputs.len());
    report(
        session,
        ast,
        model,
        "output port",
        &counts,
        &found,
        first_extra,
    );
    let fallback: &'static OutPortModel = &OutPortModel::DEFAULT;
    let sets = found
        .sets
        .iter()
        .map(|set| set.map_or(fallback, |at| &model.outputs[at]));
    (sets.collect(), found.is_matched())
}

/// Port sets matched with ports.
struct PortMatch {
    /// The set of each port; none if there are too many ports.
    sets: Vec<Option<usize>>,
    /// Whether there are fewer ports than the sets need.
    is_short: bool,
}

impl PortMatch {
    /// Whether each port has its set, and each set its ports.
    fn is_matched(&self) -> bool {
        !self.is_short && self.sets.iter().all(Option::is_some)
    }
}

/// Gives each set in turn as many ports as it takes.
fn match_ports(counts: &[Cardinality], ports: usize) -> PortMatch {
    let mut sets = Vec::with_capacity(ports);
    let mut is_short = false;
    for (at, count) in counts.iter().enumerate() {
        let left = ports - sets.len();
        let take = match count {
            Cardinality::Exactly(n) => *n as usize,
            Cardinality::Optional => left.min(1),
            Cardinality::Any => left,
        };
        is_short |= take > left;
        sets.extend(std::iter::repeat_n(Some(at), take.min(left)));
    }
    sets.resize(ports, None);
    PortMatch { sets, is_short }
}

fn report(
    session: &Session<'_>,
    ast: &Invocation,
    model: &OperatorModel,
    what: &str,
    counts: &[Cardinality],
    found: &PortMatch,
    place_of: impl Fn(usize) -> Span,
) {
    if found.is_matched() {
        return;
    }
    if session.is_broken(ast.span) {
        return session.diagnostics.note_poisoned();
    }
    let extra = found.sets.iter().position(Option::is_none);
    let given = match found.sets.len() {
        1 => "1 is given".to_owned(),
        n => format!("{n} are given"),
    };
    let message = format!(
        "{} takes {}, but {given}",
        model.name,
        port_count_phrase(counts, what)
    );
    let place = extra.map_or(ast.head, place_of);
    let finding = Diagnostic::error("port-count", place, message);
    let merging = first_merging_port(ast).filter(|_| what == "input port" && found.is_short);
    match merging {
        Some(port) => session.diagnostics.add_once(port, finding.help(COMMA_HELP)),
        None => session.report(finding),
    }
}

/// `1 input port`, `1 or 2 output ports`, `at least 2 input ports`, `no input ports`.
fn port_count_phrase(counts: &[Cardinality], what: &str) -> String {
    let (mut least, mut most) = (0usize, Some(0usize));
    for count in counts {
        match count {
            Cardinality::Exactly(n) => {
                least += *n as usize;
                most = most.map(|m| m + *n as usize);
            }
            Cardinality::Optional => most = most.map(|m| m + 1),
            Cardinality::Any => most = None,
        }
    }
    match most {
        None => format!("at least {}", count_phrase(least, what)),
        Some(most) if most == least => count_phrase(most, what),
        Some(most) if most == least + 1 => format!("{least} or {}", count_phrase(most, what)),
        Some(most) => format!("{least} to {}", count_phrase(most, what)),
    }
}

/// Reports ports that are given one name, input ports and output ports. Several input ports may
/// carry one stream: then its name is ambiguous where it is used.
pub(super) fn check_names(session: &Session<'_>, ast: &Invocation) {
    let mut seen: Vec<&Ident> = Vec::new();
    for port in &ast.inputs {
        let Some(alias) = &port.alias else { continue };
        // Of several streams that come together, an alias may say which name the port has.
        let own = match &port.streams[..] {
            [stream] if stream.text == alias.text => Some(stream),
            _ => None,
        };
        if let Some(stream) = own {
            session.report(needless_alias(alias, stream.span));
        } else if let Some(first) = seen.iter().find(|name| name.text == alias.text) {
            session.report(duplicate_name(&alias.text, alias.span, first.span));
        }
        seen.push(alias);
    }
    let aliases = ast.outputs.iter().filter_map(|port| port.alias.as_ref());
    let streams = ast.outputs.iter().map(|port| &port.name);
    let mut seen: Vec<&Ident> = streams.collect();
    for alias in aliases {
        if let Some(first) = seen.iter().find(|name| name.text == alias.text) {
            session.report(duplicate_name(&alias.text, alias.span, first.span));
        }
        seen.push(alias);
    }
}

fn needless_alias(alias: &Ident, stream: Span) -> Diagnostic {
    let name = &alias.text;
    let message = format!("the port is called `{name}` already, after its stream");
    Diagnostic::error("duplicate-port", alias.span, message)
        .label(stream, "the stream")
        .help(format!("leave `as {name}` out, or choose another name"))
}

fn duplicate_name(name: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("two ports of this operator are called `{name}`");
    Diagnostic::error("duplicate-port", span, message)
        .label(first, "first here")
        .help("give one of them another name with `as`")
}

#[cfg(test)]
mod tests {
    use graph::Cardinality::{Any, Exactly, Optional};

    use super::{match_ports, port_count_phrase};

    #[test]
    fn sets_take_ports_in_turn() {
        let found = match_ports(&[Exactly(2), Optional], 3);
        assert_eq!(found.sets, [Some(0), Some(0), Some(1)]);
        assert!(!found.is_short);
        assert!(match_ports(&[Exactly(2), Any], 1).is_short);
        assert_eq!(match_ports(&[Optional], 2).sets, [Some(0), None]);
        assert_eq!(match_ports(&[Exactly(1), Any], 3).sets[2], Some(1));
    }

    #[test]
    fn numbers_of_ports_are_said_in_words() {
        assert_eq!(port_count_phrase(&[], "input port"), "no input ports");
        assert_eq!(
            port_count_phrase(&[Exactly(1)], "input port"),
            "1 input port"
        );
        assert_eq!(
            port_count_phrase(&[Exactly(1), Optional], "input port"),
            "1 or 2 input ports"
        );
        assert_eq!(
            port_count_phrase(&[Exactly(2), Any], "input port"),
            "at least 2 input ports"
        );
    }
}
