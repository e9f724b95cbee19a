//! What a loop does when a turn had no work: spin, yield, park.
//!
//! ```text
//!   loop {
//!       if turn() { idle.worked(); }
//!       else if !idle.pass() { idle.park(ends); }       // pass: spins or yields once
//!   }
//!
//!   adaptive:  work | spin up to the budget | yield a few times | park ... woken
//!                   |<------ how long there was no work ------------>|
//! ```
//!
//! # How it adapts
//! Spinning pays if work comes soon. Each park that ends shows how long there was no work: if
//! spinning would have bridged it ([`SPIN_MAX`]), the budget grows, else it shrinks, down to
//! nothing. So a loop that is fed every few microseconds never sleeps, and one that is fed once a
//! second takes no time of a core. Without a core to spare (`may_spin`) it never spins: whoever it
//! waits for needs the core.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::park::{Ends, Sleep};
use crate::{Bell, Error, Wait};

/// What to do without work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Look again at once, for ever: the shortest latency, a whole core.
    Spin,
    /// Let others run, then look again: a whole core if nobody else wants it.
    Yield,
    /// Sleep until there is work.
    Park,
    /// Each of these, in this order.
    #[default]
    Adaptive,
}

/// Longest time to spin.
pub const SPIN_MAX: Duration = Duration::from_micros(200);

/// Shortest time to spin, if at all.
const SPIN_MIN: Duration = Duration::from_micros(10);

/// Spins between two looks at the clock.
const SPINS_PER_LOOK: u32 = 32;

/// Spins at most, should the clock stand still.
const SPINS_MAX: u32 = 1 << 20;

/// Yields before a park, at most ...
const YIELDS: u32 = 8;

/// ... and no more after this time: where many threads want the core, a yield is a long wait, and
/// who sleeps is woken sooner.
const YIELD_MAX: Duration = Duration::from_micros(50);

/// The idling of one loop.
#[derive(Debug)]
pub struct Idle {
    strategy: Strategy,
    may_spin: bool,
    sleep: Sleep,
    budget: Duration,
    /// When the work ran out.
    since: Option<Instant>,
    spins: u32,
    yields: u32,
}

impl Idle {
    /// For a loop that has a core to spin on, or has not.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new(strategy: Strategy, may_spin: bool) -> io::Result<Idle> {
        Ok(Idle {
            strategy,
            may_spin,
            sleep: Sleep::new(Bell::new()?),
            budget: SPIN_MIN,
            since: None,
            spins: 0,
            yields: 0,
        })
    }

    /// What ends a park from outside.
    pub fn bell(&self) -> &Bell {
        &self.sleep.bell
    }

    /// There was work.
    #[inline]
    pub fn worked(&mut self) {
        self.since = None;
        self.spins = 0;
        self.yields = 0;
    }

    /// There was none. `true`: look again; `false`: it is time to [`Idle::park`].
    #[inline]
    pub fn pass(&mut self) -> bool {
        match self.strategy {
            Strategy::Spin => std::hint::spin_loop(),
            Strategy::Yield => rustix::thread::sched_yield(),
            Strategy::Park => return false,
            Strategy::Adaptive => return self.adapt(),
        }
        true
    }

    fn adapt(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        if self.may_spin && self.yields == 0 && self.spins < SPINS_MAX {
            self.spins += 1;
            let looks = self.spins.is_multiple_of(SPINS_PER_LOOK);
            if !looks || since.elapsed() < self.budget {
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
            self.budget
        } else {
            Duration::ZERO
        }
    }

    /// Sleeps until one of the ends has work, the bell rings, or so much time is over.
    ///
    /// # Errors
    /// The end (by its place) that cannot be waited for, and why.
    pub fn park(
        &mut self,
        ends: &mut (impl Ends + ?Sized),
        at_most: Option<Duration>,
    ) -> Result<(), (usize, Error)> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let slept = self.sleep.on(ends, at_most);
        self.adjust(since.elapsed());
        slept
    }

    /// Sleeps until the bell rings, or so much time is over.
    ///
    /// # Errors
    /// The system does not wait.
    pub fn nap(&mut self, at_most: Option<Duration>) -> Result<(), Error> {
        let none: &mut [&mut dyn Wait; 0] = &mut [];
        self.park(none, at_most).map_err(|(_, error)| error)
    }

    /// It took so long until there was work again.
    fn adjust(&mut self, idle: Duration) {
        if idle <= self.budget {
            return;
        }
        self.budget = if idle <= SPIN_MAX {
            (self.budget * 2).clamp(SPIN_MIN, SPIN_MAX)
        } else if self.budget > SPIN_MIN {
            self.budget / 2
        } else {
            Duration::ZERO
        };
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(word: &str) -> Result<Strategy, String> {
        Ok(match word {
            "spin" => Strategy::Spin,
            "yield" => Strategy::Yield,
            "park" => Strategy::Park,
            "adaptive" => Strategy::Adaptive,
            _ => {
                return Err(format!(
                    "{word} is no idle strategy: there are spin, yield, park and adaptive"
                ));
            }
        })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Strategy::Spin => "spin",
            Strategy::Yield => "yield",
            Strategy::Park => "park",
            Strategy::Adaptive => "adaptive",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::BorrowedFd;

    fn passes(idle: &mut Idle) -> u32 {
        let mut count = 0;
        while idle.pass() {
            count += 1;
        }
        count
    }

    #[test]
    fn only_a_loop_with_a_core_to_spare_spins_and_all_park_in_the_end() {
        let mut poor = Idle::new(Strategy::Adaptive, false).unwrap();
        assert!((1..=YIELDS).contains(&passes(&mut poor)));
        let mut rich = Idle::new(Strategy::Adaptive, true).unwrap();
        assert!(passes(&mut rich) > YIELDS);
        assert!(!rich.pass(), "it stays parked until there was work");
        rich.worked();
        assert!(rich.pass());
        assert!(!Idle::new(Strategy::Park, true).unwrap().pass());
    }

    #[test]
    fn the_budget_follows_what_spinning_would_have_bridged() {
        let mut idle = Idle::new(Strategy::Adaptive, true).unwrap();
        for _ in 0..10 {
            idle.adjust(SPIN_MAX);
        }
        assert_eq!(idle.budget, SPIN_MAX);
        for _ in 0..10 {
            idle.adjust(Duration::from_secs(1));
        }
        assert_eq!(idle.budget, Duration::ZERO);
        let spins = SPINS_PER_LOOK - 1;
        assert!((spins + 1..=spins + YIELDS).contains(&passes(&mut idle)));
        idle.adjust(SPIN_MIN);
        assert_eq!(idle.budget, SPIN_MIN);
    }

    #[test]
    fn a_bell_that_rang_before_the_park_ends_it() {
        let mut idle = Idle::new(Strategy::Park, false).unwrap();
        idle.bell().ring();
        idle.nap(None).unwrap();
        let at_most = Some(Duration::from_millis(1));
        idle.nap(at_most).unwrap();
    }

    #[derive(Default)]
    struct End {
        has_work: bool,
        is_broken: bool,
        armed: i32,
    }

    impl Wait for End {
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

        fn sources<'a>(&'a self, _: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {}
    }

    #[test]
    fn an_end_with_work_or_a_broken_one_keeps_the_loop_awake() {
        let mut idle = Idle::new(Strategy::Park, false).unwrap();
        let mut quiet = End::default();
        let mut busy = End {
            has_work: true,
            ..End::default()
        };
        let mut broken = End {
            is_broken: true,
            ..End::default()
        };
        let mut two: [&mut dyn Wait; 2] = [&mut quiet, &mut busy];
        idle.park(&mut two, None).unwrap();
        let mut two: [&mut dyn Wait; 2] = [&mut quiet, &mut broken];
        let failed = idle.park(&mut two, None);
        assert_eq!(failed.unwrap_err().0, 1);
        assert_eq!((quiet.armed, busy.armed, broken.armed), (0, 0, 0));
    }

    #[test]
    fn every_strategy_has_its_word() {
        for strategy in [
            Strategy::Spin,
            Strategy::Yield,
            Strategy::Park,
            Strategy::Adaptive,
        ] {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("sleep".parse::<Strategy>().is_err());
    }
}
