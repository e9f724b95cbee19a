//! Positions of the tuples of one sender: see [`super::thread_order`].

use graph::OriginId;

use super::order_position::KnownPositions;
use super::thread_order::ThreadOrder;
use super::{order_position, position_frames};

/// The positions that a sender has sent, of a stream whose order counts.
pub(crate) struct SenderPositions {
    origins: Vec<OriginId>,
    /// Whether the recipient before this sender has given the tuple its position.
    repeats_position: bool,
    /// Whether the recipient behind this sender repeats the position.
    is_repeated_next: bool,
    /// By origin: the progress that the receivers know.
    sent_progress: KnownPositions,
    /// By origin: the precedence that the receivers know.
    sent_precedence: KnownPositions,
    /// State of the thread's order for which the receivers know all precedences.
    precedence_state: Option<(u64, Option<u64>)>,
    /// Progress before the last progress frame, in case that finds no room.
    previous_progress: Vec<u64>,
    position: Vec<u64>,
    position_bytes: Vec<u8>,
    sealed_payload: Vec<u8>,
}

impl SenderPositions {
    /// Positions for a sender of a stream with these origins; `None` if there are none.
    pub fn new(
        origins: Vec<OriginId>,
        repeats_position: bool,
        is_repeated_next: bool,
    ) -> Option<Box<SenderPositions>> {
        let position = order_position::new_position();
        let mut sent_progress = KnownPositions::default();
        for &origin in &origins {
            sent_progress.entry(origin.into());
        }
        let positions = SenderPositions {
            sent_progress,
            origins,
            repeats_position,
            is_repeated_next,
            sent_precedence: KnownPositions::default(),
            precedence_state: None,
            previous_progress: order_position::new_position(),
            position_bytes: Vec::with_capacity(8 * position.capacity()),
            position,
            sealed_payload: Vec::new(),
        };
        (!positions.origins.is_empty()).then(|| Box::new(positions))
    }

    /// Position of the next tuple or marker, as it is sent; `None` if it has none.
    pub fn next_position(&mut self, order: &ThreadOrder) -> Option<&[u8]> {
        order.next_position(self.repeats_position, &mut self.position);
        position_frames::encode_position(&self.position, &mut self.position_bytes);
        (!self.position_bytes.is_empty()).then_some(&self.position_bytes)
    }

    /// Position of another origin behind which the next tuple stands, if the receivers do not know
    /// that yet.
    pub fn next_precedence(&mut self, order: &ThreadOrder) -> Option<&[u8]> {
        let state = Some(order.precedence_state());
        if state == self.precedence_state {
            return None;
        }
        let position = &mut self.position;
        let mut origins = self.origins.iter();
        let known = |origin: OriginId| self.sent_precedence.get(origin.into());
        let is_new = |&&origin: &&OriginId| order.new_precedence(origin, known(origin), position);
        if origins.find(is_new).is_none() {
            self.precedence_state = state;
            return None;
        }
        let known = self.sent_precedence.entry(position[0]);
        known.clear();
        known.extend(&*position);
        position_frames::encode_position(position, &mut self.position_bytes);
        Some(&self.position_bytes)
    }

    /// A payload with the position that was last asked for, as one frame; `None` if there is no
    /// position or the frame is longer than `bytes_max`.
    pub fn seal(&mut self, payload: &[u8], bytes_max: usize) -> Option<&[u8]> {
        let position = self.position_bytes.len();
        if position == 0 || position_frames::sealed_bytes(payload.len(), position) > bytes_max {
            return None;
        }
        position_frames::seal_tuple(payload, &self.position_bytes, &mut self.sealed_payload);
        Some(&self.sealed_payload)
    }

    /// The position that was last asked for, as it is sent.
    pub fn position_bytes(&self) -> &[u8] {
        &self.position_bytes
    }

    /// Notes that a tuple or marker was sent. Returns whether progress is due.
    pub fn finish_submission(&self, order: &ThreadOrder) -> bool {
        !self.is_repeated_next && order.finish_submission()
    }

    /// The next progress that the receivers do not know, as it is sent.
    pub fn next_progress(&mut self, order: &ThreadOrder) -> Option<&[u8]> {
        let position = &mut self.position;
        let sent = |origin: OriginId| self.sent_progress.get(origin.into());
        let mut origins = self.origins.iter();
        origins.find(|&&origin| order.new_progress(origin, sent(origin), position))?;
        self.note_progress().then_some(&self.position_bytes)
    }

    /// Takes the last progress back, whose frame has found no room.
    pub fn retract_progress(&mut self, order: &ThreadOrder) {
        if let Some(origin) = self.position.first() {
            std::mem::swap(
                self.sent_progress.entry(*origin),
                &mut self.previous_progress,
            );
        }
        order.set_progress_pending();
    }

    /// Notes that the receivers know the progress `position`, and encodes it. Returns false if
    /// there is none.
    fn note_progress(&mut self) -> bool {
        let Some(origin) = self.position.first() else {
            return false;
        };
        position_frames::encode_position(&self.position, &mut self.position_bytes);
        let sent = self.sent_progress.entry(*origin);
        std::mem::swap(sent, &mut self.previous_progress);
        sent.clear();
        sent.extend(&self.position);
        true
    }
}
