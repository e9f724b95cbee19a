//! Reliable unicast messaging: many frames a write, over TCP connections that may break.
//!
//! Frames are built in a ring at the sender's, and sent from there: what lies one after the other
//! goes out as one batch, with one write and no copy. They stay there until every receiver has
//! released them, so a receiver whose connection broke connects again, says the position that it
//! expects, and goes on: nothing is lost, doubled or out of order.
//!
//! ```text
//!   sender                                                   receivers
//!     claim, commit --> | ring: kept ... not sent yet |
//!                           ^          ^         ^
//!                        released    cursor of   cursor of
//!                        by all      receiver 1  receiver 0 -- batch --> intake: polled in place
//!                           +------------------------------ credit <---- position released
//! ```
//! The sending thread sends by itself, when a batch is full or the receiver is idle; what it leaves
//! behind the pump sends in time: see [`link`].
//!
//! # Flow
//! What is under way to a receiver lies in the ring, so the ring's size bounds it. A receiver returns
//! credit when it has released a quarter of the ring, and when it has nothing left to receive.
//!
//! # Who is gone, and who is away
//! A receiver whose connection broke connects again at once and then more and more rarely. It gives up
//! when nobody listens at its sender any more, or when that cannot be reached for as long as it has
//! patience. A sender waits for a receiver that is away as it waits for one that is slow: as long as
//! the receiver's lifeline is answered; see [`lifeline`].

mod batch;
mod behind;
mod due;
mod going;
mod guard;
mod lifeline;
mod link;
mod outlet;
mod pace;
mod place;
mod receiving;
mod redial;
mod sending;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lifeline::Lifeline;

use crate::media::tcp::dial;
use crate::media::tcp::door::Door;
use crate::media::tcp::hello::{Hello, Protocol, Way, Welcome};
use crate::media::tcp::intake::Intake;
use crate::media::tcp::line::Pair;
use crate::media::tcp::pump::Seat;
use crate::media::tcp::{instance, read_ticket, silence, terms, tickets};
use crate::{Caps, Counters, Error, Inbound, Medium, Outbound, Spec, Ticket};

/// Bounds of a ring.
const RING_BYTES_MIN: usize = 4096;
const RING_BYTES_MAX: usize = 1 << 30;

/// Payloads are at most a quarter of the ring, and not longer than this.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// Between two tries to connect for the first time.
const PAUSE: Duration = Duration::from_millis(2);

/// The medium.
#[derive(Clone, Copy, Debug)]
pub struct Rum {
    /// So long both sides wait for a broken connection to be made again.
    pub patience: Duration,
}

impl Rum {
    /// With five seconds of patience.
    pub const DEFAULT: Rum = Rum {
        patience: Duration::from_secs(5),
    };
}

impl Rum {
    /// Connects for the first time; tries again if the connection breaks meanwhile.
    fn connect(
        &self,
        name: &str,
        address: SocketAddr,
        hello: Hello,
    ) -> Result<(Pair, Welcome), Error> {
        let until = Instant::now() + self.patience;
        loop {
            let called = dial::call(address, hello);
            let is_hopeless = match &called {
                Ok(_) => true,
                Err(error) => error.kind() == ErrorKind::ConnectionRefused,
            };
            if is_hopeless || Instant::now() >= until {
                return dial::outcome(name, address, called);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Medium for Rum {
    fn name(&self) -> &'static str {
        "rum"
    }

    fn caps(&self) -> Caps {
        Caps {
            crosses_processes: true,
            crosses_hosts: true,
            is_foreign: true,
            is_one_to_many: true,
            batches: true,
            receivers_max: u32::MAX,
            is_for_tests: false,
        }
    }

    fn open(&self, spec: &Spec) -> Result<(Box<dyn Outbound>, Vec<Ticket>), Error> {
        let (seat, counters) = (Seat::take()?, Arc::<Counters>::default());
        let terms = terms(Protocol::Rum, spec);
        let door = Door::open(spec, terms, seat, counters.clone())?;
        let tickets = tickets(self.name(), spec, door.address()?);
        let ring_bytes = spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let made = ring::keeping(ring_bytes);
        let (writer, keeper) = made.map_err(|error| Error::system("make a ring", error))?;
        let frame_bytes_max = (keeper.capacity() / 4 - 8).min(FRAME_BYTES_MAX);
        let link = link::Link::new(link::Parts {
            keeper,
            door,
            receivers: spec.receivers,
            seat,
            counters: counters.clone(),
            batch: spec.batch,
            frame_bytes_max: frame_bytes_max as u32,
            patience: self.patience,
        });
        let shared = Arc::new(sending::Shared::new(link)?);
        seat.sit(shared.clone());
        let sizes = (spec.receivers, frame_bytes_max);
        let sending = sending::Sending::new(shared, counters, writer, spec.batch, sizes);
        Ok((Box::new(sending), tickets))
    }

    fn accept(&self, spec: &Spec, ticket: Ticket) -> Result<Box<dyn Inbound>, Error> {
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let instance = instance();
        let lifeline = Lifeline::towards(address, instance).map_err(|error| {
            let tried = format!("listen where the sender of {} is reached", spec.name);
            Error::system(tried, error)
        })?;
        let hello = Hello {
            protocol: Protocol::Rum,
            link: spec.link,
            receiver,
            token: spec.token,
            instance,
            position: 0,
            way: Way::Frames,
            lifeline: lifeline.port(),
        };
        let (pair, welcome) = self.connect(&spec.name, address, hello)?;
        silence::end_after(&pair.frames, self.patience);
        let intake = Intake::agreed(&spec.name, &welcome)?;
        let sender = behind::Sender {
            address,
            patience: self.patience,
            ring_bytes: welcome.ring_bytes,
        };
        let behind = behind::Behind::new(pair.credit, lifeline, &sender)?;
        let ends = (pair.frames, behind);
        let receiving =
            receiving::Receiving::new(ends, intake, spec.name.clone(), hello, self.patience);
        Ok(Box::new(receiving))
    }
}
