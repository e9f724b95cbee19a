//! Watermarks: generates watermarks from the event times of the tuples that an operator submits.
//!
//! ```text
//!    Trades.0 -> 0 [ submit, then watermark if that has advanced enough ] 0 -> ...
//!    Trades.1 -> 1 [                                                    ] 1 -> ...
//! ```
//! A PE has one behind each operator whose clock says so ([`graph::EventClock`]). All its ports
//! share one watermark: the greatest event time that has passed, less the lag. The watermark
//! follows the tuple that has advanced it, and goes to all ports.

use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::{EventClock, InPortModel, OperatorModel, OutPortModel, PortIndex};
use tuple::{EventTime, Layout, Punctuation, Resolution, TupleRef};

use crate::{BuildContext, Operator, OperatorEntry, Outlet};

/// The registry's entry of Watermarks.
pub(crate) const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.eventtime",
    name: "Watermarks",
    doc: "Makes watermarks of the event times that pass. Inserted behind `@eventTime`.",
    inputs: &[InPortModel::ANY],
    outputs: &[OutPortModel::ANY],
    ..OperatorModel::DEFAULT
};

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    build.set_keeps_watermarks();
    let clock = build.operator.clock.as_ref();
    let clock = clock.ok_or_else(|| Fault::new(FaultKind::Limit, "watermarks without a clock"))?;
    let ports = build
        .inputs
        .iter()
        .map(|layout| event_time_attribute(clock, layout));
    Ok(Box::new(WatermarkGenerator {
        ports: ports.collect::<Result<_, _>>()?,
        resolution: clock.resolution,
        lag_ns: clock.lag_ns,
        gap_ns: clock.min_gap_ns,
        current: None,
        next_sent: None,
    }))
}

/// Index of the attribute that holds the event time in tuples of a layout.
fn event_time_attribute(
    clock: &EventClock,
    layout: &Arc<Layout>,
) -> Result<(usize, Arc<Layout>), Fault> {
    let found = layout.schema.find(&clock.attribute);
    let (at, _) = found.ok_or_else(|| missing_event_time(&clock.attribute))?;
    Ok((at, layout.clone()))
}

fn missing_event_time(attribute: &str) -> Fault {
    let message = format!("a stream has no event time `{attribute}`");
    Fault::new(FaultKind::Limit, message)
}

struct WatermarkGenerator {
    /// By port: index of the attribute that holds the event time, and the layout.
    ports: Box<[(usize, Arc<Layout>)]>,
    resolution: Resolution,
    lag_ns: i128,
    gap_ns: i128,
    current: Option<EventTime>,
    /// Least watermark that is far enough from the last one to be sent.
    next_sent: Option<EventTime>,
}

impl Operator for WatermarkGenerator {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let (at, layout) = &self.ports[port.index()];
        let time = EventTime::from_value(&tuple.get(layout, *at), self.resolution);
        out.submit(port, tuple)?;
        match time {
            Some(time) => self.advance(EventTime(time.0 - self.lag_ns), out),
            None => Ok(()),
        }
    }

    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        out.submit_punctuation(port, Punctuation::Window)
    }

    fn process_final_marker(&mut self, port: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.submit_punctuation(port, Punctuation::Final)
    }
}

impl WatermarkGenerator {
    fn advance(&mut self, to: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.current >= Some(to) {
            return Ok(());
        }
        self.current = Some(to);
        if let Some(events) = out.services().event_time() {
            events.advance_watermark(to);
        }
        if self.next_sent.is_some_and(|next| to < next) {
            return Ok(());
        }
        self.next_sent = Some(EventTime(to.0 + self.gap_ns));
        let mut ports = (0..self.ports.len() as u32).map(PortIndex);
        ports.try_for_each(|port| out.submit_watermark(port, to))
    }
}
