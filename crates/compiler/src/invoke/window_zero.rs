//! Windows with a zero where it makes no window: one that would fire every 0 seconds or at every
//! 0th tuple is an error, one that keeps nothing is warned of.

use graph::{PartitionEviction, Policy, WindowKind};
use syntax::{Diagnostic, Span};

use crate::instance::InvocationContext;

const TRIGGER_HELP: &str = "`count(1)` fires for each tuple; so does a window without a trigger";

/// Whether a window fires at times that exist; reports if not. Warns of one that keeps nothing.
pub(super) fn verify(
    (invocation, port): (&InvocationContext<'_, '_>, usize),
    kind: WindowKind,
    evict: (&Policy, Span),
    trigger: Option<(&Policy, Span)>,
    eviction: Option<&(PartitionEviction, Span)>,
) -> bool {
    let fires = fires(invocation, kind, evict, trigger);
    if fires {
        warn_if_empty((invocation, port), kind, evict, eviction);
    }
    fires
}

fn fires(
    invocation: &InvocationContext<'_, '_>,
    kind: WindowKind,
    (evict, evict_span): (&Policy, Span),
    trigger: Option<(&Policy, Span)>,
) -> bool {
    let (span, message, help) = match (kind, evict, trigger) {
        (WindowKind::Tumbling, Policy::Time(seconds), _) if *seconds == 0.0 => (
            evict_span,
            "a tumbling window that fires every 0 seconds would do nothing else",
            "write a time above 0, or `count(1)` to fire for each tuple",
        ),
        (WindowKind::Sliding, _, Some((Policy::Time(seconds), span))) if *seconds == 0.0 => (
            span,
            "a window that fires every 0 seconds would do nothing else",
            TRIGGER_HELP,
        ),
        (WindowKind::Sliding, _, Some((Policy::Count(0), span))) => (
            span,
            "a window fires at each tuple, or at every second, third and so on",
            TRIGGER_HELP,
        ),
        _ => return true,
    };
    let finding = Diagnostic::error("window-policy", span, message);
    invocation.session.report(finding.help(help));
    false
}

/// Warns of a window that keeps no tuple, so that it never has a result.
fn warn_if_empty(
    (invocation, port): (&InvocationContext<'_, '_>, usize),
    kind: WindowKind,
    (evict, evict_span): (&Policy, Span),
    eviction: Option<&(PartitionEviction, Span)>,
) {
    // A Join that keeps nothing of a port still joins its tuples as they come.
    let works_when_empty = invocation.inputs[port]
        .windows
        .iter()
        .any(|form| form.every_tuple);
    let (span, message, help) = match (kind, evict, eviction) {
        (WindowKind::Tumbling, Policy::Count(0), _) => (
            evict_span,
            "a tumbling window of `count(0)` keeps no tuple and never fires",
            "the smallest that fires is `count(1)`",
        ),
        (WindowKind::Sliding, Policy::Count(0), _) if !works_when_empty => (
            evict_span,
            "a sliding window of `count(0)` keeps no tuple and never has a result",
            "write how many tuples the window keeps, at least 1",
        ),
        (_, _, Some((PartitionEviction::Count(0), span))) => (
            *span,
            "`partitionCount(0)` evicts each partition at once, so that the window never fires",
            "write how many partitions the window keeps, at least 1",
        ),
        (_, _, Some((PartitionEviction::Tuples(0), span))) => (
            *span,
            "`tupleCount(0)` evicts each tuple's partition at once, so that the window never fires",
            "write how many tuples the partitions keep together, at least 1",
        ),
        _ => return,
    };
    let warning = Diagnostic::warning("window-keeps-nothing", span, message);
    invocation.session.report(warning.help(help));
}
