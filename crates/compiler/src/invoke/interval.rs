//! The times of windows over event time.
//!
//! ```text
//!   window In : timeInterval, intervalDuration(10.0), creationPeriod(5.0), discardAge(30.0),
//!               intervalOffset(2.0) ;
//!   window In : session, gap(10.0), discardAge(30.0) ;
//! ```
//! All times are seconds. Their order is free, and only `intervalDuration` and `gap` are required.

use graph::{SessionGap, TimeInterval};
use syntax::ast::Expr;
use syntax::{Diagnostic, Span};
use tuple::Resolution;

use super::policy::WindowPolicyReader;
use crate::instance::InvocationContext;

/// Words for times in a window clause.
const TIME_WORDS: [&str; 5] = [
    "intervalDuration",
    "creationPeriod",
    "discardAge",
    "intervalOffset",
    "gap",
];

/// Number of panes that may hold one tuple: more would make each tuple as costly as 65,536 copies.
const PANES_MAX: i128 = 1 << 16;

/// Times in years do not fit into the nanoseconds of a timestamp beyond this.
const SECONDS_MAX: f64 = 9.0e9;

/// Whether a word is that of such a time.
pub(super) fn is_time(word: &str) -> bool {
    TIME_WORDS.contains(&word)
}

/// Whether a time of this word has to be above zero.
pub(super) fn is_above_zero(word: &str) -> bool {
    matches!(word, "intervalDuration" | "creationPeriod" | "gap")
}

/// The kinds of window that a word is for.
fn kinds_with(word: &str) -> &'static str {
    match word {
        "gap" => "session windows",
        "discardAge" => "timeInterval and session windows",
        _ => "timeInterval windows",
    }
}

/// Times of one window, in nanoseconds, as far as they have been read.
#[derive(Default)]
pub(super) struct IntervalTimes {
    values: [Option<(i128, Span)>; TIME_WORDS.len()],
}

impl IntervalTimes {
    /// Reads one; `None` if something is wrong with it, which was reported.
    pub fn read<'w>(
        &mut self,
        policies: &WindowPolicyReader<'_, '_, 'w>,
        word: &str,
        args: &'w [Expr],
        span: Span,
    ) -> Option<()> {
        let session = policies.invocation.session;
        let [value] = args else {
            return session.fail("window-policy", span, format!("`{word}` takes one value"));
        };
        let seconds = policies.seconds(word, value, false)?;
        if seconds > SECONDS_MAX {
            let message = format!("`{word}` takes {SECONDS_MAX:e} seconds at most");
            return session.fail("window-policy", value.span, message);
        }
        let at = TIME_WORDS.iter().position(|known| *known == word)?;
        if let Some((_, first)) = self.values[at].replace(((seconds * 1e9).round() as i128, span)) {
            let finding =
                Diagnostic::error("window-parts", span, format!("`{word}` is said twice"));
            session.report(finding.label(first, "first here"));
            return None;
        }
        Some(())
    }

    /// One of those that were given.
    pub fn first(&self) -> Option<(&'static str, Span)> {
        let mut given = TIME_WORDS.iter().zip(&self.values);
        given.find_map(|(word, given)| Some((*word, given.as_ref()?.1)))
    }

    /// The panes that they make; reports what is missing, or does not go together. The attribute is
    /// known when the operators are joined.
    pub fn interval(
        self,
        invocation: &InvocationContext<'_, '_>,
        kind: Span,
    ) -> Option<TimeInterval> {
        let fail = |span, message: &str| invocation.session.fail("window-policy", span, message);
        let [duration, period, discard, offset, gap] = self.values;
        if let Some((_, span)) = gap {
            return misplaced(invocation, "gap", span);
        }
        let Some((duration_ns, duration_span)) = duration else {
            let message = "a timeInterval window needs its `intervalDuration`";
            let finding = Diagnostic::error("window-parts", kind, message);
            let help = "write `timeInterval, intervalDuration(10.0)` for instance: seconds";
            invocation.session.report(finding.help(help));
            return None;
        };
        let (period_ns, period_span) = period.unwrap_or((duration_ns, duration_span));
        for (word, ns, span) in [
            (TIME_WORDS[0], duration_ns, duration_span),
            (TIME_WORDS[1], period_ns, period_span),
        ] {
            if ns == 0 {
                return too_short(invocation, word, span);
            }
        }
        if duration_ns / period_ns > PANES_MAX {
            let message = format!(
                "a tuple would be in {} panes, {PANES_MAX} are the most",
                duration_ns / period_ns
            );
            return fail(period_span, &message);
        }
        let offset_ns = offset.map_or(0, |(ns, _)| ns);
        if let Some((_, span)) = offset.filter(|_| offset_ns >= duration_ns) {
            return fail(
                span,
                "`intervalOffset` has to be less than `intervalDuration`",
            );
        }
        Some(TimeInterval {
            duration_ns,
            period_ns,
            offset_ns,
            discard_ns: discard.map_or(0, |(ns, _)| ns),
            attribute: 0,
            resolution: Resolution::default(),
        })
    }

    /// The sessions that they make; reports what is missing, or is for another kind of window. The
    /// attribute is known when the operators are joined.
    pub fn session(self, invocation: &InvocationContext<'_, '_>, kind: Span) -> Option<SessionGap> {
        let [duration, period, discard, offset, gap] = self.values;
        for (word, given) in TIME_WORDS.into_iter().zip([duration, period, None, offset]) {
            if let Some((_, span)) = given {
                return misplaced(invocation, word, span);
            }
        }
        let Some((gap_ns, gap_span)) = gap else {
            let message = "a session window needs its `gap`";
            let finding = Diagnostic::error("window-parts", kind, message);
            let help = "write `session, gap(30.0)` for instance: seconds without a tuple, after \
                        which a session ends";
            invocation.session.report(finding.help(help));
            return None;
        };
        if gap_ns == 0 {
            return too_short(invocation, "gap", gap_span);
        }
        Some(SessionGap {
            gap_ns,
            discard_ns: discard.map_or(0, |(ns, _)| ns),
            attribute: 0,
            resolution: Resolution::default(),
        })
    }
}

/// Reports a time that is for other windows.
pub(super) fn misplaced<T>(
    invocation: &InvocationContext<'_, '_>,
    word: &str,
    span: Span,
) -> Option<T> {
    let message = format!("`{word}` is for {}", kinds_with(word));
    invocation.session.fail("window-parts", span, message)
}

fn too_short<T>(invocation: &InvocationContext<'_, '_>, word: &str, span: Span) -> Option<T> {
    let message = format!("`{word}` has to be above 0, by a nanosecond at least");
    invocation.session.fail("window-policy", span, message)
}
