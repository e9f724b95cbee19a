//! What a subscriber counts: messages that it waited for apart from those that it found.
//!
//! A receiver that is faster than its sender reads the ring's index all the time, and the sender has to
//! take that line from it with every message: each is *waited* for. A receiver that comes a little
//! later finds a message that is there already, often several, and neither side waits for the other:
//! those are *found*. The second case is much faster and not to be counted on.
//!
//! Of what one poll brings, the first message was waited for if the receiver had looked in vain since
//! the poll before; the others were found.

use measure::Histogram;

use crate::clock;
use crate::message::Times;
use crate::windows::{Cut, Windows};

/// A window is contended if the receiver has waited for one of so many messages, or more often: each
/// time the index has gone from one processor to the other and back.
const CONTENDED: u64 = 32;

/// It is lucky if it has waited for one of so many, or less often. A batch of the smallest messages has
/// some 800, so a receiver that takes batch by batch is not.
const LUCKY: u64 = 2048;

/// Counts of one stream, from its beginning to its end.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) messages: u64,
    /// Messages that were waited for.
    pub(crate) waited: u64,
    /// Polls that brought something.
    pub(crate) batches: u64,
    pub(crate) batch_max: u64,
    pub(crate) rates: Rates,
    pub(crate) latencies: Latencies,
}

/// Rates by how much was waited for.
#[derive(Default)]
pub(crate) struct Rates {
    /// The receiver has run out again and again.
    pub(crate) contended: Windows,
    /// It has hardly ever.
    pub(crate) lucky: Windows,
    /// Those between.
    pub(crate) mixed: Windows,
    cut: Option<Cut>,
    /// Counts at the beginning of the window.
    messages_before: u64,
    waited_before: u64,
}

/// Latencies of messages that carry times.
pub(crate) struct Latencies {
    pub(crate) count: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    sum_ns: u64,
    pub(crate) waited: Histogram,
    pub(crate) found: Histogram,
    /// From when they were due, of those that were due at a time.
    pub(crate) corrected: Histogram,
    /// Of the first message of a batch, until it is known whether it was waited for.
    first_ns: Option<u64>,
    is_first: bool,
}

impl Tally {
    /// What a poll has brought, messages one by one before.
    #[inline]
    pub(crate) fn batch(&mut self, messages: u64, has_waited: bool) {
        self.messages += messages;
        self.waited += u64::from(has_waited);
        self.batches += 1;
        self.batch_max = self.batch_max.max(messages);
        self.latencies.settle(has_waited);
        self.rates.reached(self.messages, self.waited);
    }
}

impl Rates {
    #[inline]
    fn reached(&mut self, messages: u64, waited: u64) {
        let cut = self.cut.get_or_insert_with(Cut::new);
        let Some(window) = cut.reached(messages, clock::now_ns) else {
            return;
        };
        let all = messages - self.messages_before;
        let share = waited - self.waited_before;
        (self.messages_before, self.waited_before) = (messages, waited);
        let kind = match () {
            () if share * CONTENDED >= all => &mut self.contended,
            () if share * LUCKY <= all => &mut self.lucky,
            () => &mut self.mixed,
        };
        kind.add(window);
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies {
            count: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            waited: Histogram::new(),
            found: Histogram::new(),
            corrected: Histogram::new(),
            first_ns: None,
            is_first: true,
        }
    }
}

impl Latencies {
    /// A message, with its times if it carries any.
    #[inline]
    pub(crate) fn message(&mut self, times: Option<Times>) {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let Some(times) = times else { return };
        let latency_ns = clock::now_ns().saturating_sub(times.sent_ns);
        self.count += 1;
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.sum_ns += latency_ns;
        if let Some(lag_ns) = times.lag_ns {
            self.corrected.record(latency_ns.saturating_add(lag_ns));
        }
        if is_first {
            self.first_ns = Some(latency_ns);
        } else {
            self.found.record(latency_ns);
        }
    }

    /// Whether the first message of the batch was waited for.
    #[inline]
    fn settle(&mut self, has_waited: bool) {
        self.is_first = true;
        if let Some(latency_ns) = self.first_ns.take() {
            let kind = match has_waited {
                true => &mut self.waited,
                false => &mut self.found,
            };
            kind.record(latency_ns);
        }
    }

    /// In nanoseconds; 0 if there is none.
    pub(crate) fn average_ns(&self) -> u64 {
        self.sum_ns.checked_div(self.count).unwrap_or(0)
    }

    /// Of all of them.
    pub(crate) fn all(&self) -> Histogram {
        let mut all = self.waited.clone();
        all.merge(&self.found);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(ago_ns: u64, lag_ns: Option<u64>) -> Option<Times> {
        let sent_ns = clock::now_ns() - ago_ns;
        Some(Times { sent_ns, lag_ns })
    }

    #[test]
    fn the_first_of_a_batch_is_waited_for_or_found_and_the_others_are_found() {
        let mut tally = Tally::default();
        tally.latencies.message(sent(1000, Some(50)));
        tally.latencies.message(sent(2000, Some(0)));
        tally.latencies.message(sent(3000, None));
        tally.batch(3, true);
        tally.latencies.message(sent(4000, None));
        tally.batch(1, false);
        tally.latencies.message(None);
        tally.batch(1, true);
        let Tally {
            messages,
            waited,
            batches,
            batch_max,
            latencies,
            ..
        } = tally;
        assert_eq!((messages, waited, batches, batch_max), (5, 2, 3, 3));
        assert_eq!(latencies.waited.count(), 1);
        assert_eq!(latencies.found.count(), 3);
        assert_eq!(latencies.corrected.count(), 2);
        assert_eq!((latencies.count, latencies.all().count()), (4, 4));
        assert!(latencies.min_ns >= 1000 && latencies.max_ns >= 4000);
        assert!(latencies.average_ns() >= 2500);
    }

    #[test]
    fn windows_are_told_apart_by_what_was_waited_for() {
        let mut tally = Tally::default();
        tally.batch(1, true);
        (0..5000).for_each(|_| tally.batch(1, true));
        let Rates {
            contended, lucky, ..
        } = &tally.rates;
        assert_eq!((contended.count(), lucky.count()), (1, 0));
        (0..2).for_each(|_| tally.batch(4000, true));
        (0..50).for_each(|_| tally.batch(100, true));
        let Rates {
            contended,
            lucky,
            mixed,
            ..
        } = &tally.rates;
        // The rest of the first stretch is in the window that the first large batch has ended.
        assert_eq!((contended.count(), mixed.count(), lucky.count()), (2, 1, 1));
    }
}
