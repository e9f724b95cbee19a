//! Words by which a command gives a running PE another plan, in memory that both have mapped.
//!
//! ```text
//!   word 0       MAGIC
//!   word 8       state
//!   word 9       process of the command
//!   word 10      descriptor of a file of that process, with the text of the plan
//!   word 11      bytes of the answer
//!   word 16      the answer, a sentence of at most ANSWER_BYTES_MAX bytes
//! ```
//! A command takes the words, makes them [`PlanRequestState::CheckAsked`], and the PE says whether
//! the plan can be its own from now on: [`PlanRequestState::Checked`] or
//! [`PlanRequestState::Refused`]. When all PEs of the job have agreed, the command asks each to
//! apply it, and frees the words. The PE frees those of a command that has died.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use ring::SharedWords;

const MAGIC: u64 = u64::from_le_bytes(*b"THALPLAN");

const STATE: usize = 8;
const PROCESS: usize = 9;
const FILE: usize = 10;
const ANSWER_BYTES: usize = 11;
const ANSWER: usize = 16;

/// Most bytes of an answer; a longer one is cut.
const ANSWER_BYTES_MAX: usize = 4096;

const WORDS: usize = ANSWER + ANSWER_BYTES_MAX / 8;

/// State of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum PlanRequestState {
    /// No command has taken them.
    Free,
    /// A command fills them in.
    Taken,
    /// The PE is to check the plan.
    CheckAsked,
    /// The plan can be applied.
    Checked,
    /// The PE is to apply the plan that it has checked.
    ApplyAsked,
    /// The plan is the PE's.
    Applied,
    /// The plan cannot be the PE's; the answer says why.
    Refused,
}

/// The words of a PE.
pub struct PlanWords(SharedWords);

impl PlanWords {
    /// Words for the plans of this process, and their descriptor.
    ///
    /// # Errors
    /// The system has no memory or no descriptor left.
    pub fn create() -> io::Result<(PlanWords, OwnedFd)> {
        let (words, fd) = SharedWords::shared(WORDS)?;
        words[0].store(MAGIC, Ordering::Release);
        Ok((PlanWords(words), fd))
    }

    /// The words of another process.
    ///
    /// # Errors
    /// The file holds no such words.
    pub fn join(fd: BorrowedFd<'_>) -> io::Result<PlanWords> {
        let words = SharedWords::join(fd)?;
        if words.len() < WORDS || words[0].load(Ordering::Acquire) != MAGIC {
            let kind = io::ErrorKind::InvalidData;
            return Err(io::Error::new(kind, "a file without requests for plans"));
        }
        Ok(PlanWords(words))
    }

    /// The state; what somebody else has written there counts as taken.
    pub fn state(&self) -> PlanRequestState {
        use PlanRequestState::{Applied, ApplyAsked, CheckAsked, Checked, Free, Refused, Taken};
        let state = self.0[STATE].load(Ordering::Acquire);
        let all = [Free, CheckAsked, Checked, ApplyAsked, Applied, Refused];
        let known = all.into_iter().find(|known| *known as u64 == state);
        known.unwrap_or(Taken)
    }

    /// Goes from one state to another, unless the command has gone on meanwhile.
    pub fn advance(&self, from: PlanRequestState, to: PlanRequestState) {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        // The command has given up and freed the words, if they have another state now.
        let _ = self.0[STATE].compare_exchange(from as u64, to as u64, success, failure);
    }

    /// Sets the state, after everything else.
    pub fn set_state(&self, state: PlanRequestState) {
        self.0[STATE].store(state as u64, Ordering::Release);
    }

    /// Takes the words for this process, if they are free.
    pub fn take(&self) -> bool {
        let (free, taken) = (
            PlanRequestState::Free as u64,
            PlanRequestState::Taken as u64,
        );
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let is_taken = self.0[STATE].compare_exchange(free, taken, success, failure);
        if is_taken.is_ok() {
            self.0[PROCESS].store(std::process::id().into(), Ordering::Relaxed);
        }
        is_taken.is_ok()
    }

    /// Process of the command; `None` if it has not said it yet.
    pub fn process(&self) -> Option<u32> {
        let process = self.0[PROCESS].load(Ordering::Relaxed);
        u32::try_from(process).ok().filter(|process| *process > 0)
    }

    /// Asks the PE to check the plan in a file of this process, by the file's descriptor.
    pub fn ask(&self, file: u32) {
        self.0[FILE].store(file.into(), Ordering::Relaxed);
        self.set_state(PlanRequestState::CheckAsked);
    }

    /// Number of the descriptor of the plan's file, in the process of the command.
    pub fn file(&self) -> u64 {
        self.0[FILE].load(Ordering::Relaxed)
    }

    /// Refuses the plan that was to be checked or applied.
    pub fn refuse(&self, asked: PlanRequestState, why: &str) {
        let bytes = &why.as_bytes()[..why.floor_char_boundary(ANSWER_BYTES_MAX)];
        for (word, chunk) in self.0[ANSWER..].iter().zip(bytes.chunks(8)) {
            let mut padded = [0; 8];
            padded[..chunk.len()].copy_from_slice(chunk);
            word.store(u64::from_le_bytes(padded), Ordering::Relaxed);
        }
        self.0[ANSWER_BYTES].store(bytes.len() as u64, Ordering::Relaxed);
        self.advance(asked, PlanRequestState::Refused);
    }

    /// Why the plan is refused.
    pub fn answer(&self) -> String {
        let len = self.0[ANSWER_BYTES].load(Ordering::Relaxed);
        let len = usize::try_from(len).unwrap_or(0).min(ANSWER_BYTES_MAX);
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed).to_le_bytes();
        let bytes: Vec<u8> = self.0[ANSWER..WORDS]
            .iter()
            .flat_map(load)
            .take(len)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Makes the words free for the next command.
    pub fn free(&self) {
        self.0[PROCESS].store(0, Ordering::Relaxed);
        self.set_state(PlanRequestState::Free);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_refusal_reaches_the_command_and_a_long_one_is_cut_between_letters() {
        let (words, fd) = PlanWords::create().unwrap();
        let command = PlanWords::join(fd.as_fd()).unwrap();
        assert!(command.take() && !command.take());
        command.ask(17);
        assert_eq!(
            (words.state(), words.file()),
            (PlanRequestState::CheckAsked, 17)
        );
        assert_eq!(words.process(), Some(std::process::id()));
        words.refuse(PlanRequestState::CheckAsked, "no queue before `Größe.0`");
        assert_eq!(command.state(), PlanRequestState::Refused);
        assert_eq!(command.answer(), "no queue before `Größe.0`");
        command.ask(17);
        words.refuse(PlanRequestState::CheckAsked, &"ö".repeat(3000));
        assert_eq!(command.answer(), "ö".repeat(2048));
        command.free();
        words.advance(PlanRequestState::CheckAsked, PlanRequestState::Checked);
        assert_eq!(
            (words.state(), words.process()),
            (PlanRequestState::Free, None)
        );
    }

    #[test]
    fn a_file_of_somebody_else_is_refused() {
        let (_words, fd) = SharedWords::shared(1000).unwrap();
        assert!(PlanWords::join(fd.as_fd()).is_err());
    }
}
