//! Edges from streams: finds the output ports that feed each input port.

use std::collections::HashMap;

use graph::{OperatorId, OperatorNode, OutPortId, PortIndex};
use syntax::{Diagnostic, Span};

use crate::Diagnostics;
use crate::instance::OperatorSite;
use crate::names::StreamId;

/// Fills in the sources of every input port; reports two connections between the same two ports.
/// `merged` are streams that leave a parallel region, with those of its channels. A stream without
/// an operator behind it was reported where it should have come from.
pub(crate) fn connect(
    operators: &mut [OperatorNode],
    sites: &[OperatorSite],
    merged: &MergedStreams,
    diagnostics: &Diagnostics,
) {
    let edges = edge_by_stream(sites);
    for (operator, site) in operators.iter_mut().zip(sites) {
        for (input, port) in operator.inputs.iter_mut().zip(&site.inputs) {
            let mut first: Vec<(OutPortId, Span)> = Vec::with_capacity(port.streams.len());
            let mut streams = Vec::with_capacity(port.streams.len());
            for &(stream, span) in &port.streams {
                channels(stream, span, merged, &mut streams);
            }
            for (stream, span) in streams {
                let Some(edge) = edges.get(stream.0 as usize).copied().flatten() else {
                    continue;
                };
                match first.iter().find(|(e, _)| *e == edge) {
                    Some(&(_, before)) => diagnostics.add(duplicate_connection(span, before)),
                    None => first.push((edge, span)),
                }
            }
            input.sources = first.into_iter().map(|(edge, _)| edge).collect();
        }
    }
}

/// Streams that leave a parallel region, each with those of its channels.
pub(crate) type MergedStreams = HashMap<StreamId, Vec<StreamId>>;

/// A stream, or those that come together in it.
fn channels(stream: StreamId, span: Span, merged: &MergedStreams, all: &mut Vec<(StreamId, Span)>) {
    match merged.get(&stream) {
        Some(parts) => {
            for &part in parts {
                channels(part, span, merged, all);
            }
        }
        None => all.push((stream, span)),
    }
}

/// The output port of each stream, by number.
fn edge_by_stream(sites: &[OperatorSite]) -> Vec<Option<OutPortId>> {
    let mut edges = Vec::new();
    for (at, site) in sites.iter().enumerate() {
        for (port, output) in (0..).map(PortIndex).zip(&site.outputs) {
            let StreamId(stream) = output.stream;
            if edges.len() <= stream as usize {
                edges.resize(stream as usize + 1, None);
            }
            edges[stream as usize] = Some(OutPortId {
                operator: OperatorId(at as u32),
                port,
            });
        }
    }
    edges
}

fn duplicate_connection(span: Span, first: Span) -> Diagnostic {
    let message = "this stream already feeds this input port";
    let finding = Diagnostic::error("duplicate-connection", span, message);
    if span == first {
        return finding;
    }
    finding.label(first, "it is connected here")
}
