//! Counts of a subscriber: messages that it waited for, apart from those that it found.
//!
//! A receiver that is faster than its sender reads the ring's index all the time, and the sender
//! must take that cache line back with every message: each message is *waited* for. A receiver that
//! comes a little later finds a message that is there already, often several, and neither side
//! waits for the other: those are *found*. The second case is much faster and cannot be relied on.
//!
//! Of the messages of one poll, the first was waited for if the receiver had looked in vain since
//! the poll before; the others were found.

use measure::LatencyHistogram;
use transport::monotonic_ns;

use crate::message::MessageTimes;
use crate::rate_windows::{RateWindowTimer, RateWindows};

/// Most messages for each one waited for in a contended window: each time the index has gone from
/// one processor to the other and back.
const CONTENDED_MESSAGES_MAX: u64 = 32;

/// Fewest messages for each one waited for in a lucky window. A batch of the smallest messages has
/// some 800, so a receiver that takes batch by batch is not lucky.
const LUCKY_MESSAGES_MIN: u64 = 2048;

/// Counts of one stream, from its beginning to its end.
#[derive(Default)]
pub(crate) struct StreamCounts {
    pub(crate) messages: u64,
    /// Number of messages that were waited for.
    pub(crate) waited: u64,
    /// Number of polls that found messages.
    pub(crate) batches: u64,
    pub(crate) batch_max: u64,
    pub(crate) rates: ContentionRates,
    pub(crate) latencies: StreamLatencies,
}

/// Rates by how often the receiver waited.
#[derive(Default)]
pub(crate) struct ContentionRates {
    /// Windows in which the receiver ran out again and again.
    pub(crate) contended: RateWindows,
    /// Windows in which the receiver hardly ever ran out.
    pub(crate) lucky: RateWindows,
    /// Windows between contended and lucky ones.
    pub(crate) mixed: RateWindows,
    window_timer: Option<RateWindowTimer>,
    /// Counts at the beginning of the window.
    messages_before: u64,
    waited_before: u64,
}

/// Latencies of messages that carry times.
pub(crate) struct StreamLatencies {
    pub(crate) count: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    sum_ns: u64,
    pub(crate) waited: LatencyHistogram,
    pub(crate) found: LatencyHistogram,
    /// Latencies from the due time, of messages that were due at a time.
    pub(crate) corrected: LatencyHistogram,
    /// Latency of the first message of a batch, until it is known whether it was waited for.
    first_ns: Option<u64>,
    is_first: bool,
}

impl StreamCounts {
    /// Counts the messages of a poll, after they were counted one by one.
    #[inline]
    pub(crate) fn add_batch(&mut self, messages: u64, has_waited: bool) {
        self.messages += messages;
        self.waited += u64::from(has_waited);
        self.batches += 1;
        self.batch_max = self.batch_max.max(messages);
        self.latencies.settle_first(has_waited);
        self.rates.add_counts(self.messages, self.waited);
    }
}

impl ContentionRates {
    #[inline]
    fn add_counts(&mut self, messages: u64, waited: u64) {
        let cut = self.window_timer.get_or_insert_with(RateWindowTimer::new);
        let Some(window) = cut.advance(messages, monotonic_ns) else {
            return;
        };
        let all = messages - self.messages_before;
        let share = waited - self.waited_before;
        (self.messages_before, self.waited_before) = (messages, waited);
        let kind = match () {
            () if share * CONTENDED_MESSAGES_MAX >= all => &mut self.contended,
            () if share * LUCKY_MESSAGES_MIN <= all => &mut self.lucky,
            () => &mut self.mixed,
        };
        kind.add(window);
    }
}

impl Default for StreamLatencies {
    fn default() -> StreamLatencies {
        StreamLatencies {
            count: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            waited: LatencyHistogram::new(),
            found: LatencyHistogram::new(),
            corrected: LatencyHistogram::new(),
            first_ns: None,
            is_first: true,
        }
    }
}

impl StreamLatencies {
    /// Adds a message, with its times if it carries any.
    #[inline]
    pub(crate) fn add_message(&mut self, times: Option<MessageTimes>) {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let Some(times) = times else { return };
        let latency_ns = monotonic_ns().saturating_sub(times.sent_ns);
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

    /// Notes whether the first message of the batch was waited for.
    #[inline]
    fn settle_first(&mut self, has_waited: bool) {
        self.is_first = true;
        if let Some(latency_ns) = self.first_ns.take() {
            let kind = match has_waited {
                true => &mut self.waited,
                false => &mut self.found,
            };
            kind.record(latency_ns);
        }
    }

    /// Average latency in nanoseconds; 0 if there is none.
    pub(crate) fn average_ns(&self) -> u64 {
        self.sum_ns.checked_div(self.count).unwrap_or(0)
    }

    /// Histogram of all latencies.
    pub(crate) fn merged(&self) -> LatencyHistogram {
        let mut all = self.waited.clone();
        all.merge(&self.found);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(ago_ns: u64, lag_ns: Option<u64>) -> Option<MessageTimes> {
        let sent_ns = monotonic_ns() - ago_ns;
        Some(MessageTimes { sent_ns, lag_ns })
    }

    #[test]
    fn the_first_of_a_batch_is_waited_for_or_found_and_the_others_are_found() {
        let mut tally = StreamCounts::default();
        tally.latencies.add_message(sent(1000, Some(50)));
        tally.latencies.add_message(sent(2000, Some(0)));
        tally.latencies.add_message(sent(3000, None));
        tally.add_batch(3, true);
        tally.latencies.add_message(sent(4000, None));
        tally.add_batch(1, false);
        tally.latencies.add_message(None);
        tally.add_batch(1, true);
        let StreamCounts {
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
        assert_eq!((latencies.count, latencies.merged().count()), (4, 4));
        assert!(latencies.min_ns >= 1000 && latencies.max_ns >= 4000);
        assert!(latencies.average_ns() >= 2500);
    }

    #[test]
    fn windows_are_told_apart_by_what_was_waited_for() {
        let mut tally = StreamCounts::default();
        tally.add_batch(1, true);
        (0..5000).for_each(|_| tally.add_batch(1, true));
        let ContentionRates {
            contended, lucky, ..
        } = &tally.rates;
        assert_eq!((contended.count(), lucky.count()), (1, 0));
        (0..2).for_each(|_| tally.add_batch(4000, true));
        (0..50).for_each(|_| tally.add_batch(100, true));
        let ContentionRates {
            contended,
            lucky,
            mixed,
            ..
        } = &tally.rates;
        // The rest of the first phase is in the window that the first large batch has ended.
        assert_eq!((contended.count(), mixed.count(), lucky.count()), (2, 1, 1));
    }
}
