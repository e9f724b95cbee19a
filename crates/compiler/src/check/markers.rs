//! Loops in which every operator passes window markers on.
//!
//! A marker that comes into such a loop would go round for ever. So it goes round once: the stream that
//! closes the loop brings no markers ([`graph::InPort::unmarked`]). Final markers pass it, and so does
//! whatever an operator submits by itself in a loop that ends with it.
//!
//! ```text
//!   Beacon -> Functor -> Filter -> ...      the marker comes to Functor and Filter,
//!                ^----------'               and ends on the way back
//! ```

use graph::{Operator, PunctuationOut};

use super::closing::{Edge, closing};
use crate::expand::Site;

/// Marks the streams that close such loops.
pub(crate) fn end_in_loops(operators: &mut [Operator], sites: &[Site]) {
    let ports = Ports::new(operators);
    // Where markers come in a loop begins; one that nobody brings a marker is looked at as well.
    let generated = ports.generated(operators, sites);
    let roots = generated.into_iter().chain(0..ports.all.len());
    for Stream { to, source } in closing(ports.after(operators, sites), roots) {
        let (operator, port) = ports.all[to];
        operators[operator].inputs[port].unmarked.push(source);
    }
}

/// The input ports of all operators, numbered.
struct Ports {
    /// The operator of each, and its number there.
    all: Vec<(usize, usize)>,
    /// The number of the first port of each operator.
    first: Vec<usize>,
}

/// A stream into an input port.
#[derive(Clone, Copy)]
struct Stream {
    to: usize,
    /// Which of the port's streams.
    source: u32,
}

impl Edge for Stream {
    fn to(self) -> usize {
        self.to
    }
}

impl Ports {
    fn new(operators: &[Operator]) -> Ports {
        let (mut all, mut first) = (Vec::new(), Vec::new());
        for (at, operator) in operators.iter().enumerate() {
            first.push(all.len());
            all.extend((0..operator.inputs.len()).map(|port| (at, port)));
        }
        Ports { all, first }
    }

    /// The port whose markers a port's stream brings; `None`: its operator makes its own, or none.
    fn before(&self, operators: &[Operator], sites: &[Site], stream: Stream) -> Option<usize> {
        let (operator, port) = self.all[stream.to];
        let from = operators[operator].inputs[port].sources[stream.source as usize];
        let site = &sites[from.operator.0 as usize];
        match site.outputs[from.port as usize].model.punctuation {
            PunctuationOut::Preserving(port) => {
                let before = self.first[from.operator.0 as usize] + port as usize;
                // What a program with errors refers to may not be there.
                (before < self.all.len()).then_some(before)
            }
            PunctuationOut::Generating | PunctuationOut::Free => None,
        }
    }

    fn streams(&self, operators: &[Operator]) -> impl Iterator<Item = Stream> {
        let all = self.all.iter().enumerate();
        all.flat_map(|(to, &(operator, port))| {
            let sources = 0..operators[operator].inputs[port].sources.len() as u32;
            sources.map(move |source| Stream { to, source })
        })
    }

    /// The streams that bring on what comes to each port; the last one first.
    fn after(&self, operators: &[Operator], sites: &[Site]) -> Vec<Vec<Stream>> {
        let mut after = vec![Vec::new(); self.all.len()];
        let all: Vec<_> = self.streams(operators).collect();
        for stream in all.into_iter().rev() {
            if let Some(before) = self.before(operators, sites, stream) {
                after[before].push(stream);
            }
        }
        after
    }

    /// The ports that some operator's own markers may come to.
    fn generated(&self, operators: &[Operator], sites: &[Site]) -> Vec<usize> {
        let streams = self.streams(operators);
        let generated = streams.filter(|&s| self.before(operators, sites, s).is_none());
        generated.map(|stream| stream.to).collect()
    }
}
