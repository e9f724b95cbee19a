//! The sink of a control, which does what the SPL sinks do, in their order.

use transport::monotonic_ns;

use crate::arrivals::Arrivals;

/// Counts messages and adds them up, and notes when the first one came.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlSink {
    /// Number of messages so far.
    pub count: u64,
    first_ns: i64,
    sum: i64,
}

impl ControlSink {
    /// Counts a message whose parts add up to `sum`.
    #[inline]
    pub fn add(&mut self, sum: i64) {
        if self.count == 0 {
            self.first_ns = now_ns();
        }
        self.sum = self.sum.wrapping_add(sum);
        self.count += 1;
    }

    /// The arrivals, to be called when the last message has come: now is its time.
    pub fn to_arrivals(&self) -> Arrivals {
        Arrivals {
            count: self.count,
            first_ns: self.first_ns,
            last_ns: now_ns(),
            sum: self.sum,
        }
    }

    /// Prints the line of arrivals to standard output.
    pub fn print_arrivals(&self) {
        println!("{}", self.to_arrivals().to_line());
    }
}

/// Nanoseconds of the monotonic clock, which SPL reads by `getCPUCounterInNanoSeconds()`.
pub fn now_ns() -> i64 {
    monotonic_ns() as i64
}
