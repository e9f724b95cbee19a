//! What the run time counts at the ports of an operator, by the names that SPL gives it; and at the
//! output ports of the PE, which are the streams that leave it in the order of their crossings.
//!
//! Asked for by [`graph::Services::property`]: `inputPortMetric.0.nTuplesProcessed`,
//! `peOutputPort.0.congestionFactor`.

use crate::crossing::{Flow, Queued, Side};
use crate::wiring::{OutPort, Target, Wiring};

impl Wiring {
    /// The value of a metric of an operator's port. `None`: there is no such port, or it is not
    /// counted.
    pub fn port_metric(&self, operator: u32, property: &str) -> Option<i64> {
        let mut parts = property.splitn(3, '.');
        let (side, port, name) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        let value = match side {
            "inputPortMetric" => self.input_metric(operator, port, name),
            "outputPortMetric" => self.output_metric(operator, port, name),
            "peOutputPort" => self.pe_output(port, name),
            _ => None,
        };
        value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn output_metric(&self, operator: u32, port: u32, name: &str) -> Option<u64> {
        let out = self.outs[operator as usize].get(port as usize)?;
        Some(match name {
            "nTuplesSubmitted" => out.submitted.get(),
            "nWindowPunctsSubmitted" => out.marks.get().windows,
            "nFinalPunctsSubmitted" => out.marks.get().finals,
            _ => return None,
        })
    }

    /// `congestionFactor`, `crossing`, `connections`, and for each of these `pe.0`.
    fn pe_output(&self, port: u32, name: &str) -> Option<u64> {
        let mut sent: Vec<&Flow> = self.flows.iter().map(|flow| &**flow).collect();
        sent.retain(|flow| flow.side == Side::Sender);
        sent.sort_by_key(|flow| flow.link);
        let flow = sent.get(port as usize)?;
        match name {
            "congestionFactor" => Some(flow.congestion().into()),
            "crossing" => Some(flow.link.into()),
            "connections" => Some(flow.to.len() as u64),
            name => {
                let number: usize = name.strip_prefix("pe.")?.parse().ok()?;
                flow.to.get(number).map(|&pe| pe.into())
            }
        }
    }

    fn input_metric(&self, operator: u32, port: u32, name: &str) -> Option<u64> {
        let at = operator as usize;
        let processed = self.processed[at].get(port as usize)?;
        let marks = self.marks[at].get(port as usize)?;
        match name {
            "nTuplesProcessed" => return Some(processed.get()),
            "nWindowPunctsProcessed" => return Some(marks.get().windows),
            "nFinalPunctsProcessed" => return Some(marks.get().finals),
            _ => {}
        }
        let port = Target::new(operator, port);
        match self.queue_before(port) {
            Some(queue) => queue.metric(name),
            // Without a queue nothing is queued or dropped.
            None => Queued::is_metric(name).then_some(0),
        }
    }

    /// The queue of a threaded port.
    fn queue_before(&self, port: Target) -> Option<&Queued> {
        let feeds = |outs: &[OutPort]| outs.iter().any(|out| out.targets.contains(&port));
        self.queues.iter().map(|queue| &**queue).find(|queue| {
            let mut operators = self.voices.iter().zip(&self.outs);
            operators.any(|(voice, outs)| *voice.name() == queue.operator && feeds(outs))
        })
    }
}
