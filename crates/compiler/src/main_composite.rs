//! Choice of the main composite: the requested one, or the only candidate. Composites that others
//! invoke do not count as long as there are others; among several, one with the name `Main` wins.

use std::collections::HashSet;

use syntax::ast::{Composite, Item, Unit};
use syntax::{DeclarationKind, Diagnostic, Span};

use crate::Diagnostics;
use crate::names::{LoadedUnit, SymbolTable, UnitId, did_you_mean};

/// The composite of a qualified name, with its unit.
pub(crate) fn find<'w>(symbols: &'w SymbolTable, name: &str) -> Option<(UnitId, &'w Composite)> {
    if name.is_empty() {
        return None;
    }
    all_composites(symbols)
        .find(|(unit, composite)| *symbols.qualified(*unit, &composite.name.text) == *name)
}

/// The qualified name of the main composite of a compilation; reports why there is none. `wanted`
/// may leave the namespace out.
pub(crate) fn choose(
    symbols: &SymbolTable,
    wanted: Option<&str>,
    diagnostics: &Diagnostics,
) -> Option<String> {
    match wanted {
        Some(wanted) => find_requested(symbols, wanted, diagnostics),
        None => find_only(symbols, diagnostics),
    }
}

/// Units of the main files.
fn all_units(symbols: &SymbolTable) -> impl Iterator<Item = (UnitId, &LoadedUnit)> {
    symbols.units().filter(|(_, unit)| unit.is_checked)
}

/// The composites of the main files, each with its unit.
pub(crate) fn all_composites(symbols: &SymbolTable) -> impl Iterator<Item = (UnitId, &Composite)> {
    all_units(symbols)
        .flat_map(|(id, unit)| composites(&unit.unit).map(move |composite| (id, composite)))
}

/// The composites of a unit.
fn composites(unit: &Unit) -> impl Iterator<Item = &Composite> {
    unit.items.iter().filter_map(|item| match item {
        Item::Composite(composite) => Some(&**composite),
        _ => None,
    })
}

/// Where findings about the file as a whole are shown.
fn first_file(symbols: &SymbolTable) -> Span {
    let file = symbols
        .units()
        .find(|(_, unit)| unit.is_checked)
        .map(|(_, unit)| unit.file);
    Span::new(file.unwrap_or_default(), 0, 0)
}

fn find_requested(
    symbols: &SymbolTable,
    wanted: &str,
    diagnostics: &Diagnostics,
) -> Option<String> {
    let fits = |unit: UnitId, composite: &Composite| {
        let full = symbols.qualified(unit, &composite.name.text);
        *full == *wanted || (!wanted.contains("::") && *composite.name.text == *wanted)
    };
    let Some((unit, composite)) = all_composites(symbols).find(|(unit, c)| fits(*unit, c)) else {
        let name = wanted.rsplit("::").next().unwrap_or(wanted);
        if symbols.poison.has_name(DeclarationKind::Composite, name) {
            return None;
        }
        let message = format!("there is no composite `{wanted}` to start");
        let finding = Diagnostic::error("no-main", first_file(symbols), message);
        let names: Vec<_> = all_composites(symbols)
            .map(|(unit, c)| symbols.qualified(unit, &c.name.text))
            .collect();
        diagnostics.add(did_you_mean(finding, wanted, names.iter().map(|n| &**n)));
        return None;
    };
    if !can_be_main(composite) {
        // What it lacks may be in what is broken.
        if !symbols.poison.is_within(composite.span) {
            diagnostics.add(not_main(composite));
        }
        return None;
    }
    Some(symbols.qualified(unit, &composite.name.text).to_string())
}

fn not_main(composite: &Composite) -> Diagnostic {
    let name = &composite.name;
    let message = format!("`{}` cannot be the main composite", name.text);
    let finding = Diagnostic::error("not-a-main", name.span, message);
    let port = composite.outputs.iter().chain(&composite.inputs).next();
    if let Some(port) = port {
        return finding.label(port.name.span, "a main composite has no ports");
    }
    match composite
        .params
        .iter()
        .find(|formal| formal.default.is_none())
    {
        Some(formal) => finding.label(formal.span, "its parameters need defaults"),
        None => finding.help("it has no operators"),
    }
}

fn find_only(symbols: &SymbolTable, diagnostics: &Diagnostics) -> Option<String> {
    let mut candidates: Vec<_> = all_composites(symbols)
        .filter(|(_, c)| can_be_main(c))
        .collect();
    if candidates.len() > 1 {
        let invoked = invoked_names(symbols);
        let roots = candidates
            .iter()
            .filter(|(_, c)| !invoked.contains(&*c.name.text));
        let roots: Vec<_> = roots.copied().collect();
        candidates = if roots.is_empty() { candidates } else { roots };
    }
    if candidates.len() > 1 {
        let called_main = candidates.iter().find(|(_, c)| &*c.name.text == "Main");
        candidates = called_main.map_or(candidates.clone(), |main| vec![*main]);
    }
    match &candidates[..] {
        [(unit, composite)] => Some(symbols.qualified(*unit, &composite.name.text).to_string()),
        // It may be in what is broken, whole or with its operators.
        [] if all_units(symbols).any(|(_, unit)| !unit.unit.broken.is_empty()) => None,
        [] => {
            diagnostics.add(no_composite(symbols));
            None
        }
        several => {
            let names = several
                .iter()
                .map(|(unit, c)| symbols.qualified(*unit, &c.name.text));
            let names = names
                .map(|n| format!("`{n}`"))
                .collect::<Vec<_>>()
                .join(", ");
            let message = "several composites can be the main one: say which to start";
            let finding = Diagnostic::error("ambiguous-main", several[1].1.name.span, message);
            diagnostics.add(finding.help(format!("it can be {names}: `thalweg run -M NAME`")));
            None
        }
    }
}

fn no_composite(symbols: &SymbolTable) -> Diagnostic {
    let mut composites = all_composites(symbols);
    match (composites.next(), composites.next()) {
        (Some((_, only)), None) => not_main(only),
        _ => {
            let message = "there is no composite without ports to start";
            Diagnostic::error("no-main", first_file(symbols), message)
        }
    }
}

/// The names of the operators that the main files invoke.
pub(crate) fn invoked_names(symbols: &SymbolTable) -> HashSet<&str> {
    let graph = all_composites(symbols).flat_map(|(_, composite)| &composite.graph);
    let names = graph.map(|invocation| &*invocation.operator.name.text);
    names.collect()
}

/// Whether a composite can be the main one: no ports, a default for each parameter, and operators.
pub(crate) fn can_be_main(composite: &Composite) -> bool {
    let has_ports = !composite.inputs.is_empty() || !composite.outputs.is_empty();
    !has_ports
        && !composite.graph.is_empty()
        && composite
            .params
            .iter()
            .all(|formal| formal.default.is_some())
}
