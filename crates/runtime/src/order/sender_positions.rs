//! The places of what one sender sends: see [`super::order`].

use std::collections::BTreeMap;

use eval::Fault;
use graph::OriginId;

use super::{reorder_buffer, thread_order};
use crate::BuildContext;

/// Of a stream whose order counts.
pub(crate) struct SenderPositions {
    origins: Vec<OriginId>,
    repeats_position: bool,
    is_repeated_next: bool,
    /// By origin: how far the receivers know.
    sent_progress: BTreeMap<u64, Vec<u64>>,
    /// By origin: behind what the receivers know that tuples of others stand.
    sent_precedence: BTreeMap<u64, Vec<u64>>,
    /// What was said before the last mark, should that find no room.
    previous_progress: Vec<u64>,
    position: Vec<u64>,
    position_bytes: Vec<u8>,
    sealed_payload: Vec<u8>,
}

impl SenderPositions {
    /// As the parameters of a sender want it; `None`: its order does not count.
    pub fn new(build: &mut BuildContext<'_>) -> Result<Option<Box<SenderPositions>>, Fault> {
        let origins = build.param_uint32s("origin")?;
        let (is_again, has_more) = (build.flag("again", false)?, build.flag("more", false)?);
        let place = thread_order::new_position();
        let nothing_said = origins
            .iter()
            .map(|&origin| (origin.into(), thread_order::new_position()));
        let places = SenderPositions {
            sent_progress: nothing_said.collect(),
            origins,
            repeats_position: is_again,
            is_repeated_next: has_more,
            sent_precedence: BTreeMap::new(),
            previous_progress: thread_order::new_position(),
            position_bytes: Vec::with_capacity(8 * place.capacity()),
            position: place,
            sealed_payload: Vec::new(),
        };
        Ok((!places.origins.is_empty()).then(|| Box::new(places)))
    }

    /// The place of what is sent next, as it is sent; `None`: it has none.
    pub fn next_position(&mut self) -> Option<&[u8]> {
        thread_order::next_position(self.repeats_position, &mut self.position);
        reorder_buffer::encode_position(&self.position, &mut self.position_bytes);
        (!self.position_bytes.is_empty()).then_some(&self.position_bytes)
    }

    /// How far the thread has come with what other origins began than the one whose turn it is, if
    /// the receivers do not know that yet: what is sent next stands behind it.
    pub fn next_precedence(&mut self) -> Option<&[u8]> {
        let place = &mut self.position;
        let known = |origin: OriginId| {
            self.sent_precedence
                .get(&origin.into())
                .map_or(&[][..], Vec::as_slice)
        };
        let mut origins = self.origins.iter();
        origins.find(|&&origin| thread_order::new_precedence(origin, known(origin), place))?;
        let known = self.sent_precedence.entry(place[0]).or_default();
        known.clear();
        known.extend(&*place);
        reorder_buffer::encode_position(place, &mut self.position_bytes);
        Some(&self.position_bytes)
    }

    /// A payload with the place that was last asked for, if there is one and both are of at most so
    /// many bytes.
    pub fn seal(&mut self, payload: &[u8], bytes_max: usize) -> Option<&[u8]> {
        let place = self.position_bytes.len();
        if place == 0 || reorder_buffer::sealed_bytes(payload.len(), place) > bytes_max {
            return None;
        }
        reorder_buffer::seal_tuple(payload, &self.position_bytes, &mut self.sealed_payload);
        Some(&self.sealed_payload)
    }

    /// The place that was last asked for, as it is sent.
    pub fn position_bytes(&self) -> &[u8] {
        &self.position_bytes
    }

    /// It is sent. Whether it is time to say so.
    pub fn finish_submission(&self) -> bool {
        !self.is_repeated_next && thread_order::finish_submission()
    }

    /// The next thing that the receivers do not know yet.
    pub fn next_progress(&mut self) -> Option<&[u8]> {
        let place = &mut self.position;
        let said = |origin: OriginId| {
            self.sent_progress
                .get(&origin.into())
                .map_or(&[][..], Vec::as_slice)
        };
        let mut origins = self.origins.iter();
        origins.find(|&&origin| thread_order::new_progress(origin, said(origin), place))?;
        self.note_progress().then_some(&self.position_bytes)
    }

    /// The last mark has found no room.
    pub fn retract_progress(&mut self) {
        let origin = self.position.first();
        if let Some(said) = origin.and_then(|origin| self.sent_progress.get_mut(origin)) {
            std::mem::swap(said, &mut self.previous_progress);
        }
        thread_order::set_progress_pending();
    }

    fn note_progress(&mut self) -> bool {
        let Some(origin) = self.position.first() else {
            return false;
        };
        reorder_buffer::encode_position(&self.position, &mut self.position_bytes);
        let said = self.sent_progress.entry(*origin).or_default();
        std::mem::swap(said, &mut self.previous_progress);
        said.clear();
        said.extend(&self.position);
        true
    }
}
