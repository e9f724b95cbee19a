//! The window clause: its parts in their order, held against what the port takes.
//!
//! ```text
//!   window In : sliding, count(10), count(1), partitioned, partitionAge(60.0) ;
//!               kind     eviction   trigger   partition    its eviction
//! ```

use graph::{Param, Partition, PartitionEviction, Policy, PolicyKind, Window};
use graph::{WindowForm, WindowKind, Windowing};
use syntax::ast::{Expr, ExprKind, PortClause};
use syntax::{Diagnostic, Span};

use super::policy::{Policies, kind_of};
use super::{Work, logic};
use crate::names::did_you_mean;

/// The window of each input port with its place.
pub(super) fn windows(work: &Work<'_, '_>, params: &[Param]) -> Vec<Option<(Window, Span)>> {
    let mut clauses: Vec<Option<&PortClause<Vec<Expr>>>> = vec![None; work.inputs.len()];
    for clause in &work.ast.windows {
        let Some(port) = logic::input(work, &clause.port) else {
            continue;
        };
        match clauses[port] {
            Some(first) => {
                let message = format!("input port `{}` has two windows", clause.port.text);
                let finding = Diagnostic::error("duplicate-window", clause.port.span, message);
                work.session
                    .report(finding.label(first.port.span, "first here"));
            }
            None => clauses[port] = Some(clause),
        }
    }
    let ports = clauses.into_iter().enumerate();
    ports
        .map(|(port, clause)| window(work, port, clause, params))
        .collect()
}

fn window<'w>(
    work: &Work<'_, 'w>,
    port: usize,
    clause: Option<&'w PortClause<Vec<Expr>>>,
    params: &[Param],
) -> Option<(Window, Span)> {
    let (model, name) = (work.inputs[port], work.model.name);
    let input = &work.frame.inputs[port];
    let Some(clause) = clause else {
        let is_elsewhere = work
            .ast
            .windows
            .iter()
            .any(|w| work.frame.input(&w.port.text).is_none());
        if model.window == Windowing::Windowed && !is_elsewhere {
            let message = format!("{name} needs a window on input port `{}`", input.name);
            let finding = Diagnostic::error("missing-window", work.ast.head, message);
            let help = format!(
                "write `window {} : tumbling, count(10);` for instance",
                input.name
            );
            let sliding = !model.windows.is_empty()
                && model
                    .windows
                    .iter()
                    .all(|form| form.kind == WindowKind::Sliding);
            let help = if sliding {
                help.replace("tumbling", "sliding")
            } else {
                help
            };
            work.session.report(finding.help(help));
        }
        return None;
    };
    if model.window == Windowing::NonWindowed {
        let message = format!("{name} takes no window on input port `{}`", input.name);
        return work
            .session
            .fail("window-not-allowed", clause.port.span, message);
    }
    let parts = Parts::read(work, port, clause)?;
    let window = parts.window(work, clause)?;
    fits(work, port, &window, clause.span)?;
    let has_param = model
        .partition_param
        .is_some_and(|p| params.iter().any(|q| &*q.name == p));
    partitioned(work, port, &window, clause, has_param);
    Some((window, clause.span))
}

/// The parts of a window clause as they were met.
#[derive(Default)]
struct Parts {
    kind: Option<(WindowKind, Span)>,
    policies: Vec<(Policy, Span)>,
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

const WORDS: [&str; 11] = [
    "tumbling",
    "sliding",
    "timeInterval",
    "count",
    "time",
    "delta",
    "punct",
    "partitioned",
    "partitionAge",
    "partitionCount",
    "tupleCount",
];

impl Parts {
    fn read<'w>(
        work: &Work<'_, 'w>,
        port: usize,
        clause: &'w PortClause<Vec<Expr>>,
    ) -> Option<Parts> {
        let mut parts = Parts::default();
        let mut latest = Place::Kind;
        let mut is_sound = true;
        for expr in &clause.body {
            let Some(place) = parts.add(work, port, expr) else {
                if is_time_interval(expr) {
                    return None;
                }
                is_sound = false;
                continue;
            };
            if place < latest && !work.session.options.any_window_order {
                let message = "this part of the window stands too late";
                let finding = Diagnostic::error("window-order", expr.span, message);
                let help = "the order is: kind, eviction, trigger, partitioned, its eviction";
                work.session.report(finding.help(help));
                is_sound = false;
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
            ("timeInterval", None) => {
                let message = "windows over event time are not available yet";
                let finding = Diagnostic::error("event-time-window", span, message);
                work.session
                    .report(finding.help("use a tumbling or sliding window"));
                None
            }
            ("partitioned", None) => once(work, &mut self.partitioned, span, word),
            ("count" | "time" | "delta" | "punct", Some(args)) => {
                let policy = policies.policy(&word.text, args, span)?;
                self.policies.push((policy, span));
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
                work.session.report(did_you_mean(finding, text, WORDS));
                None
            }
        }
    }

    fn set_kind(&mut self, work: &Work<'_, '_>, kind: WindowKind, span: Span) -> Option<Place> {
        if let Some((_, first)) = self.kind {
            let message = "a window is either tumbling or sliding";
            let finding = Diagnostic::error("window-parts", span, message);
            work.session.report(finding.label(first, "said here"));
            return None;
        }
        self.kind = Some((kind, span));
        Some(Place::Kind)
    }

    fn window(self, work: &Work<'_, '_>, clause: &PortClause<Vec<Expr>>) -> Option<Window> {
        let fail = |span, message: &str| work.session.fail("window-parts", span, message);
        let Some((kind, kind_span)) = self.kind else {
            return fail(
                clause.port.span,
                "a window begins with `tumbling` or `sliding`",
            );
        };
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
            (WindowKind::Tumbling, None) => None,
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

fn is_time_interval(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if &*name.name.text == "timeInterval")
}

fn not_a_part<T>(work: &Work<'_, '_>, span: Span) -> Option<T> {
    let message = "this is not a part of a window";
    let finding = Diagnostic::error("unknown-window-part", span, message);
    work.session
        .report(finding.help("an example: `sliding, count(10), count(1), partitioned`"));
    None
}

/// Checks a window against the forms that the port takes.
fn fits(work: &Work<'_, '_>, port: usize, window: &Window, span: Span) -> Option<()> {
    let forms = work.inputs[port].windows;
    let takes = |form: &WindowForm| {
        form.kind == window.kind
            && (form.evict.is_empty() || form.evict.contains(&kind_of(&window.evict)))
            && (!form.every_tuple || matches!(window.trigger, None | Some(Policy::Count(1))))
    };
    if forms.is_empty() || forms.iter().any(takes) {
        return Some(());
    }
    let message = format!("{} takes no window of this form", work.model.name);
    let finding = Diagnostic::error("window-form", span, message);
    let words: Vec<_> = forms.iter().map(form_words).collect();
    work.session
        .report(finding.help(format!("it takes a {}", words.join(", or a "))));
    None
}

fn form_words(form: &WindowForm) -> String {
    let kind = match form.kind {
        WindowKind::Tumbling => "tumbling window",
        WindowKind::Sliding => "sliding window",
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
    }
}

/// A partitioned window needs the parameter that partitions it, and the other way round.
fn partitioned(
    work: &Work<'_, '_>,
    port: usize,
    window: &Window,
    clause: &PortClause<Vec<Expr>>,
    has_param: bool,
) {
    let Some(param) = work.inputs[port].partition_param else {
        if window.partition.is_some() {
            let message = format!("{} has no partitioned windows", work.model.name);
            work.session.report(Diagnostic::error(
                "partitioned-window",
                clause.span,
                message,
            ));
        }
        return;
    };
    let written = work.ast.params.iter().find(|p| &*p.name.text == param);
    match (&window.partition, written) {
        (Some(_), None) => {
            let message = format!("a partitioned window needs the parameter `{param}`");
            work.session.report(Diagnostic::error(
                "partitioned-window",
                clause.span,
                message,
            ));
        }
        (None, Some(written)) if has_param => {
            let message = format!("`{param}` needs a partitioned window");
            let finding = Diagnostic::error("partitioned-window", written.name.span, message);
            let finding = finding.label(clause.span, "this window is not partitioned");
            work.session
                .report(finding.help("add `partitioned` to the window"));
        }
        _ => {}
    }
}
