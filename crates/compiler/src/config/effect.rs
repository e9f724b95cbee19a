//! Warnings of config entries that are correct and have no effect in this engine.
//!
//! Such an entry asks for a service of a Streams instance that watches over its jobs.
//! Entries that ask for nothing (`restartable : false`, `wrapper : none`) hold as they are.

use graph::ConfigEntry;
use syntax::Diagnostic;
use syntax::ast::Config;

use super::clause::ConfigCheck;
use crate::instance::LocatedConfigEntry;

/// Warns of the entries of `own` without effect; `entries` are those of them that have a value.
pub(super) fn warn_ineffective(
    clause: &ConfigCheck<'_, '_>,
    entries: &[LocatedConfigEntry],
    own: &[Config],
) {
    for entry in entries {
        let Some((why, help)) = missing_effect(entry) else {
            continue;
        };
        let written = own.iter().find(|config| config.name.text == entry.name);
        if let Some(config) = written {
            let message = format!("config `{}` {why}", entry.name);
            let finding = Diagnostic::warning("config-without-effect", config.span, message);
            clause.session.report(finding.help(help));
        }
    }
}

/// The effect that an entry does not have, as a sentence's end, and what can be done instead.
fn missing_effect(entry: &ConfigEntry) -> Option<(&'static str, &'static str)> {
    let says = |text: &str| entry.values.iter().any(|value| &**value == text);
    Some(match &*entry.name {
        "restartable" if says("true") => (
            "restarts nothing: a process that fails ends its job",
            "run the job again yourself. With `--fuse spl`, `restartable` only keeps operators with \
             different values in different processes.",
        ),
        "relocatable" if says("true") => (
            "moves nothing: a process stays on the host that it was started on",
            "a plan says on which: `host` in the file of `--fuse`",
        ),
        "checkpoint" => (
            "saves nothing: the state of operators is lost with their process",
            "write to a file what a later run needs, and read it there",
        ),
        "wrapper" if !says("none") => (
            "starts nothing: processes run without a wrapper",
            "attach the debugger to the process of the PE, which `ps` shows",
        ),
        _ => return None,
    })
}
