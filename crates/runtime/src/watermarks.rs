//! Watermarks: makes the watermarks of an operator of what that sends.
//!
//! ```text
//!   Trades.0 -> 0 [ submit, then watermark if that has advanced enough ] 0 -> ...
//!   Trades.1 -> 1 [                                                    ] 1 -> ...
//! ```
//! A part has one behind each operator whose clock says so ([`graph::EventClock::makes`]). All its
//! ports share one watermark: the greatest event time that has passed, less the lag. It stands behind
//! the tuple that has brought it about, and goes to all ports.

use graph::{EventClock, Fault, FaultKind, InPortModel, OperatorModel, OutPortModel};
use std::sync::Arc;
use tuple::{EventTime, Layout, Punctuation, Resolution, TupleRef};

use crate::{Build, Operator, OperatorEntry, Outlet};

/// The registry's line.
pub(crate) const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.eventtime",
    name: "Watermarks",
    doc: "Makes watermarks of the event times that pass. Inserted behind `@eventTime`.",
    inputs: &[InPortModel::ANY],
    outputs: &[OutPortModel::ANY],
    ..OperatorModel::DEFAULT
};

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    build.keeps_watermarks();
    let clock = build.operator.clock.as_ref();
    let clock = clock.ok_or_else(|| Fault::new(FaultKind::Limit, "watermarks without a clock"))?;
    let ports = build.inputs.iter().map(|layout| port(clock, layout));
    Ok(Box::new(Watermarks {
        ports: ports.collect::<Result<_, _>>()?,
        resolution: clock.resolution,
        lag_ns: clock.lag_ns,
        gap_ns: clock.gap_ns,
        reached: None,
        next: None,
    }))
}

/// Where tuples of a layout have their event time.
fn port(clock: &EventClock, layout: &Arc<Layout>) -> Result<(usize, Arc<Layout>), Fault> {
    let found = layout.schema.find(&clock.attribute);
    let (at, _) = found.ok_or_else(|| missing(&clock.attribute))?;
    Ok((at, layout.clone()))
}

fn missing(attribute: &str) -> Fault {
    let message = format!("a stream has no event time `{attribute}`");
    Fault::new(FaultKind::Limit, message)
}

struct Watermarks {
    /// By port: the attribute that holds the event time.
    ports: Box<[(usize, Arc<Layout>)]>,
    resolution: Resolution,
    lag_ns: i128,
    gap_ns: i128,
    reached: Option<EventTime>,
    /// From here on a watermark is worth sending.
    next: Option<EventTime>,
}

impl Operator for Watermarks {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let (at, layout) = &self.ports[port as usize];
        let time = EventTime::of(&tuple.get(layout, *at), self.resolution);
        out.submit(port, tuple)?;
        match time {
            Some(time) => self.advance(EventTime(time.0 - self.lag_ns), out),
            None => Ok(()),
        }
    }

    fn window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.punctuate(port, Punctuation::Window)
    }

    fn final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.punctuate(port, Punctuation::Final)
    }
}

impl Watermarks {
    fn advance(&mut self, to: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.reached >= Some(to) {
            return Ok(());
        }
        self.reached = Some(to);
        if let Some(events) = out.services().events() {
            events.reach(to);
        }
        if self.next.is_some_and(|next| to < next) {
            return Ok(());
        }
        self.next = Some(EventTime(to.0 + self.gap_ns));
        (0..self.ports.len() as u32).try_for_each(|port| out.watermark(port, to))
    }
}
