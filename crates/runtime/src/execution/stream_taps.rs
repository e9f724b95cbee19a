//! Taps on the streams of a running PE, for the thread that watches it.

use std::sync::Arc;

use graph::PortIndex;

use super::port_state::OutputPortState;
use super::wiring::Wiring;
use crate::services::tapped_tuples::TappedTuple;

/// Taps on the streams of a running PE. Operators never wait for who taps them: they copy at most
/// as many tuples as a budget says.
pub struct StreamTaps {
    wiring: Arc<Wiring>,
}

impl StreamTaps {
    pub(crate) fn new(wiring: Arc<Wiring>) -> StreamTaps {
        StreamTaps { wiring }
    }

    /// Says whether any stream of the PE is tapped, so that compiled code looks at the budgets.
    pub fn set_open(&self, is_open: bool) {
        let tapped = &self.wiring.context.tapped;
        tapped.is_open.set(is_open.into());
    }

    /// Sets how many of the next tuples of an operator's output port are copied. Nothing happens if
    /// there is no such port.
    pub fn set_budget(&self, operator: u32, port: PortIndex, tuples: u32) {
        if let Some(out) = self.output_port(operator, port) {
            out.tap.set(tuples);
        }
    }

    /// Whether the tuples of an output port stay within compiled code that shows none.
    pub fn is_hidden(&self, operator: u32, port: PortIndex) -> bool {
        let out = self.output_port(operator, port);
        out.is_some_and(|out| out.tap.is_hidden())
    }

    /// Number of tuples that an output port has submitted so far.
    pub fn submitted_count(&self, operator: u32, port: PortIndex) -> u64 {
        let out = self.output_port(operator, port);
        out.map_or(0, |out| out.submitted.get())
    }

    /// The tuples that were copied since this was last asked, in order.
    pub fn take_tuples(&self) -> Vec<TappedTuple> {
        self.wiring.context.tapped.take()
    }

    fn output_port(&self, operator: u32, port: PortIndex) -> Option<&OutputPortState> {
        self.wiring.outs.get(operator as usize)?.get(port.index())
    }
}
