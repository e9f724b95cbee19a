//! Event time, passed on along streams from the operators with `@eventTime` to every operator that
//! their tuples reach.
//!
//! An operator has event time if one of its input streams has; an output port then sends watermarks
//! if its schema has the attribute, of the same type. An operator with an `@eventTime` of its own
//! goes by that instead.
//!
//! ```text
//!   @eventTime(eventTimeAttribute = at)
//!   A <int64 at> --> Filter <int64 at> --> Aggregate <int64 at> --> Functor <int64 n> --> Sink
//!   makes            passes on             passes on, its window    ends here             has none
//!                                          fires by it
//! ```

use graph::{EventClock, OperatorNode, OutPortId, Policy, PortIndex, Window};
use planner::{GraphEdge, closing_edges};
use syntax::{Diagnostic, Span};
use tuple::{Resolution, Type, Value};

use crate::Diagnostics;
use crate::instance::OperatorSite;

/// Seconds by which watermarks advance at least, unless `minimumGap` is given: the default of SPL.
const MINIMUM_GAP: f64 = 0.1;

/// Gives every operator that has event time its clock, and windows over it the attribute; reports
/// windows without, streams of different event times that meet, and loops that bring it back.
pub(crate) fn propagate(
    operators: &mut [OperatorNode],
    sites: &[OperatorSite],
    diagnostics: &Diagnostics,
) {
    for operator in operators.iter_mut() {
        operator.clock = own_clock(operator);
    }
    let has_clock: Vec<bool> = operators.iter().map(|o| o.clock.is_some()).collect();
    let mut reach = EventTimePropagation {
        operators,
        sites,
        diagnostics,
    };
    if has_clock.contains(&true) {
        let reached = reach.propagate_clocks(&has_clock);
        reach.report_conflicts(&reached);
        reach.report_loops();
    }
    reach.resolve_windows();
}

/// Whether a window is one over event time.
fn is_over_time(window: &Option<Window>) -> bool {
    let evict = window.as_ref().map(|window| &window.evict);
    matches!(evict, Some(Policy::Interval(_) | Policy::Session(_)))
}

/// The clock that the operator's own annotation gives it.
fn own_clock(operator: &OperatorNode) -> Option<EventClock> {
    let mut annotations = operator.annotations.iter();
    let (_, keys) = annotations.find(|(name, _)| &**name == "eventTime")?;
    let key = |name: &str| keys.iter().find(|(key, _)| &**key == name).map(|(_, v)| v);
    let word = |name: &str| match key(name) {
        Some(Value::RString(text)) => Some(text.to_string_lossy().into_owned()),
        _ => None,
    };
    let seconds = |name: &str| match key(name) {
        Some(Value::Float64(seconds)) => Some(*seconds),
        _ => None,
    };
    let attribute = word("eventTimeAttribute")?;
    let ty = operator.outputs.iter().find_map(|port| {
        let (_, attribute) = port.schema.find(&attribute)?;
        holds_time(&attribute.ty).then(|| attribute.ty.clone())
    });
    let named = word("resolution").and_then(|name| Resolution::from_name(&name));
    Some(EventClock {
        outputs: timed_outputs(operator, &attribute, &ty?),
        attribute: attribute.into(),
        resolution: named.unwrap_or_default(),
        lag_ns: nanoseconds(seconds("lag").unwrap_or_default()),
        min_gap_ns: nanoseconds(seconds("minimumGap").unwrap_or(MINIMUM_GAP)),
        generates_watermarks: true,
    })
}

/// The output ports that have an attribute of a type.
fn timed_outputs(operator: &OperatorNode, attribute: &str, ty: &Type) -> Vec<PortIndex> {
    let ports = (0..).map(PortIndex).zip(&operator.outputs);
    let has_it = ports.filter(|(_, port)| {
        let found = port.schema.find(attribute);
        found.is_some_and(|(_, attribute)| attribute.ty == *ty)
    });
    has_it.map(|(at, _)| at).collect()
}

/// Whether an attribute of a type can hold event time.
fn holds_time(ty: &Type) -> bool {
    matches!(ty, Type::Timestamp | Type::Int64 | Type::Uint64)
}

fn nanoseconds(seconds: f64) -> i128 {
    (seconds * 1e9).round() as i128
}

/// The streams that event time reaches.
struct EventTimePropagation<'a> {
    operators: &'a mut [OperatorNode],
    sites: &'a [OperatorSite],
    diagnostics: &'a Diagnostics,
}

/// A stream with watermarks into an input port.
#[derive(Clone, Copy)]
struct TimedInput {
    to: usize,
    port: usize,
    /// Which of the port's streams.
    source: usize,
    from: OutPortId,
}

impl GraphEdge for TimedInput {
    fn to(self) -> usize {
        self.to
    }
}

impl EventTimePropagation<'_> {
    /// Goes downstream from the operators that have clocks; which operators it has come to.
    fn propagate_clocks(&mut self, has_clock: &[bool]) -> Vec<usize> {
        let mut after = vec![Vec::new(); self.operators.len()];
        for (to, operator) in self.operators.iter().enumerate() {
            for edge in operator.inputs.iter().flat_map(|input| &input.sources) {
                after[edge.operator.0 as usize].push((edge.port, to));
            }
        }
        let sources = has_clock
            .iter()
            .enumerate()
            .filter(|(_, has_clock)| **has_clock);
        let mut open: Vec<usize> = sources.map(|(at, _)| at).collect();
        let mut reached = Vec::new();
        while let Some(from) = open.pop() {
            let clock = self.operators[from].clock.clone();
            let Some(clock) = clock else { continue };
            let feed = after[from].iter();
            for &(_, to) in feed.filter(|(port, _)| clock.outputs.contains(port)) {
                reached.push(to);
                if self.operators[to].clock.is_none() {
                    self.operators[to].clock = Some(self.inherited_clock(from, &clock, to));
                    open.push(to);
                }
            }
        }
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    /// The clock of an operator that has it from another one.
    fn inherited_clock(&self, from: usize, clock: &EventClock, to: usize) -> EventClock {
        let port = &self.operators[from].outputs[clock.outputs[0].index()];
        let ty = port.schema.find(&clock.attribute).map(|(_, a)| &a.ty);
        let outputs = ty.map(|ty| timed_outputs(&self.operators[to], &clock.attribute, ty));
        EventClock {
            outputs: outputs.unwrap_or_default(),
            generates_watermarks: false,
            ..clock.clone()
        }
    }

    fn timed_inputs(&self, to: usize) -> impl Iterator<Item = TimedInput> {
        let inputs = self.operators[to].inputs.iter().enumerate();
        let sources = inputs.flat_map(|(port, input)| {
            let sources = input.sources.iter().enumerate();
            sources.map(move |(source, &from)| (port, source, from))
        });
        let timed_inputs = sources.filter(|(_, _, from)| self.clock_of(*from).is_some());
        timed_inputs.map(move |(port, source, from)| TimedInput {
            to,
            port,
            source,
            from,
        })
    }

    /// The clock of a stream.
    fn clock_of(&self, stream: OutPortId) -> Option<&EventClock> {
        let clock = self.operators[stream.operator.0 as usize].clock.as_ref();
        clock.filter(|clock| clock.outputs.contains(&stream.port))
    }

    /// Attribute and resolution of a stream's event time, and the type of the attribute.
    fn time_of(&self, stream: OutPortId) -> Option<(&str, Resolution, &Type)> {
        let clock = self.clock_of(stream)?;
        let operator = &self.operators[stream.operator.0 as usize];
        let schema = &operator.outputs[stream.port.index()].schema;
        let (_, attribute) = schema.find(&clock.attribute)?;
        Some((&clock.attribute, clock.resolution, &attribute.ty))
    }

    /// One operator has one event time.
    fn report_conflicts(&self, reached: &[usize]) {
        let counts = |to: &&usize| {
            let mut inputs = self.operators[**to].inputs.iter();
            !self.is_origin(**to) || inputs.any(|input| is_over_time(&input.window))
        };
        for &to in reached.iter().filter(counts) {
            let mut timed_inputs = self.timed_inputs(to);
            let Some(first) = timed_inputs.next() else {
                continue;
            };
            let other =
                timed_inputs.find(|timed| self.time_of(timed.from) != self.time_of(first.from));
            let Some(other) = other else { continue };
            let name = &self.operators[to].name;
            let message = format!("streams of different event times come to `{name}`");
            let finding = Diagnostic::error("event-time-conflict", self.span(other), message);
            let finding = finding.label(self.span(other), self.describe_time(other));
            let finding = finding.label(self.span(first), self.describe_time(first));
            let help = "give them the same attribute, type and resolution, or put `@eventTime` \
                        before a Functor that makes them so";
            self.diagnostics.add(finding.help(help));
        }
    }

    fn describe_time(&self, timed: TimedInput) -> String {
        let time = self.time_of(timed.from);
        time.map_or(String::new(), |(attribute, resolution, ty)| match ty {
            Type::Timestamp => format!("`{attribute}`: timestamp"),
            ty => format!("`{attribute}`: {ty}, {resolution:?}"),
        })
    }

    /// An operator that waited for its own watermark would never get on.
    fn report_loops(&self) {
        let mut after: Vec<Vec<TimedInput>> = vec![Vec::new(); self.operators.len()];
        for to in (0..self.operators.len()).filter(|to| !self.is_origin(*to)) {
            for timed in self.timed_inputs(to) {
                after[timed.from.operator.0 as usize].push(timed);
            }
        }
        let all = 0..self.operators.len();
        let makers = all.clone().filter(|at| self.is_origin(*at));
        for timed in closing_edges(after, makers.chain(all.clone())) {
            let name = &self.operators[timed.to].name;
            let message = format!("this stream brings the event time of `{name}` back to it");
            let finding = Diagnostic::error("event-time-loop", self.span(timed), message);
            let help = "leave the attribute out of what comes back, or give it another name there";
            self.diagnostics.add(finding.help(help));
        }
    }

    /// Sets the event time attribute of windows over event time.
    fn resolve_windows(&mut self) {
        for at in 0..self.operators.len() {
            for port in 0..self.operators[at].inputs.len() {
                if !is_over_time(&self.operators[at].inputs[port].window) {
                    continue;
                }
                let found = self.time_attribute(at, port);
                let input = &mut self.operators[at].inputs[port];
                let evict = input.window.as_mut().map(|window| &mut window.evict);
                match (evict, found) {
                    (Some(Policy::Interval(interval)), Some((attribute, resolution))) => {
                        (interval.attribute, interval.resolution) = (attribute, resolution);
                    }
                    (Some(Policy::Session(session)), Some((attribute, resolution))) => {
                        (session.attribute, session.resolution) = (attribute, resolution);
                    }
                    _ => self.report_missing(at, port),
                }
            }
        }
    }

    /// Where tuples of a port have their event time.
    fn time_attribute(&self, at: usize, port: usize) -> Option<(u32, Resolution)> {
        let timed = self.timed_inputs(at).find(|input| input.port == port)?;
        let clock = self.clock_of(timed.from)?;
        let schema = &self.operators[at].inputs[port].schema;
        let (attribute, _) = schema.find(&clock.attribute)?;
        Some((attribute as u32, clock.resolution))
    }

    fn report_missing(&self, at: usize, port: usize) {
        // An annotation that is wrong is none, and may be the one.
        if self.diagnostics.has_found("annotation-value") {
            return;
        }
        let site = &self.sites[at].inputs[port];
        let name = &self.operators[at].inputs[port].name;
        let message = format!("no stream of `{name}` has event time, and this window needs it");
        let place = site.window.unwrap_or(site.span);
        let finding = Diagnostic::error("event-time-window", place, message);
        let help = "put `@eventTime(eventTimeAttribute = ...)` before an operator upstream; what is \
                    between has to keep the attribute";
        self.diagnostics.add(finding.help(help));
    }

    /// Whether an operator has an event time of its own, not that of an input.
    fn is_origin(&self, at: usize) -> bool {
        let clock = self.operators[at].clock.as_ref();
        clock.is_some_and(|clock| clock.generates_watermarks)
    }

    fn span(&self, timed: TimedInput) -> Span {
        let site = &self.sites[timed.to].inputs[timed.port];
        let stream = site.streams.get(timed.source);
        stream.map_or(site.span, |(_, span)| *span)
    }
}
