//! Metrics of ports by the names that SPL gives them: of an operator's ports, and of the PE's
//! output ports, which are the streams that leave it in the order of their crossings.
//!
//! [`eval::Services::property`] asks for them: `inputPortMetric.0.nTuplesProcessed`,
//! `peOutputPort.0.congestionFactor`.

use graph::PortIndex;

use crate::counters::crossing_counters::{CrossingCounters, CrossingSide};
use crate::counters::queue_counters::QueueCounters;
use crate::execution::port_state::{ConsumerPort, OutputPortState};
use crate::execution::wiring::Wiring;

impl Wiring {
    /// The value of a metric of an operator's port; `None` if there is no such port or metric.
    pub fn port_metric(&self, operator: u32, property: &str) -> Option<i64> {
        let mut parts = property.splitn(3, '.');
        let (side, port, name) = (parts.next()?, parts.next()?, parts.next()?);
        let port = port.parse().map(PortIndex).ok()?;
        let value = match side {
            "inputPortMetric" => self.input_metric(operator, port, name),
            "outputPortMetric" => self.output_metric(operator, port, name),
            "peOutputPort" => self.pe_output_metric(port, name),
            _ => None,
        };
        value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn output_metric(&self, operator: u32, port: PortIndex, name: &str) -> Option<u64> {
        let out = self.outs[operator as usize].get(port.index())?;
        Some(match name {
            "nTuplesSubmitted" => out.submitted.get(),
            "nWindowPunctsSubmitted" => out.punctuation.get().windows,
            "nFinalPunctsSubmitted" => out.punctuation.get().finals,
            _ => return None,
        })
    }

    /// The value of `congestionFactor`, `crossing`, `connections`, or `pe.0` for each of these.
    fn pe_output_metric(&self, port: PortIndex, name: &str) -> Option<u64> {
        let mut sent: Vec<&CrossingCounters> = self
            .crossing_counters
            .iter()
            .map(|counters| &**counters)
            .collect();
        sent.retain(|counters| counters.side == CrossingSide::Sender);
        sent.sort_by_key(|counters| counters.crossing);
        let counters = sent.get(port.index())?;
        match name {
            "congestionFactor" => Some(counters.congestion_percent().into()),
            "crossing" => Some(counters.crossing.0.into()),
            "connections" => Some(counters.to_pes.len() as u64),
            name => {
                let number: usize = name.strip_prefix("pe.")?.parse().ok()?;
                counters.to_pes.get(number).map(|pe| pe.0.into())
            }
        }
    }

    fn input_metric(&self, operator: u32, port: PortIndex, name: &str) -> Option<u64> {
        let at = operator as usize;
        let processed = self.processed[at].get(port.index())?;
        let punctuation = self.punctuation[at].get(port.index())?;
        match name {
            "nTuplesProcessed" => return Some(processed.get()),
            "nWindowPunctsProcessed" => return Some(punctuation.get().windows),
            "nFinalPunctsProcessed" => return Some(punctuation.get().finals),
            _ => {}
        }
        let port = ConsumerPort::new(operator, port);
        match self.queue_before(port) {
            Some(queue) => queue.metric_value(name),
            // Without a queue nothing is queued or dropped.
            None => QueueCounters::is_metric(name).then_some(0),
        }
    }

    /// Counters of the queue of a threaded port.
    fn queue_before(&self, port: ConsumerPort) -> Option<&QueueCounters> {
        let feeds = |outs: &[OutputPortState]| outs.iter().any(|out| out.consumers.contains(&port));
        self.queue_counters
            .iter()
            .map(|queue| &**queue)
            .find(|queue| {
                let mut operators = self.services.iter().zip(&self.outs);
                operators.any(|(operator_services, outs)| {
                    *operator_services.name() == queue.operator && feeds(outs)
                })
            })
    }
}
