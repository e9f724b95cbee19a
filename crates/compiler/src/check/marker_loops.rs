//! Loops in which every operator passes window markers on, which would let a marker circulate for
//! ever.
//!
//! A marker that comes into such a loop would go round for ever. So it goes round once: the stream
//! that closes the loop brings no markers ([`graph::InPort::sources_without_markers`]). Final
//! markers pass it, and so does whatever an operator submits by itself in a loop that ends with it.
//!
//! ```text
//!   Beacon -> Functor -> Filter -> ...      the marker comes to Functor and Filter,
//!                ^----------'               and ends on the way back
//! ```

use graph::{OperatorNode, PunctuationOutputMode};
use planner::{GraphEdge, closing_edges};

use crate::instance::OperatorSite;

/// Marks the streams that close such loops.
pub(crate) fn end_in_loops(operators: &mut [OperatorNode], sites: &[OperatorSite]) {
    let ports = MarkerPortIndex::new(operators);
    // The search begins where markers enter a loop; loops that no marker enters come last.
    let generated = ports.generated_ports(operators, sites);
    let roots = generated.into_iter().chain(0..ports.all.len());
    for MarkerEdge { to, source } in closing_edges(ports.downstream_edges(operators, sites), roots)
    {
        let (operator, port) = ports.all[to];
        operators[operator].inputs[port]
            .sources_without_markers
            .push(source);
    }
}

/// The input ports of all operators, numbered.
struct MarkerPortIndex {
    /// The operator of each, and its number there.
    all: Vec<(usize, usize)>,
    /// The number of the first port of each operator.
    first: Vec<usize>,
}

/// A stream into an input port.
#[derive(Clone, Copy)]
struct MarkerEdge {
    to: usize,
    /// Which of the port's streams.
    source: u32,
}

impl GraphEdge for MarkerEdge {
    fn to(self) -> usize {
        self.to
    }
}

impl MarkerPortIndex {
    fn new(operators: &[OperatorNode]) -> MarkerPortIndex {
        let (mut all, mut first) = (Vec::new(), Vec::new());
        for (at, operator) in operators.iter().enumerate() {
            first.push(all.len());
            all.extend((0..operator.inputs.len()).map(|port| (at, port)));
        }
        MarkerPortIndex { all, first }
    }

    /// The port whose markers a port's stream brings; `None`: its operator makes its own, or none.
    fn upstream_port(
        &self,
        operators: &[OperatorNode],
        sites: &[OperatorSite],
        stream: MarkerEdge,
    ) -> Option<usize> {
        let (operator, port) = self.all[stream.to];
        let from = operators[operator].inputs[port].sources[stream.source as usize];
        let site = &sites[from.operator.0 as usize];
        match site.outputs[from.port.index()].model.punctuation {
            PunctuationOutputMode::Preserving(port) => {
                let before = self.first[from.operator.0 as usize] + port.index();
                // What a program with errors refers to may not be there.
                (before < self.all.len()).then_some(before)
            }
            PunctuationOutputMode::Generating | PunctuationOutputMode::Free => None,
        }
    }

    fn streams(&self, operators: &[OperatorNode]) -> impl Iterator<Item = MarkerEdge> {
        let all = self.all.iter().enumerate();
        all.flat_map(|(to, &(operator, port))| {
            let sources = 0..operators[operator].inputs[port].sources.len() as u32;
            sources.map(move |source| MarkerEdge { to, source })
        })
    }

    /// The streams that bring on what comes to each port; the last one first.
    fn downstream_edges(
        &self,
        operators: &[OperatorNode],
        sites: &[OperatorSite],
    ) -> Vec<Vec<MarkerEdge>> {
        let mut after = vec![Vec::new(); self.all.len()];
        let all: Vec<_> = self.streams(operators).collect();
        for stream in all.into_iter().rev() {
            if let Some(before) = self.upstream_port(operators, sites, stream) {
                after[before].push(stream);
            }
        }
        after
    }

    /// The ports that some operator's own markers may come to.
    fn generated_ports(&self, operators: &[OperatorNode], sites: &[OperatorSite]) -> Vec<usize> {
        let streams = self.streams(operators);
        let generated = streams.filter(|&s| self.upstream_port(operators, sites, s).is_none());
        generated.map(|stream| stream.to).collect()
    }
}
