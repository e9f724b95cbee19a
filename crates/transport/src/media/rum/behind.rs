//! What goes on behind a receiving end: credit to the sender, and connecting again.
//!
//! ```text
//!   receiving end                       pump
//!     release --- position ----------->   tells the sender, in a while
//!     broken  --- where to go on ----->   dials, again and again
//!             <-- new connection, bell-   or word that there is no hope
//!                                         answers whoever knocks at the lifeline
//! ```

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lifeline::Lifeline;
use super::redial::Redial;
use crate::media::tcp::hello::Hello;
use crate::media::tcp::progress::{Progress, Telling};
use crate::media::tcp::pump::{Attended, Next, Seat};
use crate::media::tcp::silence;
use crate::{Bell, Error};

/// Shared between a receiving end and the pump.
pub(super) struct Behind {
    state: Mutex<State>,
    progress: Progress,
    seat: Seat,
    bell: Bell,
    address: SocketAddr,
    patience: Duration,
    /// There is an outcome of dialling.
    has_outcome: AtomicBool,
}

struct State {
    credit: Option<TcpStream>,
    telling: Telling,
    redial: Option<Redial>,
    outcome: Option<Outcome>,
    /// `None`: the receiving end is dropped, or the stream is over.
    lifeline: Option<Lifeline>,
}

/// What came of dialling.
pub(super) enum Outcome {
    /// Frames come on this connection.
    Connected(TcpStream),
    /// There is no hope: why.
    Lost(String),
}

/// The sender, as it has to be known to connect again.
pub(super) struct Sender {
    pub(super) address: SocketAddr,
    pub(super) patience: Duration,
    pub(super) ring_bytes: u64,
}

impl Behind {
    pub(super) fn new(
        credit: TcpStream,
        lifeline: Lifeline,
        sender: &Sender,
    ) -> Result<Arc<Behind>, Error> {
        let failed = |error| Error::system("attend to a TCP edge", error);
        let seat = Seat::take()?;
        lifeline.watch(seat).map_err(failed)?;
        let behind = Arc::new(Behind {
            state: Mutex::new(State {
                credit: Some(credit),
                telling: Telling::default(),
                redial: None,
                outcome: None,
                lifeline: Some(lifeline),
            }),
            progress: Progress::new(seat, sender.ring_bytes / 4),
            seat,
            bell: Bell::new().map_err(failed)?,
            address: sender.address,
            patience: sender.patience,
            has_outcome: AtomicBool::new(false),
        });
        seat.sit(behind.clone());
        Ok(behind)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything up to a position is released.
    pub(super) fn release(&self, position: u64) {
        if self.progress.release(position) {
            self.tell();
        }
    }

    /// Whether the sender was told less than there is to tell.
    pub(super) fn has_news(&self) -> bool {
        self.progress.has_news()
    }

    /// There is nothing to receive: the sender is told so, if it does not know.
    pub(super) fn idle(&self) {
        if self.progress.has_news() {
            self.tell();
        }
    }

    fn tell(&self) {
        if let State {
            credit: Some(credit),
            telling,
            ..
        } = &mut *self.state()
        {
            self.progress.tell(telling, credit);
        }
    }

    /// The connection broke: connects again, to go on where the hello says.
    pub(super) fn redial(&self, hello: Hello, why: String) {
        let mut state = self.state();
        state.credit = None;
        state.redial = Some(Redial::new(self.address, hello, why, self.patience));
        self.seat.call();
    }

    /// What came of dialling, once something has.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        if !self.has_outcome.load(Ordering::Acquire) {
            return None;
        }
        self.has_outcome.store(false, Ordering::Relaxed);
        self.bell.silence();
        self.state().outcome.take()
    }

    /// What rings when there is an outcome.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// The receiving end is dropped, or the stream is over.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        // Dropped: who knocks from now on is told by the system.
        if state.lifeline.take().is_none() {
            return;
        }
        state.redial = None;
        if let State {
            credit: Some(credit),
            telling,
            ..
        } = &mut *state
        {
            self.progress.leave(telling, credit);
        }
        self.seat.call();
    }

    /// Dials on. When to come back, if nothing happens before.
    fn dial_on(&self, state: &mut State, now: Instant) -> Option<Instant> {
        let redial = state.redial.as_mut()?;
        let outcome = match redial.step(self.seat, now) {
            Ok(None) => return Some(redial.due()),
            Ok(Some(pair)) => {
                self.progress.begin_again(&mut state.telling);
                self.progress.tell(&mut state.telling, &pair.credit);
                state.credit = Some(pair.credit);
                silence::end_after(&pair.frames, self.patience);
                Outcome::Connected(pair.frames)
            }
            Err(why) => Outcome::Lost(why),
        };
        state.redial = None;
        state.outcome = Some(outcome);
        self.has_outcome.store(true, Ordering::Release);
        self.bell.ring();
        None
    }
}

impl Attended for Behind {
    fn turn(&self, now: Instant) -> Next {
        let mut state = self.state();
        match &state.lifeline {
            None => return Next::Leave,
            Some(lifeline) => lifeline.answer(),
        }
        let dial = self.dial_on(&mut state, now);
        let tell = match &mut *state {
            State {
                credit: Some(credit),
                telling,
                ..
            } => self.progress.tell_on(telling, credit, now),
            _ => None,
        };
        Next::OnEvent.or_at(dial).or_at(tell)
    }
}
