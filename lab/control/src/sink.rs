//! The sink of a control: what the sinks in SPL do, in their order.

use rustix::time::{ClockId, clock_gettime};

use crate::arrivals::Arrivals;

/// Counts and adds up what comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlSink {
    /// How much has come.
    pub count: u64,
    first_ns: i64,
    sum: i64,
}

impl ControlSink {
    /// One message, whose parts add up to this.
    #[inline]
    pub fn add(&mut self, sum: i64) {
        if self.count == 0 {
            self.first_ns = now_ns();
        }
        self.sum = self.sum.wrapping_add(sum);
        self.count += 1;
    }

    /// What came, now that the last message has.
    pub fn to_arrivals(&self) -> Arrivals {
        Arrivals {
            count: self.count,
            first_ns: self.first_ns,
            last_ns: now_ns(),
            sum: self.sum,
        }
    }

    /// Says it.
    pub fn print_arrivals(&self) {
        println!("{}", self.to_arrivals().to_line());
    }
}

/// The clock of `getCPUCounterInNanoSeconds()`.
pub fn now_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
