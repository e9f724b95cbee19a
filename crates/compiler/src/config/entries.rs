//! Checks the entries of a config clause, and answers those in force: the operator's own and the
//! inherited ones.

use std::sync::Arc;

use graph::{ConfigEntry, OperatorRole};
use syntax::Diagnostic;
use syntax::ast::{Config, Ident};

use super::clause::{ConfigCheck, ConfigOwner};
use super::{combination, effect, placement};
use crate::Session;
use crate::instance::{InheritedClauses, InvocationContext, LocatedConfigEntry};
use crate::names::{Scope, did_you_mean};

/// Names of all config entries, as SPL lists them; `stateBytesMax` is an extension.
pub const CONFIG_KINDS: [&str; 15] = [
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
    "stateBytesMax",
    "streamViewability",
    "threadedPort",
    "wrapper",
];

/// Config entries that apply to the whole program, and stand in the main composite.
const MAIN_ONLY_KINDS: [&str; 3] = ["applicationScope", "defaultPoolSize", "hostPool"];

/// Config of an operator: its own and what it inherits.
pub(crate) fn operator_config(
    invocation: &InvocationContext<'_, '_>,
    inherited: &InheritedClauses,
) -> Vec<LocatedConfigEntry> {
    if let (OperatorRole::Boundary, Some(first)) =
        (invocation.model.role, invocation.ast.config.first())
    {
        let message = format!("{} takes no config", invocation.model.name);
        let finding = Diagnostic::error("config-not-allowed", first.name.span, message);
        invocation.session.report(finding);
        return Vec::new();
    }
    if invocation.model.role == OperatorRole::Boundary {
        // Imports and exports join by application scope; no other config applies to them.
        let inherited = inherited.config.iter();
        return inherited
            .filter(|e| &*e.name == "applicationScope")
            .cloned()
            .collect();
    }
    let clause = ConfigCheck {
        session: invocation.session,
        scope: &invocation.scope,
        owner: ConfigOwner::Operator,
        operator_scope: Some(&invocation.operator_scope),
    };
    clause.checked_entries(&invocation.ast.config, |own| {
        let mut all = inherited.config.clone();
        all.retain(|entry| !MAIN_ONLY_KINDS.contains(&&*entry.name));
        override_with(&mut all, own);
        all
    })
}

/// Entries of a clause of the main composite that hold for the program and not for its operators.
pub(crate) fn program_config(clauses: &InheritedClauses) -> Vec<ConfigEntry> {
    let all = clauses.config.iter();
    let of_program = all.filter(|entry| MAIN_ONLY_KINDS.contains(&&*entry.name));
    of_program.map(|entry| entry.entry.clone()).collect()
}

/// Config that a composite's definition hands to its operators.
pub(crate) fn composite_config<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    config: &'w [Config],
    is_main: bool,
) -> Vec<LocatedConfigEntry> {
    let owner = if is_main {
        ConfigOwner::Main
    } else {
        ConfigOwner::Composite
    };
    let clause = ConfigCheck {
        session,
        scope,
        owner,
        operator_scope: None,
    };
    clause.checked_entries(config, |own| own)
}

/// Config that the invocation of a composite hands to its operators.
pub(crate) fn invocation_config<'w>(
    session: &Session<'w>,
    scope: &Scope<'w>,
    config: &'w [Config],
) -> Vec<LocatedConfigEntry> {
    composite_config(session, scope, config, false)
}

/// Puts inner entries over outer ones of the same kind. Of placements the inner ones take the place
/// of those with the same subject; an operator that says with whom it shares its process leaves its
/// host to the composite around it.
pub(crate) fn override_with(all: &mut Vec<LocatedConfigEntry>, inner: Vec<LocatedConfigEntry>) {
    for entry in inner {
        if &*entry.name != "placement" {
            all.retain(|outer| outer.name != entry.name);
            all.push(entry);
            continue;
        }
        let values = entry.values.iter();
        let subjects: Vec<_> = values
            .map(|value| placement::placement_subject(value))
            .collect();
        for outer in all.iter_mut().filter(|outer| &*outer.name == "placement") {
            let values = &mut outer.entry.values;
            values.retain(|value| !subjects.contains(&placement::placement_subject(value)));
        }
        all.retain(|outer| &*outer.name != "placement" || !outer.values.is_empty());
        all.push(entry);
    }
}

impl<'w> ConfigCheck<'_, 'w> {
    /// Checks a clause; answers the entries in force, which `in_force` makes of the clause's own
    /// ones. Warnings are reported only if the clause has no errors.
    fn checked_entries(
        &self,
        config: &'w [Config],
        in_force: impl FnOnce(Vec<LocatedConfigEntry>) -> Vec<LocatedConfigEntry>,
    ) -> Vec<LocatedConfigEntry> {
        let errors = self.session.diagnostics.error_count();
        let own = self.entries(config);
        let all = in_force(own.clone());
        combination::check_combinations(self, &all, config);
        if self.session.diagnostics.error_count() == errors {
            effect::warn_ineffective(self, &own, config);
        }
        all
    }

    fn entries(&self, config: &'w [Config]) -> Vec<LocatedConfigEntry> {
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
                entries.push(LocatedConfigEntry {
                    entry,
                    span: name.span,
                });
            }
        }
        entries
    }

    fn is_kind(&self, name: &Ident) -> bool {
        if CONFIG_KINDS.contains(&&*name.text) {
            return true;
        }
        let message = format!("there is no config `{}`", name.text);
        let finding = Diagnostic::error("unknown-config", name.span, message);
        self.session
            .report(did_you_mean(finding, &name.text, CONFIG_KINDS));
        false
    }

    fn may_stand_here(&self, name: &Ident) -> bool {
        let place = match &*name.text {
            name if MAIN_ONLY_KINDS.contains(&name) && self.owner != ConfigOwner::Main => {
                "the config clause of the main composite"
            }
            "threadedPort" if self.owner != ConfigOwner::Operator => {
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
            "stateBytesMax" => one(self.state_bytes_max(config)),
            "streamViewability" => self.viewability(config),
            "threadedPort" => self.threaded_ports(config),
            _ => one(self.word(
                config,
                &["none", "gdb", "nrgdb", "sdb", "valgrind", "console"],
            )),
        }
    }
}
