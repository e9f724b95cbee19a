//! Beginning and completing nodes.
//!
//! A node that turns out to be the left part of a larger one (`a` in `a + b`) is wrapped after the
//! fact by [`Parser::precede`].

use super::event::ParseEvent;
use super::parser_state::Parser;
use crate::SyntaxKind;

/// A node that has begun.
#[must_use]
pub(super) struct NodeMarker {
    event: u32,
}

/// A node that is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompletedNode {
    event: u32,
    /// How many nodes deep it is.
    pub(super) height: u32,
    /// Kind of the node.
    pub(super) kind: SyntaxKind,
}

impl Parser<'_> {
    pub(super) fn start(&mut self) -> NodeMarker {
        self.heights.push(0);
        let event = self.events.len() as u32;
        self.events.push(ParseEvent::Start {
            kind: SyntaxKind::Eof,
            parent: 0,
        });
        NodeMarker { event }
    }

    pub(super) fn finish(&mut self, marker: NodeMarker, kind: SyntaxKind) -> CompletedNode {
        if let ParseEvent::Start { kind: place, .. } = &mut self.events[marker.event as usize] {
            *place = kind;
        }
        self.events.push(ParseEvent::Finish);
        let height = self.heights.pop().unwrap_or(0) + 1;
        if let Some(outer) = self.heights.last_mut() {
            *outer = (*outer).max(height);
        }
        CompletedNode {
            event: marker.event,
            height,
            kind,
        }
    }

    /// Gives a node up; what is in it belongs to the node around.
    pub(super) fn abandon(&mut self, _marker: NodeMarker) {
        let height = self.heights.pop().unwrap_or(0);
        if let Some(outer) = self.heights.last_mut() {
            *outer = (*outer).max(height);
        }
    }

    /// Begins a node around one that is complete.
    pub(super) fn precede(&mut self, inner: CompletedNode) -> NodeMarker {
        let marker = self.start();
        if let Some(height) = self.heights.last_mut() {
            *height = inner.height;
        }
        if let ParseEvent::Start { parent, .. } = &mut self.events[inner.event as usize] {
            *parent = marker.event - inner.event;
        }
        marker
    }
}
