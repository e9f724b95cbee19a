//! Suggestions for unknown names: the nearest name that could have been meant.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use syntax::nearest;
use syntax::{Diagnostic, Span};

/// The words for built-in types.
pub(super) const BUILT_IN_TYPES: &[&str] = &[
    "boolean",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "decimal32",
    "decimal64",
    "decimal128",
    "complex32",
    "complex64",
    "timestamp",
    "rstring",
    "ustring",
    "blob",
    "xml",
];

/// Whether a function begins with this word in another language.
pub(super) fn is_function_word(name: &str) -> bool {
    matches!(name, "def" | "fn" | "func" | "fun" | "proc" | "sub")
}

/// The type that is called so in other languages.
pub(super) fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" | "Boolean" => "boolean",
        "int" | "integer" | "Integer" => "int32",
        "uint" | "unsigned" => "uint32",
        "long" | "Long" => "int64",
        "short" => "int16",
        "byte" | "char" => "uint8",
        "float" | "double" | "Double" => "float64",
        "decimal" => "decimal64",
        "complex" => "complex64",
        "string" | "String" | "str" => "rstring",
        "bytes" => "blob",
        "time" | "datetime" => "timestamp",
        _ => return None,
    })
}

/// How many findings of a compilation are compared with the names that the program defines: so what
/// is wrong is found in time that grows with the program, not with names times mistakes.
const SUGGESTIONS_MAX: usize = 100;

/// The places of the findings that were compared with all names of a program. An expression may be
/// typed several times, and a finding at one place made as often.
#[derive(Debug, Default)]
pub struct Suggestions(RefCell<HashSet<Span>>);

impl Suggestions {
    /// Like [`did_you_mean`], of names that the program defines, as long as there are not too many
    /// findings.
    pub(crate) fn did_you_mean<'n, I: IntoIterator<Item = &'n str>>(
        &self,
        diagnostic: Diagnostic,
        name: &str,
        candidates: impl FnOnce() -> I,
    ) -> Diagnostic {
        match self.is_open(diagnostic.span) {
            true => did_you_mean(diagnostic, name, candidates()),
            false => diagnostic,
        }
    }

    /// Whether a finding at this place may be compared with all names, or with all ports: there are
    /// not too many others.
    pub(crate) fn is_open(&self, at: Span) -> bool {
        let mut compared = self.0.borrow_mut();
        if compared.len() >= SUGGESTIONS_MAX && !compared.contains(&at) {
            return false;
        }
        compared.insert(at);
        true
    }

    /// The report of a name that several input ports have; `ports` are the names of each port.
    pub(crate) fn ambiguous_port<'n>(
        &self,
        name: &str,
        span: Span,
        ports: impl Iterator<Item = &'n [Arc<str>]> + Clone,
    ) -> Diagnostic {
        let message = format!("`{name}` is ambiguous: several input ports have this name");
        let finding = Diagnostic::error("ambiguous-port", span, message);
        if !self.is_open(span) {
            return finding;
        }
        match own_names(ports) {
            Some(own) => finding.help(format!("write {}", list_names(&own, " or "))),
            None => finding.help("give each of these ports a name of its own with `as`"),
        }
    }

    /// Adds which port could have been meant: the nearest by any of its names, else all there are.
    pub(crate) fn which_port<'n>(
        &self,
        diagnostic: Diagnostic,
        name: &str,
        ports: impl Iterator<Item = &'n [Arc<str>]> + Clone,
    ) -> Diagnostic {
        if !self.is_open(diagnostic.span) {
            return diagnostic;
        }
        let names = ports.clone().flatten().map(|name| &**name);
        if let Some(near) = nearest(name, names) {
            return diagnostic.help(format!("did you mean `{near}`?"));
        }
        let first: Vec<&str> = ports.filter_map(|names| Some(&**names.first()?)).collect();
        match first[..] {
            [] => diagnostic.help("it has no such port at all"),
            [only] => diagnostic.help(format!("its only one is `{only}`")),
            _ => diagnostic.help(format!("it has {}", list_names(&first, ", "))),
        }
    }
}

/// For each port the first of its names that no other has; `None` if one has none.
fn own_names<'n>(ports: impl Iterator<Item = &'n [Arc<str>]> + Clone) -> Option<Vec<&'n str>> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for name in ports.clone().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let is_own = |name: &&Arc<str>| counts.get(&***name) == Some(&1);
    let mut own = Vec::new();
    for names in ports {
        let name: &str = names.iter().find(is_own)?;
        own.push(name);
    }
    Some(own)
}

/// How many ports a help names.
const PORTS_NAMED_MAX: usize = 8;

/// Names of ports with `between` between them, the first few if there are many.
fn list_names(names: &[&str], between: &str) -> String {
    let few = names.iter().take(PORTS_NAMED_MAX);
    let few: Vec<_> = few.map(|name| format!("`{name}`")).collect();
    let text = few.join(between);
    match names.len() - few.len() {
        0 => text,
        more => format!("{text}{between}one of {more} more"),
    }
}

/// Adds "did you mean ...?" to a diagnostic when some candidate is near.
pub fn did_you_mean<'n>(
    diagnostic: Diagnostic,
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    match nearest(name, candidates) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}
