//! The parts of a window clause, put together in their order.

use graph::{Partition, PartitionEviction, Policy, PolicyKind, Window, WindowKind};
use syntax::ast::{Expr, ExprKind, PortClause};
use syntax::{Diagnostic, Span};

use super::interval::{self, IntervalTimes};
use super::policy::{WindowPolicyReader, kind_of};
use super::window_zero;
use crate::instance::InvocationContext;
use crate::names::nearest;

/// Parts of one window, as far as they have been read.
#[derive(Default)]
pub(super) struct WindowParts {
    kind: Option<(WindowKind, Span)>,
    policies: Vec<(Policy, Span)>,
    times: IntervalTimes,
    partitioned: Option<Span>,
    eviction: Option<(PartitionEviction, Span)>,
}

/// The places of parts in the order that they are written in.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum WindowPartPosition {
    Kind,
    Policy,
    Partitioned,
    Eviction,
}

const PART_WORDS: [&str; 17] = [
    "tumbling",
    "sliding",
    "timeInterval",
    "session",
    "count",
    "time",
    "delta",
    "punct",
    "intervalDuration",
    "creationPeriod",
    "discardAge",
    "intervalOffset",
    "gap",
    "partitioned",
    "partitionAge",
    "partitionCount",
    "tupleCount",
];

impl WindowParts {
    /// Reads the parts of a clause; reports those that are wrong, and warns of the first that
    /// stands too late.
    pub fn read<'w>(
        invocation: &InvocationContext<'_, 'w>,
        port: usize,
        clause: &'w PortClause<Vec<Expr>>,
    ) -> Option<WindowParts> {
        let mut parts = WindowParts::default();
        let mut latest = WindowPartPosition::Kind;
        let (mut is_sound, mut is_told) = (true, false);
        for expr in &clause.body {
            let Some(place) = parts.add(invocation, port, expr) else {
                is_sound = false;
                continue;
            };
            if place < latest && !is_told {
                let message = "this part of the window stands too late";
                let finding = Diagnostic::warning("window-order", expr.span, message);
                let help = "the order is: kind, eviction, trigger, partitioned, its eviction";
                invocation.session.report(finding.help(help));
                is_told = true;
            }
            latest = if place > latest { place } else { latest };
        }
        is_sound.then_some(parts)
    }

    /// Adds one part; `None` if something is wrong with it, which was reported.
    fn add<'w>(
        &mut self,
        invocation: &InvocationContext<'_, 'w>,
        port: usize,
        expr: &'w Expr,
    ) -> Option<WindowPartPosition> {
        let span = expr.span;
        let (word, args) = match &expr.kind {
            ExprKind::Name(name) => (&name.name, None),
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(name) => (&name.name, Some(&args[..])),
                _ => return not_a_part(invocation, span),
            },
            ExprKind::Error => return None,
            _ => return not_a_part(invocation, span),
        };
        let policies = WindowPolicyReader { invocation, port };
        match (&*word.text, args) {
            ("tumbling", None) => self.set_kind(invocation, WindowKind::Tumbling, span),
            ("sliding", None) => self.set_kind(invocation, WindowKind::Sliding, span),
            ("timeInterval", None) => self.set_kind(invocation, WindowKind::TimeInterval, span),
            ("session", None) => self.set_kind(invocation, WindowKind::Session, span),
            ("partitioned", None) => set_once(invocation, &mut self.partitioned, span, word),
            ("count" | "time" | "delta" | "punct", Some(args)) => {
                let policy = policies.policy(&word.text, args, span)?;
                self.policies.push((policy, span));
                Some(WindowPartPosition::Policy)
            }
            (word, Some(args)) if interval::is_time(word) => {
                self.times.read(&policies, word, args, span)?;
                Some(WindowPartPosition::Policy)
            }
            ("partitionAge" | "partitionCount" | "tupleCount", Some(args)) => {
                let eviction = policies.partition_eviction(&word.text, args, span)?;
                if let Some((_, first)) = self.eviction {
                    let message = "a window has one eviction of partitions";
                    let finding = Diagnostic::error("window-parts", span, message);
                    invocation
                        .session
                        .report(finding.label(first, "first here"));
                    return None;
                }
                self.eviction = Some((eviction, span));
                Some(WindowPartPosition::Eviction)
            }
            (text, args) if PART_WORDS.contains(&text) => {
                let message = match args {
                    None if text == "punct" => "write `punct()`: it has no value".to_owned(),
                    None => format!("`{text}` needs its value in parentheses"),
                    Some(_) => format!("`{text}` takes no value"),
                };
                invocation.session.fail("window-parts", span, message)
            }
            (text, _) => {
                let message = format!("`{text}` is not a part of a window");
                let finding = Diagnostic::error("unknown-window-part", word.span, message);
                let finding = match nearest(text, PART_WORDS.iter().copied()) {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None => finding.help(EXAMPLE),
                };
                invocation.session.report(finding);
                None
            }
        }
    }

    fn set_kind(
        &mut self,
        invocation: &InvocationContext<'_, '_>,
        kind: WindowKind,
        span: Span,
    ) -> Option<WindowPartPosition> {
        if let Some((_, first)) = self.kind {
            let message = "a window is tumbling, sliding, timeInterval or session: one of them";
            let finding = Diagnostic::error("window-parts", span, message);
            invocation.session.report(finding.label(first, "said here"));
            return None;
        }
        self.kind = Some((kind, span));
        Some(WindowPartPosition::Kind)
    }

    /// The window that the parts make; reports what is missing or too much.
    pub fn window(
        self,
        invocation: &InvocationContext<'_, '_>,
        port: usize,
        clause: &PortClause<Vec<Expr>>,
    ) -> Option<Window> {
        let fail = |span, message: &str| invocation.session.fail("window-parts", span, message);
        let Some((kind, kind_span)) = self.kind else {
            return fail(
                clause.port.span,
                "a window begins with `tumbling`, `sliding`, `timeInterval` or `session`",
            );
        };
        if matches!(kind, WindowKind::TimeInterval | WindowKind::Session) {
            return self.over_event_time(invocation, clause, (kind, kind_span));
        }
        if let Some((word, span)) = self.times.first() {
            return interval::misplaced(invocation, word, span);
        }
        let mut policies = self.policies.into_iter();
        let Some((evict, evict_span)) = policies.next() else {
            let message = "a window needs an eviction: `count`, `time`, `delta` or `punct`";
            return fail(kind_span, message);
        };
        let trigger = policies.next();
        if let Some((_, third)) = policies.next() {
            return fail(third, "a window has at most an eviction and a trigger");
        }
        let given = trigger.as_ref().map(|(policy, span)| (policy, *span));
        let eviction = self.eviction.as_ref();
        if !window_zero::verify(
            (invocation, port),
            kind,
            (&evict, evict_span),
            given,
            eviction,
        ) {
            return None;
        }
        let trigger = match (kind, trigger) {
            (WindowKind::Tumbling, Some((_, span))) => {
                return fail(
                    span,
                    "a tumbling window has no trigger: it fires when it is full",
                );
            }
            (WindowKind::Tumbling | WindowKind::TimeInterval | WindowKind::Session, _) => None,
            (WindowKind::Sliding, _) if kind_of(&evict) == PolicyKind::Punct => {
                return fail(evict_span, "`punct()` is for tumbling windows");
            }
            (WindowKind::Sliding, Some((Policy::Punct, span))) => {
                return fail(span, "`punct()` is for tumbling windows");
            }
            (WindowKind::Sliding, given) => Some(given.map_or(Policy::Count(1), |(p, _)| p)),
        };
        if let (None, Some((_, span))) = (self.partitioned, &self.eviction) {
            return unpartitioned_eviction(invocation, *span);
        }
        let evict_partition = self.eviction.map(|(eviction, _)| eviction);
        let partition = self.partitioned.map(|_| Partition {
            evict: evict_partition,
        });
        Some(Window {
            kind,
            evict,
            trigger,
            partition,
            pos: invocation.session.pos(clause.span),
        })
    }
}

impl WindowParts {
    /// Reads the parts of a window over event time.
    fn over_event_time(
        self,
        invocation: &InvocationContext<'_, '_>,
        clause: &PortClause<Vec<Expr>>,
        (kind, kind_span): (WindowKind, Span),
    ) -> Option<Window> {
        let fail = |span, message: &str| invocation.session.fail("window-parts", span, message);
        let (word, fired) = match kind {
            WindowKind::Session => ("session", "sessions"),
            _ => ("timeInterval", "panes"),
        };
        if let Some((_, span)) = self.policies.first() {
            let message = format!(
                "a {word} window has no eviction and no trigger: the watermark fires its {fired}"
            );
            return fail(*span, &message);
        }
        if let Some((_, span)) = self.eviction {
            let message = format!("the partitions of a {word} window are not evicted");
            return fail(span, &message);
        }
        let evict = match kind {
            WindowKind::Session => Policy::Session(self.times.session(invocation, kind_span)?),
            _ => Policy::Interval(self.times.interval(invocation, kind_span)?),
        };
        Some(Window {
            kind,
            evict,
            trigger: None,
            partition: self.partitioned.map(|_| Partition { evict: None }),
            pos: invocation.session.pos(clause.span),
        })
    }
}

fn set_once(
    invocation: &InvocationContext<'_, '_>,
    slot: &mut Option<Span>,
    span: Span,
    word: &syntax::ast::Ident,
) -> Option<WindowPartPosition> {
    if let Some(first) = slot.replace(span) {
        let message = format!("`{}` is said twice", word.text);
        let finding = Diagnostic::error("window-parts", span, message);
        invocation
            .session
            .report(finding.label(first, "first here"));
        return None;
    }
    Some(WindowPartPosition::Partitioned)
}

fn unpartitioned_eviction<T>(invocation: &InvocationContext<'_, '_>, span: Span) -> Option<T> {
    let message = "only the partitions of a partitioned window can be evicted";
    let finding = Diagnostic::error("partition-eviction", span, message);
    let finding = finding.help("write `partitioned` before it");
    invocation.session.report(finding);
    None
}

fn not_a_part<T>(invocation: &InvocationContext<'_, '_>, span: Span) -> Option<T> {
    let message = "this is not a part of a window";
    let finding = Diagnostic::error("unknown-window-part", span, message);
    invocation.session.report(finding.help(EXAMPLE));
    None
}

const EXAMPLE: &str = "an example: `sliding, count(10), count(1), partitioned`";
