//! An expansion as text: what `dump --stage instances` prints.

use std::fmt::Write;

use graph::OperatorNode;

use super::expander::Expander;
use crate::instance::OperatorSite;

impl Expander<'_, '_> {
    /// Prints the operator instances, in the order in which they were expanded, before any is
    /// connected: path through the composites, kind and place, then the ports. A stream has a
    /// number, which its readers name; a stream that leaves a parallel region stands for those of
    /// its channels.
    ///
    /// ```text
    /// Inner.Big = spl.relational::Filter  Main.spl:4
    ///   in #0 as Prices: float64 price
    ///   out #1 Big: float64 price
    /// merged #1 = #2 #3
    /// ```
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (operator, site) in self.operators.iter().zip(&self.sites) {
            let place = self.session.symbols.place_text(site.head);
            let _ = writeln!(out, "{} = {}  {place}", operator.name, operator.kind);
            write_ports(&mut out, operator, site);
        }
        let mut merged: Vec<_> = self.merged_streams.iter().collect();
        merged.sort_by_key(|(stream, _)| stream.0);
        for (stream, channels) in merged {
            let _ = write!(out, "merged #{} =", stream.0);
            for channel in channels {
                let _ = write!(out, " #{}", channel.0);
            }
            out.push('\n');
        }
        out
    }
}

fn write_ports(out: &mut String, operator: &OperatorNode, site: &OperatorSite) {
    for (port, site) in operator.inputs.iter().zip(&site.inputs) {
        out.push_str("  in");
        for (stream, _) in &site.streams {
            let _ = write!(out, " #{}", stream.0);
        }
        let _ = writeln!(out, " as {}: {}", port.name, port.schema);
    }
    for (port, site) in operator.outputs.iter().zip(&site.outputs) {
        let number = site.stream.0;
        let _ = writeln!(out, "  out #{number} {}: {}", port.name, port.schema);
    }
}
