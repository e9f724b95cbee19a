//! Config entries that exclude or need each other.

use syntax::Diagnostic;
use syntax::ast::Config;

use super::clause::ConfigCheck;
use crate::instance::LocatedConfigEntry;

/// Checks what is in force together; the finding goes to an entry of `own` that takes part.
pub(super) fn check_combinations(
    clause: &ConfigCheck<'_, '_>,
    all: &[LocatedConfigEntry],
    own: &[Config],
) {
    let value = |name: &str| {
        let entry = all.iter().find(|entry| &*entry.name == name)?;
        entry.values.first().map(|v| &**v)
    };
    let own = |name: &str| own.iter().find(|config| &*config.name.text == name);
    let report = |names: [&str; 2], message: &str, help: &str| {
        if let Some(config) = names.into_iter().find_map(own) {
            let finding = Diagnostic::error("config-conflict", config.span, message);
            clause.session.report(finding.help(help));
        }
    };
    if value("relocatable") == Some("true") && value("restartable") == Some("false") {
        report(
            ["relocatable", "restartable"],
            "what can be relocated can be restarted",
            "set `restartable : true`, or leave it out",
        );
    }
    if value("checkpoint").is_some() && value("restartable") != Some("true") {
        report(
            ["checkpoint", "restartable"],
            "a checkpoint is of use only where the process can be restarted",
            "add `restartable : true;`",
        );
    }
}
