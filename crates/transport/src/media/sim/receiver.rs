//! The receiving end of an edge with seeded faults.

use std::os::fd::BorrowedFd;

use ring::frame::{ALIGN, FrameBatch};

use super::fault_rng::FaultRng;
use super::faults::{SimFaults, cut_error};
use crate::{Error, ReceivingEnd, Waitable};

/// A receiving end behind faults. It copies the frames that it holds back, and gives their room
/// back once all of them were shown and released.
pub(super) struct SimReceiver {
    /// The end of the inner medium; `None`: it is cut off.
    inner: Option<Box<dyn ReceivingEnd>>,
    rng: FaultRng,
    faults: SimFaults,
    /// The sender is lost: no poll is late any more.
    is_lost: bool,
    /// Number of frames until the cut.
    until_cut: Option<u64>,
    copied_frames: Vec<u64>,
    /// Bytes of the copied frames that were shown.
    shown_bytes: usize,
}

impl SimReceiver {
    pub(super) fn new(
        inner: Box<dyn ReceivingEnd>,
        rng: FaultRng,
        faults: SimFaults,
        cut: Option<u64>,
        ring_bytes: usize,
    ) -> SimReceiver {
        let words = ring_bytes.next_power_of_two() / ALIGN;
        SimReceiver {
            inner: Some(inner),
            rng,
            faults,
            is_lost: false,
            until_cut: cut,
            copied_frames: Vec::with_capacity(words),
            shown_bytes: 0,
        }
    }

    fn has_more(&self) -> bool {
        self.shown_bytes < self.copied_frames.len() * ALIGN
    }

    /// Copies the next frames of the inner end.
    fn fetch(&mut self) -> Result<(), Error> {
        let Some(inner) = &mut self.inner else {
            return Err(cut_error(None));
        };
        self.is_lost = true;
        let bytes = inner.poll()?.bytes();
        self.is_lost = false;
        self.copied_frames.clear();
        self.copied_frames.resize(bytes.len().div_ceil(ALIGN), 0);
        let copied: &mut [u8] = bytemuck::cast_slice_mut(&mut self.copied_frames);
        copied[..bytes.len()].copy_from_slice(bytes);
        self.shown_bytes = 0;
        Ok(())
    }

    /// Number of the copied frames that this poll shows.
    fn take_frame_count(&mut self, batch: FrameBatch<'_>) -> usize {
        let all = batch.count() as u64;
        let left = self.until_cut.unwrap_or(all).min(all);
        let some = match self.rng.one_in(self.faults.split_poll) {
            true => 1 + self.rng.below(left),
            false => left,
        };
        let some = some.min(left);
        self.until_cut = self.until_cut.map(|frames| frames - some);
        some as usize
    }
}

/// Bytes of the first `frames` frames of a batch.
fn bytes_of_frames(mut batch: FrameBatch<'_>, frames: usize) -> usize {
    let bytes = batch.bytes().len();
    if let Some(before) = frames.checked_sub(1) {
        batch.nth(before);
    }
    bytes - batch.bytes().len()
}

impl ReceivingEnd for SimReceiver {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        if self.until_cut == Some(0) {
            self.inner = None;
            self.is_lost = true;
            return Err(cut_error(None));
        }
        if !self.is_lost && self.rng.one_in(self.faults.late_poll) {
            return Ok(FrameBatch::default());
        }
        if !self.has_more() {
            self.fetch()?;
        }
        let copied = std::mem::take(&mut self.copied_frames);
        let rest = FrameBatch::new(&bytemuck::cast_slice(&copied)[self.shown_bytes..]);
        let some = self.take_frame_count(rest);
        let end = match some == rest.count() {
            true => copied.len() * ALIGN,
            false => self.shown_bytes + bytes_of_frames(rest, some),
        };
        self.copied_frames = copied;
        let from = std::mem::replace(&mut self.shown_bytes, end);
        Ok(FrameBatch::new(
            &bytemuck::cast_slice(&self.copied_frames)[from..end],
        ))
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

impl Waitable for SimReceiver {
    fn arm(&mut self) -> Result<bool, Error> {
        match &mut self.inner {
            Some(inner) if self.shown_bytes == self.copied_frames.len() * ALIGN => inner.arm(),
            _ => Ok(false),
        }
    }

    fn disarm(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.disarm();
        }
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        if let Some(inner) = &self.inner {
            inner.poll_fds(readable, writable);
        }
    }
}
