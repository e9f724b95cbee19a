//! Config clauses: the fourteen kinds, where each may stand and what it may say.
//!
//! Config of a composite holds for all operators that it expands to; the innermost wins. What
//! concerns the ports of one operator (`threadedPort`, `viewable`) is its own.

mod check;
mod effect;
mod hosts;
mod placement;
mod ports;
mod text;

use std::rc::Rc;
use std::sync::Arc;

use graph::{ConfigEntry, Role};
use syntax::ast::{Config, Ident};
use syntax::{Diagnostic, Span};

use crate::Session;
use crate::expand::Inherited;
use crate::invoke::Work;
use crate::names::{OperatorFrame, Scope, did_you_mean};

/// All kinds.
const KINDS: [&str; 14] = [
    "applicationScope",
    "checkpoint",
    "defaultPoolSize",
    "hostPool",
    "inputTransport",
    "outputTransport",
    "logLevel",
    "tracing",
    "placement",
    "relocatable",
    "restartable",
    "streamViewability",
    "threadedPort",
    "wrapper",
];

/// The kinds that say something of the whole program.
const OF_MAIN: [&str; 3] = ["applicationScope", "defaultPoolSize", "hostPool"];

/// Where a config clause stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// In the definition of the main composite.
    Main,
    /// In the definition of another composite, or in the invocation of one.
    Composite,
    /// In the invocation of a primitive operator.
    Operator,
}

/// A config entry, and its name in the program.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// What the graph keeps.
    pub entry: ConfigEntry,
    /// Where its name stands.
    pub span: Span,
}

impl std::ops::Deref for Entry {
    type Target = ConfigEntry;

    fn deref(&self) -> &ConfigEntry {
        &self.entry
    }
}

/// A config clause under check.
struct Clause<'a, 'w> {
    session: &'a Session<'w>,
    scope: &'a Scope<'w>,
    home: Home,
    /// The ports that it may name.
    frame: Option<&'a Rc<OperatorFrame>>,
}

/// Config of an operator: its own and what it inherits.
pub(crate) fn of_operator(work: &Work<'_, '_>, inherited: &Inherited) -> Vec<Entry> {
    if let (Role::Boundary, Some(first)) = (work.model.role, work.ast.config.first()) {
        let message = format!("{} takes no config", work.model.name);
        let finding = Diagnostic::error("config-not-allowed", first.name.span, message);
        work.session.report(finding);
        return Vec::new();
    }
    if work.model.role == Role::Boundary {
        // Streams join by the scope of their applications; nothing else concerns them.
        let inherited = inherited.config.iter();
        return inherited
            .filter(|e| &*e.name == "applicationScope")
            .cloned()
            .collect();
    }
    let clause = Clause {
        session: work.session,
        scope: &work.scope,
        home: Home::Operator,
        frame: Some(&work.frame),
    };
    clause.checked(&work.ast.config, |own| {
        let mut all = inherited.config.clone();
        all.retain(|entry| !OF_MAIN.contains(&&*entry.name));
        override_with(&mut all, own);
        all
    })
}

/// Config that a composite's definition hands to its operators.
pub(crate) fn of_composite<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    config: &'w [Config],
    is_main: bool,
) -> Vec<Entry> {
    let home = if is_main { Home::Main } else { Home::Composite };
    let clause = Clause {
        session,
        scope,
        home,
        frame: None,
    };
    clause.checked(config, |own| own)
}

/// Config that the invocation of a composite hands to its operators.
pub(crate) fn of_invocation<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    config: &'w [Config],
) -> Vec<Entry> {
    of_composite(session, scope, config, false)
}

/// Puts inner entries over outer ones of the same kind; placements of different sorts add up.
pub(crate) fn override_with(all: &mut Vec<Entry>, inner: Vec<Entry>) {
    for entry in inner {
        if &*entry.name != "placement" {
            all.retain(|outer| outer.name != entry.name);
            all.push(entry);
            continue;
        }
        let sorts: Vec<_> = entry.values.iter().map(|v| placement::sort(v)).collect();
        for outer in all.iter_mut().filter(|outer| &*outer.name == "placement") {
            let values = &mut outer.entry.values;
            values.retain(|value| !sorts.contains(&placement::sort(value)));
        }
        all.retain(|outer| &*outer.name != "placement" || !outer.values.is_empty());
        all.push(entry);
    }
}

impl<'w> Clause<'_, 'w> {
    /// What is in force, by `in_force` from the clause's own entries. Warnings come only where there is
    /// nothing worse to say.
    fn checked(
        &self,
        config: &'w [Config],
        in_force: impl FnOnce(Vec<Entry>) -> Vec<Entry>,
    ) -> Vec<Entry> {
        let errors = self.session.diagnostics.error_count();
        let own = self.entries(config);
        let all = in_force(own.clone());
        check::together(self, &all, config);
        if self.session.diagnostics.error_count() == errors {
            effect::warn(self, &own, config);
        }
        all
    }

    fn entries(&self, config: &'w [Config]) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(config.len());
        for (at, one) in config.iter().enumerate() {
            let name = &one.name;
            if !self.is_kind(name) || !self.may_stand_here(name) {
                continue;
            }
            if let Some(first) = config[..at].iter().find(|c| c.name.text == name.text) {
                let message = format!("config `{}` is given twice", name.text);
                let finding = Diagnostic::error("duplicate-config", name.span, message);
                self.session
                    .report(finding.label(first.name.span, "first here"));
                continue;
            }
            if let Some(values) = self.values(one) {
                let pos = self.session.pos(one.span);
                let entry = ConfigEntry {
                    name: name.text.clone(),
                    values,
                    pos,
                };
                entries.push(Entry {
                    entry,
                    span: name.span,
                });
            }
        }
        entries
    }

    fn is_kind(&self, name: &Ident) -> bool {
        if KINDS.contains(&&*name.text) {
            return true;
        }
        let message = format!("there is no config `{}`", name.text);
        let finding = Diagnostic::error("unknown-config", name.span, message);
        self.session
            .report(did_you_mean(finding, &name.text, KINDS));
        false
    }

    fn may_stand_here(&self, name: &Ident) -> bool {
        let place = match &*name.text {
            name if OF_MAIN.contains(&name) && self.home != Home::Main => {
                "the config clause of the main composite"
            }
            "threadedPort" if self.home != Home::Operator => {
                "the invocation of a primitive operator"
            }
            _ => return true,
        };
        let message = format!("config `{}` belongs in {place}", name.text);
        self.session
            .report(Diagnostic::error("misplaced-config", name.span, message));
        false
    }

    /// The values of an entry as text; reports what is wrong with them.
    fn values(&self, config: &'w Config) -> Option<Vec<Arc<str>>> {
        let one = |text: Option<String>| Some(vec![text?.into()]);
        match &*config.name.text {
            "applicationScope" => one(self.string(config)),
            "checkpoint" => one(self.checkpoint(config)),
            "defaultPoolSize" => one(self.pool_size(config)),
            "hostPool" => self.host_pools(config),
            "inputTransport" | "outputTransport" => one(self.transport(config)),
            "logLevel" => one(self.word(config, &["error", "info", "debug", "trace"])),
            "tracing" => {
                one(self.word(config, &["off", "error", "warn", "info", "debug", "trace"]))
            }
            "placement" => self.placements(config),
            "relocatable" | "restartable" => one(self.boolean(config)),
            "streamViewability" => self.viewability(config),
            "threadedPort" => self.threaded_ports(config),
            _ => one(self.word(
                config,
                &["none", "gdb", "nrgdb", "sdb", "valgrind", "console"],
            )),
        }
    }
}
