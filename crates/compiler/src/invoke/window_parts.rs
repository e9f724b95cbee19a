//! The parts of a window clause, put together in their order.

use graph::{Partition, PartitionEviction, Policy, PolicyKind, Window, WindowKind};
use syntax::ast::{Expr, ExprKind, PortClause};
use syntax::{Diagnostic, Span};

use super::Work;
use super::interval::{self, Times};
use super::policy::{Policies, kind_of};
use crate::names::nearest;

/// The parts of a window clause as they were met.
#[derive(Default)]
pub(super) struct Parts {
    kind: Option<(WindowKind, Span)>,
    policies: Vec<(Policy, Span)>,
    times: Times,
    partitioned: Option<Span>,
    eviction: Option<(PartitionEviction, Span)>,
}

/// The places of parts in the order that they are written in.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    Kind,
    Policy,
    Partitioned,
    Eviction,
}

const WORDS: [&str; 15] = [
    "tumbling",
    "sliding",
    "timeInterval",
    "count",
    "time",
    "delta",
    "punct",
    "intervalDuration",
    "creationPeriod",
    "discardAge",
    "intervalOffset",
    "partitioned",
    "partitionAge",
    "partitionCount",
    "tupleCount",
];

impl Parts {
    /// Reads the parts of a clause; reports those that are wrong, and warns of the first that stands
    /// too late.
    pub fn read<'w>(
        work: &Work<'_, 'w>,
        port: usize,
        clause: &'w PortClause<Vec<Expr>>,
    ) -> Option<Parts> {
        let mut parts = Parts::default();
        let mut latest = Place::Kind;
        let (mut is_sound, mut is_told) = (true, false);
        for expr in &clause.body {
            let Some(place) = parts.add(work, port, expr) else {
                is_sound = false;
                continue;
            };
            if place < latest && !is_told {
                let message = "this part of the window stands too late";
                let finding = Diagnostic::warning("window-order", expr.span, message);
                let help = "the order is: kind, eviction, trigger, partitioned, its eviction";
                work.session.report(finding.help(help));
                is_told = true;
            }
            latest = if place > latest { place } else { latest };
        }
        is_sound.then_some(parts)
    }

    /// Adds one part; `None` if something is wrong with it, which was reported.
    fn add<'w>(&mut self, work: &Work<'_, 'w>, port: usize, expr: &'w Expr) -> Option<Place> {
        let span = expr.span;
        let (word, args) = match &expr.kind {
            ExprKind::Name(name) => (&name.name, None),
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(name) => (&name.name, Some(&args[..])),
                _ => return not_a_part(work, span),
            },
            ExprKind::Error => return None,
            _ => return not_a_part(work, span),
        };
        let policies = Policies { work, port };
        match (&*word.text, args) {
            ("tumbling", None) => self.set_kind(work, WindowKind::Tumbling, span),
            ("sliding", None) => self.set_kind(work, WindowKind::Sliding, span),
            ("timeInterval", None) => self.set_kind(work, WindowKind::TimeInterval, span),
            ("partitioned", None) => once(work, &mut self.partitioned, span, word),
            ("count" | "time" | "delta" | "punct", Some(args)) => {
                let policy = policies.policy(&word.text, args, span)?;
                self.policies.push((policy, span));
                Some(Place::Policy)
            }
            (word, Some(args)) if interval::is_time(word) => {
                self.times.read(&policies, word, args, span)?;
                Some(Place::Policy)
            }
            ("partitionAge" | "partitionCount" | "tupleCount", Some(args)) => {
                let eviction = policies.partition_eviction(&word.text, args, span)?;
                if let Some((_, first)) = self.eviction {
                    let message = "a window has one eviction of partitions";
                    let finding = Diagnostic::error("window-parts", span, message);
                    work.session.report(finding.label(first, "first here"));
                    return None;
                }
                self.eviction = Some((eviction, span));
                Some(Place::Eviction)
            }
            (text, args) if WORDS.contains(&text) => {
                let message = match args {
                    None => format!("`{text}` needs its value in parentheses"),
                    Some(_) => format!("`{text}` takes no value"),
                };
                work.session.fail("window-parts", span, message)
            }
            (text, _) => {
                let message = format!("`{text}` is not a part of a window");
                let finding = Diagnostic::error("unknown-window-part", word.span, message);
                let finding = match nearest(text, WORDS.iter().copied()) {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None => finding.help(EXAMPLE),
                };
                work.session.report(finding);
                None
            }
        }
    }

    fn set_kind(&mut self, work: &Work<'_, '_>, kind: WindowKind, span: Span) -> Option<Place> {
        if let Some((_, first)) = self.kind {
            let message = "a window is tumbling, sliding or timeInterval: one of them";
            let finding = Diagnostic::error("window-parts", span, message);
            work.session.report(finding.label(first, "said here"));
            return None;
        }
        self.kind = Some((kind, span));
        Some(Place::Kind)
    }

    /// The window that the parts make; reports what is missing or too much.
    pub fn window(self, work: &Work<'_, '_>, clause: &PortClause<Vec<Expr>>) -> Option<Window> {
        let fail = |span, message: &str| work.session.fail("window-parts", span, message);
        let Some((kind, kind_span)) = self.kind else {
            return fail(
                clause.port.span,
                "a window begins with `tumbling`, `sliding` or `timeInterval`",
            );
        };
        if kind == WindowKind::TimeInterval {
            return self.time_interval(work, clause, kind_span);
        }
        if let Some((word, span)) = self.times.first() {
            let message = format!("`{word}` is for timeInterval windows");
            return fail(span, &message);
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
        let trigger = match (kind, trigger) {
            (WindowKind::Tumbling, Some((_, span))) => {
                return fail(
                    span,
                    "a tumbling window has no trigger: it fires when it is full",
                );
            }
            (WindowKind::Tumbling | WindowKind::TimeInterval, _) => None,
            (WindowKind::Sliding, _) if kind_of(&evict) == PolicyKind::Punct => {
                return fail(evict_span, "`punct()` is for tumbling windows");
            }
            (WindowKind::Sliding, Some((Policy::Punct, span))) => {
                return fail(span, "`punct()` is for tumbling windows");
            }
            (WindowKind::Sliding, given) => Some(given.map_or(Policy::Count(1), |(p, _)| p)),
        };
        if let (None, Some((_, span))) = (self.partitioned, &self.eviction) {
            let finding = Diagnostic::error(
                "partition-eviction",
                *span,
                "only the partitions of a partitioned window can be evicted",
            );
            work.session
                .report(finding.help("write `partitioned` before it"));
            return None;
        }
        let evict_partition = self.eviction.map(|(eviction, _)| eviction);
        let partition = self.partitioned.map(|_| Partition {
            evict: evict_partition,
        });
        let pos = work.session.pos(clause.span);
        Some(Window {
            kind,
            evict,
            trigger,
            partition,
            pos,
        })
    }
}

impl Parts {
    /// The same of a window over event time.
    fn time_interval(
        self,
        work: &Work<'_, '_>,
        clause: &PortClause<Vec<Expr>>,
        kind: Span,
    ) -> Option<Window> {
        let fail = |span, message: &str| work.session.fail("window-parts", span, message);
        if let Some((_, span)) = self.policies.first() {
            let message = "a timeInterval window has no eviction and no trigger: the watermark fires \
                           its panes";
            return fail(*span, message);
        }
        if let Some((_, span)) = self.eviction {
            return fail(
                span,
                "the partitions of a timeInterval window are not evicted",
            );
        }
        let interval = self.times.interval(work, kind)?;
        Some(Window {
            kind: WindowKind::TimeInterval,
            evict: Policy::Interval(interval),
            trigger: None,
            partition: self.partitioned.map(|_| Partition { evict: None }),
            pos: work.session.pos(clause.span),
        })
    }
}

fn once(
    work: &Work<'_, '_>,
    slot: &mut Option<Span>,
    span: Span,
    word: &syntax::ast::Ident,
) -> Option<Place> {
    if let Some(first) = slot.replace(span) {
        let message = format!("`{}` is said twice", word.text);
        let finding = Diagnostic::error("window-parts", span, message);
        work.session.report(finding.label(first, "first here"));
        return None;
    }
    Some(Place::Partitioned)
}

fn not_a_part<T>(work: &Work<'_, '_>, span: Span) -> Option<T> {
    let message = "this is not a part of a window";
    let finding = Diagnostic::error("unknown-window-part", span, message);
    work.session.report(finding.help(EXAMPLE));
    None
}

const EXAMPLE: &str = "an example: `sliding, count(10), count(1), partitioned`";
