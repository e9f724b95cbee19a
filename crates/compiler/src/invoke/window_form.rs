//! Checks whether a port takes a window of this form, and the parameter that a partitioned window
//! needs.

use graph::{Policy, PolicyKind, Window, WindowForm, WindowKind};
use syntax::ast::{Expr, PortClause};
use syntax::{Diagnostic, Span};

use super::params;
use super::policy::kind_of;
use crate::instance::InvocationContext;

/// Checks a window against the forms that the port takes.
pub(super) fn fits(
    invocation: &InvocationContext<'_, '_>,
    port: usize,
    window: &Window,
    span: Span,
) -> Option<()> {
    let model = &invocation.inputs[port];
    let forms = model.windows;
    let takes = |form: &WindowForm| {
        form.kind == window.kind
            && (form.evict.is_empty() || form.evict.contains(&kind_of(&window.evict)))
            && (!form.every_tuple || matches!(window.trigger, None | Some(Policy::Count(1))))
    };
    let is_taken = match window.kind {
        WindowKind::TimeInterval => model.allows_time_interval,
        WindowKind::Session => model.allows_session,
        _ => forms.is_empty() || forms.iter().any(takes),
    };
    if is_taken {
        return Some(());
    }
    let message = format!("{} takes no window of this form", invocation.model.name);
    let finding = Diagnostic::error("window-form", span, message);
    let mut words: Vec<_> = forms.iter().map(form_words).collect();
    if forms.is_empty() {
        words.extend(["tumbling window", "sliding window"].map(str::to_owned));
    }
    let over_time = [
        (model.allows_time_interval, "timeInterval window"),
        (model.allows_session, "session window"),
    ];
    let over_time = over_time.iter().filter(|(is_taken, _)| *is_taken);
    words.extend(over_time.map(|(_, form)| (*form).to_owned()));
    invocation
        .session
        .report(finding.help(format!("it takes a {}", words.join(", or a "))));
    None
}

fn form_words(form: &WindowForm) -> String {
    let kind = match form.kind {
        WindowKind::Tumbling => "tumbling window",
        WindowKind::Sliding => "sliding window",
        WindowKind::TimeInterval => "timeInterval window",
        WindowKind::Session => "session window",
    };
    let words: Vec<_> = form.evict.iter().map(|kind| policy_word(*kind)).collect();
    let evict = match &words[..] {
        [] => String::new(),
        words => format!(" with {}", words.join(" or ")),
    };
    let trigger = if form.every_tuple {
        ", triggered by each tuple"
    } else {
        ""
    };
    format!("{kind}{evict}{trigger}")
}

fn policy_word(kind: PolicyKind) -> &'static str {
    match kind {
        PolicyKind::Count => "count",
        PolicyKind::Time => "time",
        PolicyKind::Delta => "delta",
        PolicyKind::Punct => "punct",
        PolicyKind::Interval => "intervalDuration",
        PolicyKind::Session => "gap",
    }
}

/// A partitioned window needs the parameter that partitions it, and the other way round.
pub(super) fn partitioned(
    invocation: &InvocationContext<'_, '_>,
    port: usize,
    window: &Window,
    clause: &PortClause<Vec<Expr>>,
    has_param: bool,
) {
    let Some(param) = invocation.inputs[port].partition_param else {
        if window.partition.is_some() {
            let message = format!("{} has no partitioned windows", invocation.model.name);
            invocation.session.report(Diagnostic::error(
                "partitioned-window",
                clause.span,
                message,
            ));
        }
        return;
    };
    let mut params = invocation.ast.params.iter();
    let written = params.find(|p| params::is_misspelling(invocation, p, param));
    match (&window.partition, written) {
        (Some(_), None) if !invocation.is_incomplete() => {
            let message = format!("a partitioned window needs the parameter `{param}`");
            invocation.session.report(Diagnostic::error(
                "partitioned-window",
                clause.span,
                message,
            ));
        }
        (None, Some(written)) if has_param => {
            let message = format!("`{param}` needs a partitioned window");
            let finding = Diagnostic::error("partitioned-window", written.name.span, message);
            let finding = finding.label(clause.span, "this window is not partitioned");
            invocation
                .session
                .report(finding.help("add `partitioned` to the window"));
        }
        _ => {}
    }
}
