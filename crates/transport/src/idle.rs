//! Idle strategies: what a loop does when a turn had no work. It spins, yields or parks.
//!
//! ```text
//!   loop {
//!       if turn() { idler.reset(); }
//!       else if !idler.spin_or_yield() { idler.park(ends); }
//!   }
//!
//!   adaptive:  work | spin up to the budget | yield a few times | park ... woken
//!                   |<------ time without work ------------------------->|
//! ```
//!
//! # How it adapts
//! Spinning pays if work comes soon. Each park that ends shows how long there was no work: if
//! spinning would have bridged that time (up to [`SPIN_MAX`]), the budget grows, else it shrinks,
//! down to nothing. So a loop that gets work every few microseconds never sleeps, and one that gets
//! it once a second takes no time of a core. Without a core to spare (`may_spin`) the loop never
//! spins: the thread that it waits for needs the core.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::park::{Parker, WaitSet};
use crate::{Error, Waitable, Wakeup};

/// Action of a loop whose turn had no work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleStrategy {
    /// Look again at once, for ever: the shortest latency, for a whole core.
    Spin,
    /// Let other threads run, then look again: a whole core if no other thread wants it.
    Yield,
    /// Sleep until an end has work.
    Park,
    /// Spin, then yield, then park; how long depends on how soon work came before.
    #[default]
    Adaptive,
}

/// Longest time to spin. Sleeping through a longer pause costs less than the core that spinning
/// takes.
pub const SPIN_MAX: Duration = Duration::from_micros(200);

/// Shortest time to spin, if the loop spins at all.
const SPIN_MIN: Duration = Duration::from_micros(10);

/// Spins between two looks at the clock, which cost more than a spin.
const SPINS_PER_LOOK: u32 = 32;

/// Most spins before a yield, in case the clock stands still.
const SPINS_MAX: u32 = 1 << 20;

/// Most yields before a park.
const YIELDS: u32 = 8;

/// Time after which a loop does not yield any more: where many threads want the core, a yield is a
/// long wait, and a sleeping thread is woken sooner.
const YIELD_MAX: Duration = Duration::from_micros(50);

/// Applies an idle strategy for one loop.
///
/// # Example
/// A thread that waits until the receiver has a frame:
/// ```
/// use thalweg_transport::{Batching, EdgeSpec, IdleStrategy, Idler, Waitable, media};
///
/// # let spec = EdgeSpec {
/// #     name: "Trades.0".into(),
/// #     edge: 0,
/// #     receiver_count: 1,
/// #     ring_bytes: 4096,
/// #     batching: Batching::default(),
/// #     token: [7; 16],
/// #     listen: std::net::Ipv4Addr::LOCALHOST.into(),
/// # };
/// let medium = media::find("ring").expect("a medium of this name");
/// let (mut sender, mut tickets) = medium.open(&spec)?;
/// let mut receiver = medium.accept(&spec, tickets.remove(0))?;
/// let sending = std::thread::spawn(move || sender.try_write(1, 0, b"hello"));
/// let mut idler = Idler::new(IdleStrategy::Adaptive, true).expect("a descriptor");
/// loop {
///     let batch = receiver.poll()?;
///     if let Some(frame) = batch.into_iter().next() {
///         assert_eq!(frame.bytes, b"hello");
///         break;
///     }
///     if !idler.spin_or_yield() {
///         let mut ends: [&mut dyn Waitable; 1] = [&mut *receiver];
///         idler.park(&mut ends, None).map_err(|(_, error)| error)?;
///     }
/// }
/// # assert!(sending.join().expect("no panic")?);
/// # Ok::<(), thalweg_transport::Error>(())
/// ```
#[derive(Debug)]
pub struct Idler {
    strategy: IdleStrategy,
    may_spin: bool,
    parker: Parker,
    spin_budget: Duration,
    /// Time at which the work ran out; `None`: the last turn had work.
    idle_since: Option<Instant>,
    spins: u32,
    yields: u32,
}

impl Idler {
    /// Idling for a loop; `may_spin` says whether it has a core to spin on.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new(strategy: IdleStrategy, may_spin: bool) -> io::Result<Idler> {
        Ok(Idler {
            strategy,
            may_spin,
            parker: Parker::new(Wakeup::new()?),
            spin_budget: SPIN_MIN,
            idle_since: None,
            spins: 0,
            yields: 0,
        })
    }

    /// Wakeup with which another thread ends a park.
    pub fn wakeup(&self) -> &Wakeup {
        &self.parker.wakeup
    }

    /// Notes that the turn had work.
    #[inline]
    pub fn reset(&mut self) {
        self.idle_since = None;
        self.spins = 0;
        self.yields = 0;
    }

    /// Spins or yields once after a turn without work. `true`: look for work again; `false`: it is
    /// time to [`Idler::park`].
    #[inline]
    pub fn spin_or_yield(&mut self) -> bool {
        match self.strategy {
            IdleStrategy::Spin => std::hint::spin_loop(),
            IdleStrategy::Yield => rustix::thread::sched_yield(),
            IdleStrategy::Park => return false,
            IdleStrategy::Adaptive => return self.spin_or_yield_adaptively(),
        }
        true
    }

    fn spin_or_yield_adaptively(&mut self) -> bool {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        if self.may_spin && self.yields == 0 && self.spins < SPINS_MAX {
            self.spins += 1;
            let looks = self.spins.is_multiple_of(SPINS_PER_LOOK);
            if !looks || since.elapsed() < self.spin_budget {
                std::hint::spin_loop();
                return true;
            }
        }
        let may_yield = self.yields == 0 || since.elapsed() < self.spin_time() + YIELD_MAX;
        if self.yields < YIELDS && may_yield {
            self.yields += 1;
            rustix::thread::sched_yield();
            return true;
        }
        false
    }

    fn spin_time(&self) -> Duration {
        if self.may_spin {
            self.spin_budget
        } else {
            Duration::ZERO
        }
    }

    /// Sleeps until one of the ends has work, the wakeup is used, or the time `at_most` is over.
    ///
    /// # Errors
    /// The index of the end that cannot be waited for, and why.
    pub fn park(
        &mut self,
        ends: &mut (impl WaitSet + ?Sized),
        at_most: Option<Duration>,
    ) -> Result<(), (usize, Error)> {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        let slept = self.parker.park(ends, at_most);
        self.adapt_spin_budget(since.elapsed());
        slept
    }

    /// Sleeps until the wakeup is used, or the time `at_most` is over.
    ///
    /// # Errors
    /// The system call to wait has failed.
    pub fn sleep(&mut self, at_most: Option<Duration>) -> Result<(), Error> {
        let none: &mut [&mut dyn Waitable; 0] = &mut [];
        self.park(none, at_most).map_err(|(_, error)| error)
    }

    /// Adapts the budget to the time that there was no work.
    fn adapt_spin_budget(&mut self, idle: Duration) {
        if idle <= self.spin_budget {
            return;
        }
        self.spin_budget = if idle <= SPIN_MAX {
            (self.spin_budget * 2).clamp(SPIN_MIN, SPIN_MAX)
        } else if self.spin_budget > SPIN_MIN {
            self.spin_budget / 2
        } else {
            Duration::ZERO
        };
    }
}

impl FromStr for IdleStrategy {
    type Err = String;

    fn from_str(word: &str) -> Result<IdleStrategy, String> {
        Ok(match word {
            "spin" => IdleStrategy::Spin,
            "yield" => IdleStrategy::Yield,
            "park" => IdleStrategy::Park,
            "adaptive" => IdleStrategy::Adaptive,
            _ => {
                return Err(format!(
                    "{word} is no idle strategy: there are spin, yield, park and adaptive"
                ));
            }
        })
    }
}

impl fmt::Display for IdleStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IdleStrategy::Spin => "spin",
            IdleStrategy::Yield => "yield",
            IdleStrategy::Park => "park",
            IdleStrategy::Adaptive => "adaptive",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::BorrowedFd;

    use super::*;

    fn passes(idle: &mut Idler) -> u32 {
        let mut count = 0;
        while idle.spin_or_yield() {
            count += 1;
        }
        count
    }

    #[test]
    fn only_a_loop_with_a_core_to_spare_spins_and_all_park_in_the_end() {
        let mut poor = Idler::new(IdleStrategy::Adaptive, false).unwrap();
        assert!((1..=YIELDS).contains(&passes(&mut poor)));
        let mut rich = Idler::new(IdleStrategy::Adaptive, true).unwrap();
        assert!(passes(&mut rich) > YIELDS);
        assert!(
            !rich.spin_or_yield(),
            "it stays parked until there was work"
        );
        rich.reset();
        assert!(rich.spin_or_yield());
        assert!(
            !Idler::new(IdleStrategy::Park, true)
                .unwrap()
                .spin_or_yield()
        );
    }

    #[test]
    fn the_budget_follows_what_spinning_would_have_bridged() {
        let mut idle = Idler::new(IdleStrategy::Adaptive, true).unwrap();
        for _ in 0..10 {
            idle.adapt_spin_budget(SPIN_MAX);
        }
        assert_eq!(idle.spin_budget, SPIN_MAX);
        for _ in 0..10 {
            idle.adapt_spin_budget(Duration::from_secs(1));
        }
        assert_eq!(idle.spin_budget, Duration::ZERO);
        let spins = SPINS_PER_LOOK - 1;
        assert!((spins + 1..=spins + YIELDS).contains(&passes(&mut idle)));
        idle.adapt_spin_budget(SPIN_MIN);
        assert_eq!(idle.spin_budget, SPIN_MIN);
    }

    #[test]
    fn a_bell_that_rang_before_the_park_ends_it() {
        let mut idle = Idler::new(IdleStrategy::Park, false).unwrap();
        idle.wakeup().wake();
        idle.sleep(None).unwrap();
        let at_most = Some(Duration::from_millis(1));
        idle.sleep(at_most).unwrap();
    }

    #[derive(Default)]
    struct End {
        has_work: bool,
        is_broken: bool,
        armed: i32,
    }

    impl Waitable for End {
        fn arm(&mut self) -> Result<bool, Error> {
            self.armed += 1;
            if self.is_broken {
                return Err(Error::Refused("broken".into()));
            }
            Ok(!self.has_work)
        }

        fn disarm(&mut self) {
            self.armed -= 1;
        }

        fn poll_fds<'a>(&'a self, _: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {}
    }

    #[test]
    fn an_end_with_work_or_a_broken_one_keeps_the_loop_awake() {
        let mut idle = Idler::new(IdleStrategy::Park, false).unwrap();
        let mut quiet = End::default();
        let mut busy = End {
            has_work: true,
            ..End::default()
        };
        let mut broken = End {
            is_broken: true,
            ..End::default()
        };
        let mut two: [&mut dyn Waitable; 2] = [&mut quiet, &mut busy];
        idle.park(&mut two, None).unwrap();
        let mut two: [&mut dyn Waitable; 2] = [&mut quiet, &mut broken];
        let failed = idle.park(&mut two, None);
        assert_eq!(failed.unwrap_err().0, 1);
        assert_eq!((quiet.armed, busy.armed, broken.armed), (0, 0, 0));
    }

    #[test]
    fn every_strategy_has_its_word() {
        for strategy in [
            IdleStrategy::Spin,
            IdleStrategy::Yield,
            IdleStrategy::Park,
            IdleStrategy::Adaptive,
        ] {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("sleep".parse::<IdleStrategy>().is_err());
    }
}
