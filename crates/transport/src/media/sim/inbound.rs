//! The receiving end with bad luck.

use std::os::fd::BorrowedFd;

use ring::frame::{ALIGN, Batch};

use super::chance::Chance;
use super::{Faults, cut_off};
use crate::{Error, Inbound, Wait};

/// A receiving end behind faults. What it holds back it has copied, and its room is given back when
/// all of it was shown and released.
pub(super) struct SimInbound {
    /// `None`: it is cut off.
    inner: Option<Box<dyn Inbound>>,
    chance: Chance,
    faults: Faults,
    /// The sender is lost: nothing is late any more.
    is_lost: bool,
    /// Frames until the cut.
    until_cut: Option<u64>,
    held: Vec<u64>,
    /// Bytes of it that were shown.
    shown: usize,
}

impl SimInbound {
    pub(super) fn new(
        inner: Box<dyn Inbound>,
        chance: Chance,
        faults: Faults,
        cut: Option<u64>,
        ring_bytes: usize,
    ) -> SimInbound {
        let words = ring_bytes.next_power_of_two() / ALIGN;
        SimInbound {
            inner: Some(inner),
            chance,
            faults,
            is_lost: false,
            until_cut: cut,
            held: Vec::with_capacity(words),
            shown: 0,
        }
    }

    fn has_more(&self) -> bool {
        self.shown < self.held.len() * ALIGN
    }

    /// Gets frames to show.
    fn fetch(&mut self) -> Result<(), Error> {
        let Some(inner) = &mut self.inner else {
            return Err(cut_off(None));
        };
        self.is_lost = true;
        let bytes = inner.poll()?.bytes();
        self.is_lost = false;
        self.held.clear();
        self.held.resize(bytes.len().div_ceil(ALIGN), 0);
        let held: &mut [u8] = bytemuck::cast_slice_mut(&mut self.held);
        held[..bytes.len()].copy_from_slice(bytes);
        self.shown = 0;
        Ok(())
    }

    /// How many of the frames that are held are shown now.
    fn some(&mut self, batch: Batch<'_>) -> usize {
        let all = batch.count() as u64;
        let left = self.until_cut.unwrap_or(all).min(all);
        let some = match self.chance.one_in(self.faults.split) {
            true => 1 + self.chance.below(left),
            false => left,
        };
        let some = some.min(left);
        self.until_cut = self.until_cut.map(|frames| frames - some);
        some as usize
    }
}

/// Where the frames that are not shown begin.
fn skip(mut batch: Batch<'_>, frames: usize) -> usize {
    let bytes = batch.bytes().len();
    if let Some(before) = frames.checked_sub(1) {
        batch.nth(before);
    }
    bytes - batch.bytes().len()
}

impl Inbound for SimInbound {
    fn poll(&mut self) -> Result<Batch<'_>, Error> {
        if self.until_cut == Some(0) {
            self.inner = None;
            self.is_lost = true;
            return Err(cut_off(None));
        }
        if !self.is_lost && self.chance.one_in(self.faults.late) {
            return Ok(Batch::default());
        }
        if !self.has_more() {
            self.fetch()?;
        }
        let held = std::mem::take(&mut self.held);
        let rest = Batch::new(&bytemuck::cast_slice(&held)[self.shown..]);
        let some = self.some(rest);
        let end = match some == rest.count() {
            true => held.len() * ALIGN,
            false => self.shown + skip(rest, some),
        };
        self.held = held;
        let from = std::mem::replace(&mut self.shown, end);
        Ok(Batch::new(&bytemuck::cast_slice(&self.held)[from..end]))
    }

    fn release(&mut self) {
        if self.has_more() {
            return;
        }
        if let Some(inner) = &mut self.inner {
            inner.release();
        }
    }
}

impl Wait for SimInbound {
    fn arm(&mut self) -> Result<bool, Error> {
        match &mut self.inner {
            Some(inner) if self.shown == self.held.len() * ALIGN => inner.arm(),
            _ => Ok(false),
        }
    }

    fn disarm(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.disarm();
        }
    }

    fn sources<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        if let Some(inner) = &self.inner {
            inner.sources(readable, writable);
        }
    }
}
