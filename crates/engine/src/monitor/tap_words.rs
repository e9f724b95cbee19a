//! Words by which a command asks a PE for tuples of a stream, in memory that both have mapped.
//!
//! ```text
//!   word 0       MAGIC
//!   8 words      request 0: state | process of the command | operator and port | tuples a second |
//!                           format | descriptor of the ring | tuples submitted | 0
//!   ...          request 7
//! ```
//! A command takes a free request, fills it in and makes it [`RequestState::Asked`]. The PE looks
//! at all requests now and then. It makes a ring between processes, notes the ring's descriptor and
//! makes the request [`RequestState::Granted`]; the command opens the descriptor below
//! `/proc/PID/fd` and reads tuples as text, a frame each. To end, the command makes the request
//! [`RequestState::Done`], and the PE makes it free. The PE also frees requests of commands that
//! have died.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use graph::PortIndex;
use ring::SharedWords;
use tuple::text::RecordFormat;

const MAGIC: u64 = u64::from_le_bytes(*b"THALTAPS");

/// Number of requests that can be open at a time in one PE.
pub const REQUEST_COUNT: usize = 8;

const WORDS_PER_REQUEST: usize = 8;
const FIRST_REQUEST_WORD: usize = 8;

/// State of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum RequestState {
    /// No command has taken it.
    Free,
    /// A command fills it in.
    Taken,
    /// The PE is to grant it.
    Asked,
    /// The PE writes into the ring.
    Granted,
    /// The PE cannot make a ring, or has no such port.
    Refused,
    /// The tuples of the port stay within compiled code, which the job was not asked to show.
    Hidden,
    /// The command wants no more.
    Done,
}

/// The wish of a command: a stream, a rate, a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapRequest {
    /// Index of the operator in its PE.
    pub operator: u32,
    /// The operator's output port.
    pub port: PortIndex,
    /// Tuples a second at most.
    pub rate: u32,
    /// Form of the text.
    pub format: RecordFormat,
}

/// The words of all requests to a PE.
pub struct TapWords(SharedWords);

/// The words of one request.
pub struct TapRequestWords<'a>(&'a [AtomicU64]);

impl TapWords {
    /// Words for the requests to this process, and their descriptor.
    ///
    /// # Errors
    /// The system has no memory or no descriptor left.
    pub fn create() -> io::Result<(TapWords, OwnedFd)> {
        let words = FIRST_REQUEST_WORD + REQUEST_COUNT * WORDS_PER_REQUEST;
        let (words, fd) = SharedWords::shared(words)?;
        words[0].store(MAGIC, Ordering::Release);
        Ok((TapWords(words), fd))
    }

    /// The words of another process.
    ///
    /// # Errors
    /// The file holds no such words.
    pub fn join(fd: BorrowedFd<'_>) -> io::Result<TapWords> {
        let words = SharedWords::join(fd)?;
        let needed = FIRST_REQUEST_WORD + REQUEST_COUNT * WORDS_PER_REQUEST;
        if words.len() < needed || words[0].load(Ordering::Acquire) != MAGIC {
            let kind = io::ErrorKind::InvalidData;
            return Err(io::Error::new(kind, "a file without requests for taps"));
        }
        Ok(TapWords(words))
    }

    /// The request of a number below [`REQUEST_COUNT`].
    pub fn request(&self, number: usize) -> TapRequestWords<'_> {
        let begin = FIRST_REQUEST_WORD + number * WORDS_PER_REQUEST;
        TapRequestWords(&self.0[begin..begin + WORDS_PER_REQUEST])
    }
}

impl TapRequestWords<'_> {
    /// The state; what somebody else has written there counts as taken.
    pub fn state(&self) -> RequestState {
        use RequestState::{Asked, Done, Free, Granted, Hidden, Refused, Taken};
        let state = self.0[0].load(Ordering::Acquire);
        let all = [Free, Asked, Granted, Refused, Hidden, Done];
        let known = all.into_iter().find(|known| *known as u64 == state);
        known.unwrap_or(Taken)
    }

    /// Sets the state, after everything else.
    pub fn set_state(&self, state: RequestState) {
        self.0[0].store(state as u64, Ordering::Release);
    }

    /// Takes the request for this process, if it is free.
    pub fn take(&self) -> bool {
        let (free, taken) = (RequestState::Free as u64, RequestState::Taken as u64);
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let is_taken = self.0[0].compare_exchange(free, taken, success, failure);
        if is_taken.is_ok() {
            self.0[1].store(std::process::id().into(), Ordering::Relaxed);
        }
        is_taken.is_ok()
    }

    /// Process of the command; `None` if it has not said it yet.
    pub fn process(&self) -> Option<u32> {
        let process = self.0[1].load(Ordering::Relaxed);
        u32::try_from(process).ok().filter(|process| *process > 0)
    }

    /// Fills a taken request in, and asks the PE.
    pub fn ask(&self, request: &TapRequest) {
        let place = u64::from(request.operator) << 32 | u64::from(request.port.0);
        self.0[2].store(place, Ordering::Relaxed);
        self.0[3].store(request.rate.into(), Ordering::Relaxed);
        let format = FORMATS.iter().position(|known| *known == request.format);
        let format = format.unwrap_or_default() as u64;
        self.0[4].store(format, Ordering::Relaxed);
        self.set_state(RequestState::Asked);
    }

    /// The request as the command has filled it in.
    pub fn request(&self) -> TapRequest {
        let word = |at: usize| self.0[at].load(Ordering::Relaxed);
        let format = usize::try_from(word(4)).ok();
        let format = format.and_then(|format| FORMATS.get(format).copied());
        TapRequest {
            operator: (word(2) >> 32) as u32,
            port: PortIndex(word(2) as u32),
            rate: u32::try_from(word(3)).unwrap_or(u32::MAX),
            format: format.unwrap_or(RecordFormat::Txt),
        }
    }

    /// Grants the request: tuples come by the ring of this descriptor.
    pub fn grant(&self, ring: &OwnedFd) {
        self.0[5].store(ring.as_raw_fd() as u64, Ordering::Relaxed);
        self.set_submitted_count(0);
        self.set_state(RequestState::Granted);
    }

    /// Number of the ring's descriptor in the PE.
    pub fn ring(&self) -> u64 {
        self.0[5].load(Ordering::Relaxed)
    }

    /// Sets the number of tuples that the stream had since the request was granted.
    pub fn set_submitted_count(&self, tuples: u64) {
        self.0[6].store(tuples, Ordering::Relaxed);
    }

    /// Number of tuples that the stream had since the request was granted.
    pub fn submitted_count(&self) -> u64 {
        self.0[6].load(Ordering::Relaxed)
    }

    /// Makes the request free for the next command.
    pub fn free(&self) {
        self.0[1].store(0, Ordering::Relaxed);
        self.set_state(RequestState::Free);
    }
}

/// Formats by their number in a request.
const FORMATS: [RecordFormat; 3] = [RecordFormat::Txt, RecordFormat::Csv, RecordFormat::Json];

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_request_is_seen_as_it_was_asked() {
        let (words, fd) = TapWords::create().unwrap();
        let command = TapWords::join(fd.as_fd()).unwrap();
        let asked = TapRequest {
            operator: 7,
            port: PortIndex(3),
            rate: 100,
            format: RecordFormat::Json,
        };
        let request = command.request(REQUEST_COUNT - 1);
        assert!(request.take() && !request.take());
        request.ask(&asked);
        let seen = words.request(REQUEST_COUNT - 1);
        assert_eq!((seen.state(), seen.request()), (RequestState::Asked, asked));
        assert_eq!(seen.process(), Some(std::process::id()));
        seen.grant(&fd);
        assert_eq!(
            (request.state(), request.ring()),
            (RequestState::Granted, fd.as_raw_fd() as u64)
        );
        seen.free();
        assert_eq!(
            (request.state(), request.process()),
            (RequestState::Free, None)
        );
        assert_eq!(words.request(0).state(), RequestState::Free);
    }

    #[test]
    fn a_file_of_somebody_else_is_refused() {
        let (_words, fd) = SharedWords::shared(1000).unwrap();
        assert!(TapWords::join(fd.as_fd()).is_err());
    }
}
