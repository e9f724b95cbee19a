//! The two ends of the reference medium, and what each fault does to them.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use ring::frame::{FrameBatch, FrameHeader, HEADER_BYTES, PAD};
use transport::{Error, PeerLoss, ReceivingEnd, SendingEnd, Waitable};

use crate::broken::Fault;
use crate::reference::{ReferenceState, Shared};

/// Sending end of the reference medium.
pub struct Sending {
    shared: Arc<Shared>,
    fault: Fault,
    /// Buffer of the next frame: header and payload.
    claim: Vec<u64>,
    claim_len: usize,
    /// Payload bytes of the last claim that found no room.
    wanted: usize,
    /// Frames that a fault keeps from the receivers.
    held: Vec<u64>,
    commits: u64,
    /// `commits` when the last claim looked for receivers.
    commits_at_look: Option<u64>,
    was_full: bool,
    losses: u64,
    lost: Vec<u32>,
}

/// Receiving end of the reference medium.
pub struct Receiving {
    shared: Arc<Shared>,
    fault: Fault,
    receiver: usize,
    polled: u64,
    batch: Vec<u64>,
    losses: u64,
}

fn gone(receiver: Option<u32>) -> Error {
    let why = "its end was dropped".to_owned();
    Error::PeerLost(PeerLoss {
        receiver,
        reason: why,
    })
}

impl Sending {
    /// The sending end of an edge.
    pub fn new(shared: Arc<Shared>) -> Sending {
        let fault = shared.fault;
        Sending {
            claim: Vec::with_capacity(shared.payload_bytes_max / 8 + 2),
            claim_len: 0,
            shared,
            fault,
            wanted: 0,
            held: Vec::with_capacity(64),
            commits: 0,
            commits_at_look: None,
            was_full: false,
            losses: 0,
            lost: Vec::with_capacity(8),
        }
    }

    fn see_the_lost(&mut self, state: &ReferenceState) -> Result<(), Error> {
        let gone_ones = state.released.iter().enumerate();
        for (receiver, _) in gone_ones.filter(|(_, released)| released.is_none()) {
            if !self.lost.contains(&(receiver as u32)) && self.fault != Fault::NamesNobody {
                self.lost.push(receiver as u32);
            }
        }
        let receivers = match self.fault {
            Fault::StopsWithOne => state.released.iter().all(Option::is_some),
            Fault::NeverSeesReceiversGo => true,
            _ => state.released.iter().any(Option::is_some),
        };
        self.losses += u64::from(!receivers);
        match receivers || self.losses > 1 && self.fault == Fault::SaysReceiverLostOnce {
            true => Ok(()),
            false => Err(gone(Some(0))),
        }
    }

    fn has_room(&self, state: &ReferenceState, len: usize) -> bool {
        let words = 1 + len.div_ceil(8);
        let is_stuck = self.was_full && self.fault == Fault::StaysFull;
        !is_stuck && state.words.len() + words <= state.words_max || self.fault == Fault::NeverFull
    }

    /// Changes a frame's header as the fault does.
    fn spoil(&mut self, header: &mut FrameHeader) {
        let word = self.commits + 1;
        match self.fault {
            Fault::RoundsLengths => header.len = header.len.next_multiple_of(8),
            Fault::KeepsClaimLength => header.len = self.claim_len as u32,
            Fault::LosesFlags => header.flags = 0,
            Fault::LosesKinds if header.kind > 250 => header.kind = 250,
            Fault::LosesEmpty if header.len == 0 => header.kind = PAD,
            Fault::CutsLargest if header.len as usize == self.shared.payload_bytes_max => {
                header.len -= 1;
            }
            Fault::Tears if header.len >= 64 && word.is_multiple_of(11) => {
                let last = header.len.div_ceil(8) as usize;
                self.claim[last] = 0;
            }
            Fault::Allocates => drop(std::hint::black_box(vec![1_u8; 100])),
            _ => {}
        }
    }

    /// Appends the claim, in the order that the fault gives.
    fn append(&mut self, state: &mut ReferenceState, words: usize) {
        let frame = &self.claim[..words];
        let turn = self.commits;
        let is_held = match self.fault {
            Fault::Reorders => turn.is_multiple_of(5),
            Fault::HoldsLastBack => true,
            Fault::FlushesNothing => !turn.is_multiple_of(16),
            Fault::Loses => turn.is_multiple_of(997),
            Fault::LosesWhenFull => state.words.len() + words + 4 > state.words_max,
            _ => false,
        };
        match (self.fault, is_held) {
            (Fault::HoldsLastBack | Fault::FlushesNothing, _) => {
                if self.fault == Fault::HoldsLastBack || !is_held {
                    state.words.extend(self.held.drain(..));
                }
                self.held.extend(frame);
            }
            (Fault::Reorders, true) => self.held.extend(frame),
            (Fault::Loses | Fault::LosesWhenFull, true) => {}
            _ => {
                state.words.extend(frame);
                state.words.extend(self.held.drain(..));
            }
        }
        if self.fault == Fault::Duplicates && turn.is_multiple_of(7) {
            state.words.extend(&self.claim[..words]);
        }
    }

    fn publish_claim(&mut self, kind: u8, flags: u8, len: usize) {
        let len = len as u32;
        let mut header = FrameHeader { len, kind, flags };
        self.spoil(&mut header);
        self.claim[0] = header.to_word();
        self.commits += 1;
        let shared = self.shared.clone();
        let mut state = shared.state();
        self.append(&mut state, 1 + header.len.div_ceil(8) as usize);
        let woken = match self.fault {
            Fault::NeverWakesReceivers => 0,
            Fault::WakesOne => 1,
            _ => shared.sender(),
        };
        (0..woken).for_each(|bell| shared.ring(&state, bell));
    }
}

impl SendingEnd for Sending {
    fn payload_bytes_max(&self) -> usize {
        self.shared.payload_bytes_max
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        let shared = self.shared.clone();
        if len > shared.payload_bytes_max && self.fault != Fault::AcceptsOversized {
            return Err(Error::Refused(format!("a claim of {len} bytes")));
        }
        if self.fault == Fault::PublishesClaims && self.claim_len > 0 {
            self.publish_claim(1, 0, self.claim_len);
        }
        let mut state = shared.state();
        let has_looked = self.commits_at_look.replace(self.commits) == Some(self.commits);
        if !has_looked || self.fault != Fault::ClaimsInSilence {
            self.see_the_lost(&state)?;
        }
        state.forget(self.fault);
        self.wanted = 0;
        if !self.has_room(&state, len) {
            self.wanted = len;
            self.was_full = true;
            return Ok(None);
        }
        self.claim_len = len;
        self.claim.resize(1 + len.div_ceil(8), 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.claim);
        Ok(Some(&mut bytes[HEADER_BYTES..HEADER_BYTES + len]))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        self.publish_claim(kind, flags, len);
        self.claim_len = 0;
    }

    fn try_write(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        room.copy_from_slice(payload);
        if self.fault == Fault::PutsHalf {
            self.claim[1 + payload.len() / 16..].fill(0);
        }
        self.commit(kind, flags, payload.len());
        Ok(true)
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let keeps = [Fault::HoldsLastBack, Fault::FlushesNothing, Fault::Reorders];
        Ok(self.held.is_empty() || keeps.contains(&self.fault))
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let shared = self.shared.clone();
        let mut state = shared.state();
        state.forget(self.fault);
        Ok(state.words.is_empty() || self.fault == Fault::DrainsTooSoon)
    }

    fn queued_bytes(&self) -> usize {
        let state = self.shared.state();
        let slowest = state.released.iter().flatten().min();
        let slowest = slowest.copied().unwrap_or(state.end());
        match self.fault {
            Fault::CountsNothing => 0,
            _ => 8 * (state.end() - slowest) as usize,
        }
    }

    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }
}

impl Waitable for Sending {
    fn arm(&mut self) -> Result<bool, Error> {
        let shared = self.shared.clone();
        let mut state = shared.state();
        let _ = self.see_the_lost(&state);
        state.forget(self.fault);
        let is_alone = state.released.iter().all(Option::is_none);
        let has_work = is_alone || self.has_room(&state, self.wanted);
        let sleeps = match self.fault {
            Fault::NeverSleeps => false,
            Fault::SleepsOverWork => true,
            _ => !has_work,
        };
        state.sleeps[shared.sender()] = sleeps;
        Ok(sleeps)
    }

    fn disarm(&mut self) {
        let sender = self.shared.sender();
        self.shared.state().sleeps[sender] = false;
        self.shared.silence(sender);
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.shared.bells[self.shared.sender()].as_fd());
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if self.fault == Fault::PublishesClaims && self.claim_len > 0 {
            self.publish_claim(1, 0, self.claim_len);
        }
        let mut state = self.shared.state();
        state.has_sender = false;
        if self.fault == Fault::LosesTail {
            let end = state.end();
            state.base = end;
            state.words.clear();
        }
        if self.fault != Fault::DiesInSilence {
            (0..self.shared.sender()).for_each(|bell| self.shared.ring(&state, bell));
        }
    }
}

impl Receiving {
    /// The receiving end of a receiver.
    pub fn new(shared: Arc<Shared>, receiver: u32) -> Receiving {
        let fault = shared.fault;
        let words_max = shared.state().words_max;
        Receiving {
            batch: Vec::with_capacity(words_max + 1),
            shared,
            fault,
            receiver: receiver as usize,
            polled: 0,
            losses: 0,
        }
    }

    fn is_lost(&mut self, state: &ReferenceState) -> bool {
        let is_lost = match self.fault {
            Fault::LosesUnpolled => !state.has_sender,
            Fault::NeverSeesTheSenderGo => false,
            _ => !state.has_sender && self.polled >= state.end(),
        };
        self.losses += u64::from(is_lost);
        is_lost && !(self.losses > 1 && self.fault == Fault::SaysLostOnce)
    }

    /// Copies the words that the receiver is shown.
    fn show(&mut self, state: &ReferenceState) {
        let polled = match self.fault {
            Fault::PollsAgain => state.released[self.receiver].unwrap_or(self.polled),
            _ => self.polled,
        };
        let from = polled.max(state.base) - state.base;
        let misses = self.fault == Fault::SkipsSecond && self.receiver == 1;
        if !(misses && polled.is_multiple_of(3)) {
            self.batch.extend(state.words.range(from as usize..));
        }
        self.polled = state.end();
    }

    fn give_back(&self, state: &mut ReferenceState) {
        let until = match self.fault {
            Fault::ReleasesUnpolled => state.end(),
            _ => self.polled,
        };
        state.released[self.receiver] = Some(until);
        let wakes = match self.fault {
            Fault::NeverWakesSender => false,
            Fault::WakesForTheFirst => self.receiver == 0,
            _ => true,
        };
        if wakes {
            self.shared.ring(state, self.shared.sender());
        }
    }
}

impl ReceivingEnd for Receiving {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        let shared = self.shared.clone();
        let mut state = shared.state();
        if self.is_lost(&state) {
            return Err(gone(None));
        }
        self.batch.clear();
        self.show(&state);
        if self.fault == Fault::ReleasesOnPoll {
            self.give_back(&mut state);
        }
        if self.fault == Fault::LiesCrooked {
            return Ok(FrameBatch::new(crooked(&mut self.batch)));
        }
        Ok(FrameBatch::new(bytemuck::cast_slice(&self.batch)))
    }

    fn release(&mut self) {
        let shared = self.shared.clone();
        let mut state = shared.state();
        self.give_back(&mut state);
    }
}

/// The bytes of a batch, moved by four, so that they are not aligned.
fn crooked(batch: &mut Vec<u64>) -> &[u8] {
    let len = batch.len() * 8;
    batch.push(0);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(batch);
    bytes.copy_within(..len, 4);
    &bytes[4..4 + len]
}

impl Waitable for Receiving {
    fn arm(&mut self) -> Result<bool, Error> {
        let shared = self.shared.clone();
        let has_work = |state: &ReferenceState| self.polled < state.end() || !state.has_sender;
        let mut state = shared.state();
        let has_work = has_work(&state);
        if self.fault == Fault::ArmsTooLate && !has_work {
            drop(state);
            (0..100).for_each(|_| std::thread::yield_now());
            state = shared.state();
        }
        let sleeps = match self.fault {
            Fault::NeverSleeps => false,
            Fault::SleepsOverWork => true,
            _ => !has_work,
        };
        state.sleeps[self.receiver] = sleeps;
        Ok(sleeps)
    }

    fn disarm(&mut self) {
        self.shared.state().sleeps[self.receiver] = false;
        self.shared.silence(self.receiver);
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.shared.bells[self.receiver].as_fd());
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        if self.fault == Fault::LeavesDescriptors {
            std::mem::forget(self.shared.bells[0].try_clone());
        }
        let mut state = self.shared.state();
        if self.fault != Fault::NeverSeesReceiversGo {
            state.released[self.receiver] = None;
        }
        if self.fault != Fault::DiesInSilence {
            self.shared.ring(&state, self.shared.sender());
        }
    }
}
