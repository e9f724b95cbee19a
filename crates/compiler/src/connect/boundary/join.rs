//! Joins the imports of a program with its own exports, as if the import named the exported stream.

use std::sync::Arc;

use graph::{ConfigEntry, InPort, InPortModel, OperatorNode, OperatorRole, ParamValue};
use syntax::Diagnostic;
use tuple::{Type, Value};

use super::exported_properties::exported_properties;
use crate::expand::Expander;
use crate::instance::InPortSite;

/// Application scope of operators whose config names none.
const DEFAULT_SCOPE: &str = "Default";

/// Input ports that importing operators get.
static IMPORTED: InPortModel = InPortModel::DEFAULT;

/// An operator that exports its stream.
struct ExportedStream {
    /// Index of the exporting operator in the program.
    operator: usize,
    stream_id: Option<Vec<u8>>,
    properties: Vec<(Arc<str>, Type, Value)>,
    scope: String,
    /// Whether importers may filter it.
    allows_filter: bool,
}

/// Gives every importing operator the streams that match it.
pub(crate) fn join_imports(expander: &mut Expander<'_, '_>) {
    let boundary = |at: &usize| expander.sites[*at].model.role == OperatorRole::Boundary;
    let all: Vec<usize> = (0..expander.sites.len()).filter(boundary).collect();
    let (imports, exports): (Vec<usize>, Vec<usize>) = all
        .into_iter()
        .partition(|&at| expander.sites[at].inputs.is_empty());
    let exports: Vec<_> = exports
        .into_iter()
        .map(|at| ExportedStream::from_operator(at, &expander.operators[at]))
        .collect();
    for at in imports {
        let matching = matching_exports(expander, at, &exports);
        feed(expander, at, &matching);
    }
}

/// The exports that match an import; reports those of another type.
fn matching_exports(
    expander: &Expander<'_, '_>,
    at: usize,
    exports: &[ExportedStream],
) -> Vec<usize> {
    let (operator, site) = (&expander.operators[at], &expander.sites[at]);
    let main = expander.session.main.clone();
    let is_here = text(operator, "applicationName").is_none_or(|name| {
        let short = main.rsplit("::").next().unwrap_or(&main).as_bytes();
        name == main.as_bytes() || name == short
    });
    let scope = text(operator, "applicationScope").map(|s| String::from_utf8_lossy(&s).into());
    let scope = scope.unwrap_or_else(|| scope_of(operator));
    let stream_id = text(operator, "streamId");
    let wanted = |export: &&ExportedStream| {
        let by_id = stream_id.is_some() && stream_id == export.stream_id;
        let by_properties = export.stream_id.is_none()
            && (site.subscription.as_ref()).is_some_and(|s| s.holds(&export.properties));
        // Ports that are missing were reported.
        let has_ports =
            !operator.outputs.is_empty() && !expander.operators[export.operator].inputs.is_empty();
        has_ports && is_here && scope == export.scope && (by_id || by_properties)
    };
    let mut found = Vec::new();
    let mut is_refused = false;
    for export in exports.iter().filter(wanted) {
        let Some(finding) = refusal(expander, at, export) else {
            found.push(export.operator);
            continue;
        };
        is_refused = true;
        let exporter = expander.sites[export.operator].head;
        expander.report(finding.label(exporter, "it is exported here, and not joined"));
    }
    let is_sound = !expander.session.diagnostics.has_errors();
    let asks = site.subscription.is_some() || stream_id.is_some();
    if found.is_empty() && !is_refused && is_sound && asks {
        let message = "no stream that this program exports matches: nothing will come in";
        let finding = Diagnostic::warning("import-nothing", site.head, message);
        expander.report(finding.help("streams of other jobs are not imported"));
    }
    found
}

/// Why an import does not get a stream that it asks for.
fn refusal(expander: &Expander<'_, '_>, at: usize, export: &ExportedStream) -> Option<Diagnostic> {
    let (operator, head) = (&expander.operators[at], expander.sites[at].head);
    let theirs = expander.operators[export.operator].inputs.first()?;
    let ours = operator.outputs.first()?;
    if theirs.schema != ours.schema {
        let message = format!(
            "this would import a stream of type {}, and is of type {}",
            theirs.schema, ours.schema
        );
        return Some(Diagnostic::warning("import-type", head, message));
    }
    if export.allows_filter || operator.param("filter").is_none() {
        return None;
    }
    let message = "this would filter a stream that is exported with `allowFilter : false`";
    let finding = Diagnostic::warning("import-filter", head, message);
    Some(finding.help("import it without `filter`, and put a Filter behind"))
}

/// Makes the input port of an import from those of exports.
fn feed(expander: &mut Expander<'_, '_>, at: usize, exports: &[usize]) {
    let mut streams = Vec::new();
    for &export in exports {
        for &(stream, _) in &expander.sites[export].inputs[0].streams {
            if streams.iter().all(|(other, _)| *other != stream) {
                streams.push((stream, expander.sites[at].head));
            }
        }
    }
    if streams.is_empty() {
        return;
    }
    let output = &expander.operators[at].outputs[0];
    let input = InPort::new(output.name.clone(), output.schema.clone(), Vec::new());
    expander.operators[at].inputs.push(input);
    let span = expander.sites[at].head;
    expander.sites[at].inputs.push(InPortSite {
        model: &IMPORTED,
        span,
        streams,
        window: None,
    });
}

impl ExportedStream {
    fn from_operator(at: usize, operator: &OperatorNode) -> ExportedStream {
        ExportedStream {
            operator: at,
            stream_id: text(operator, "streamId"),
            properties: exported_properties(operator),
            scope: scope_of(operator),
            allows_filter: !is_false(operator, "allowFilter"),
        }
    }
}

fn scope_of(operator: &OperatorNode) -> String {
    let entries = operator.config.iter();
    let mut scopes = entries.filter(|entry: &&ConfigEntry| &*entry.name == "applicationScope");
    // As SPL writes it, in quotes.
    let scope = scopes.next().and_then(|entry| entry.values.first());
    let scope = scope.map(|text| text.trim_matches('"').to_owned());
    scope.unwrap_or_else(|| DEFAULT_SCOPE.to_owned())
}

/// The constant text of a parameter.
fn text(operator: &OperatorNode, name: &str) -> Option<Vec<u8>> {
    match constant(operator, name)? {
        Value::RString(text) => Some(text.as_bytes().to_vec()),
        _ => None,
    }
}

/// Whether a flag is known not to be set.
fn is_false(operator: &OperatorNode, name: &str) -> bool {
    matches!(constant(operator, name), Some(Value::Boolean(false)))
}

/// The value of a parameter, if it is known.
fn constant<'o>(operator: &'o OperatorNode, name: &str) -> Option<&'o Value> {
    match &operator.param(name)?.value {
        ParamValue::Exprs(exprs) => match &exprs.first()?.kind {
            graph::ExprKind::Const(value) => Some(value),
            _ => None,
        },
        ParamValue::Literals(_) => None,
    }
}
