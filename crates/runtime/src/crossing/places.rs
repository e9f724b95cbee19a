//! The places of what one sender sends: see [`super::order`].

use std::collections::BTreeMap;

use graph::{Fault, Origin};

use super::{order, stash};
use crate::Build;

/// Of a stream whose order counts.
pub(super) struct Places {
    origins: Vec<Origin>,
    is_again: bool,
    has_more: bool,
    /// By origin: how far the receivers know.
    said: BTreeMap<u64, Vec<u64>>,
    /// By origin: behind what the receivers know that tuples of others stand.
    behind: BTreeMap<u64, Vec<u64>>,
    /// What was said before the last mark, should that find no room.
    before: Vec<u64>,
    place: Vec<u64>,
    bytes: Vec<u8>,
    sealed: Vec<u8>,
}

impl Places {
    /// As the parameters of a sender want it; `None`: its order does not count.
    pub fn new(build: &mut Build<'_>) -> Result<Option<Box<Places>>, Fault> {
        let origins = build.numbers("origin")?;
        let (is_again, has_more) = (build.flag("again", false)?, build.flag("more", false)?);
        let place = order::room();
        let nothing_said = origins.iter().map(|&origin| (origin.into(), order::room()));
        let places = Places {
            said: nothing_said.collect(),
            origins,
            is_again,
            has_more,
            behind: BTreeMap::new(),
            before: order::room(),
            bytes: Vec::with_capacity(8 * place.capacity()),
            place,
            sealed: Vec::new(),
        };
        Ok((!places.origins.is_empty()).then(|| Box::new(places)))
    }

    /// The place of what is sent next, as it is sent; `None`: it has none.
    pub fn next(&mut self) -> Option<&[u8]> {
        order::place(self.is_again, &mut self.place);
        stash::encode(&self.place, &mut self.bytes);
        (!self.bytes.is_empty()).then_some(&self.bytes)
    }

    /// How far the thread has come with what other origins began than the one whose turn it is, if the
    /// receivers do not know that yet: what is sent next stands behind it.
    pub fn behind(&mut self) -> Option<&[u8]> {
        let place = &mut self.place;
        let known = |origin: Origin| {
            self.behind
                .get(&origin.into())
                .map_or(&[][..], Vec::as_slice)
        };
        let mut origins = self.origins.iter();
        origins.find(|&&origin| order::behind(origin, known(origin), place))?;
        let known = self.behind.entry(place[0]).or_default();
        known.clear();
        known.extend(&*place);
        stash::encode(place, &mut self.bytes);
        Some(&self.bytes)
    }

    /// A payload with the place that was last asked for, if there is one and both are of at most so many
    /// bytes.
    pub fn seal(&mut self, payload: &[u8], bytes_max: usize) -> Option<&[u8]> {
        let place = self.bytes.len();
        if place == 0 || stash::sealed_bytes(payload.len(), place) > bytes_max {
            return None;
        }
        stash::seal(payload, &self.bytes, &mut self.sealed);
        Some(&self.sealed)
    }

    /// The place that was last asked for, as it is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// It is sent. Whether it is time to say so.
    pub fn sent(&self) -> bool {
        !self.has_more && order::submitted()
    }

    /// The next thing that the receivers do not know yet.
    pub fn news(&mut self) -> Option<&[u8]> {
        let place = &mut self.place;
        let said = |origin: Origin| self.said.get(&origin.into()).map_or(&[][..], Vec::as_slice);
        let mut origins = self.origins.iter();
        origins.find(|&&origin| order::news(origin, said(origin), place))?;
        self.say().then_some(&self.bytes)
    }

    /// The last mark has found no room.
    pub fn take_back(&mut self) {
        let origin = self.place.first();
        if let Some(said) = origin.and_then(|origin| self.said.get_mut(origin)) {
            std::mem::swap(said, &mut self.before);
        }
        order::pend();
    }

    fn say(&mut self) -> bool {
        let Some(origin) = self.place.first() else {
            return false;
        };
        stash::encode(&self.place, &mut self.bytes);
        let said = self.said.entry(*origin).or_default();
        std::mem::swap(said, &mut self.before);
        said.clear();
        said.extend(&self.place);
        true
    }
}
