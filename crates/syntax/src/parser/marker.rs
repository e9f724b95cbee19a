//! Beginning and completing nodes.
//!
//! A node that turns out to be the left part of a larger one (`a` in `a + b`) is wrapped after the
//! fact by [`Parser::precede`].

use super::Parser;
use super::event::Event;
use crate::SyntaxKind;

/// A node that has begun.
#[must_use]
pub(super) struct Marker {
    event: u32,
}

/// A node that is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    event: u32,
    /// How many nodes deep it is.
    pub(super) height: u32,
    /// What it is.
    pub(super) kind: SyntaxKind,
}

impl Parser<'_> {
    pub(super) fn start(&mut self) -> Marker {
        self.heights.push(0);
        let event = self.events.len() as u32;
        self.events.push(Event::Start {
            kind: SyntaxKind::Eof,
            parent: 0,
        });
        Marker { event }
    }

    pub(super) fn finish(&mut self, marker: Marker, kind: SyntaxKind) -> Completed {
        if let Event::Start { kind: place, .. } = &mut self.events[marker.event as usize] {
            *place = kind;
        }
        self.events.push(Event::Finish);
        let height = self.heights.pop().unwrap_or(0) + 1;
        if let Some(outer) = self.heights.last_mut() {
            *outer = (*outer).max(height);
        }
        Completed {
            event: marker.event,
            height,
            kind,
        }
    }

    /// Gives a node up; what is in it belongs to the node around.
    pub(super) fn abandon(&mut self, _marker: Marker) {
        let height = self.heights.pop().unwrap_or(0);
        if let Some(outer) = self.heights.last_mut() {
            *outer = (*outer).max(height);
        }
    }

    /// Begins a node around one that is complete.
    pub(super) fn precede(&mut self, inner: Completed) -> Marker {
        let marker = self.start();
        if let Some(height) = self.heights.last_mut() {
            *height = inner.height;
        }
        if let Event::Start { parent, .. } = &mut self.events[inner.event as usize] {
            *parent = marker.event - inner.event;
        }
        marker
    }
}
