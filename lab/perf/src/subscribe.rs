//! The subscriber: counts and measures messages, and goes on with the next publisher.

use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use topic::{Subscriber, TopicBackoff, TopicEvent, TopicSource};

use crate::affinity::{check_affinity, pin_thread};
use crate::clock;
use crate::error::Error;
use crate::message;
use crate::options::SubscribeOptions;
use crate::result_line::{ResultLine, print_line};
use crate::stream_counts::{StreamCounts, StreamLatencies};

/// Limit after which a subscriber ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscribeLimit {
    /// Never: it runs until it is killed, as smx_perf does.
    Unlimited,
    /// After this many publishers have ended.
    EndedPublishers(u32),
}

/// Subscribes, and prints the beginning and the end of each publisher with the results.
///
/// # Errors
/// An option is invalid, the topic or the processor is not available, or the output cannot be
/// written.
pub fn subscribe(
    options: &SubscribeOptions,
    until: SubscribeLimit,
    out: &mut dyn Write,
) -> Result<(), Error> {
    options.config()?;
    // Before the line is printed: a publisher that starts because of it is not missed.
    let mut subscriber = Subscriber::open(&options.topic)?;
    print_line(out, &options.options_line())?;
    check_affinity(options.affinity_cpu)?;
    let mut ended = 0;
    while until != SubscribeLimit::EndedPublishers(ended) {
        let source = wait_for_publisher(&mut subscriber)?;
        pin_thread(options.affinity_cpu)?;
        let (topic, tally) = (source.topic(), Box::default());
        let line = format!("rcv event BOS, topic_name='{topic}', source={source}, ");
        print_line(out, &line)?;
        let tally = match (options.fast, options.spin_cnt) {
            (true, _) => receive_stream(&mut subscriber, tally, |_, _| ())?,
            (false, spins) => receive_stream(&mut subscriber, tally, |latencies, bytes| {
                latencies.add_message(message::read_times(bytes));
                spin_work(spins);
            })?,
        };
        print_stream_end(&source, &tally, out)?;
        ended += 1;
    }
    Ok(())
}

/// Sleeps until there is a publisher.
fn wait_for_publisher(subscriber: &mut Subscriber) -> Result<TopicSource, Error> {
    loop {
        let mut begun = None;
        let count = subscriber.poll(|event| {
            if let TopicEvent::Began(source) = event {
                begun = Some(source.clone());
            }
        })?;
        match begun {
            Some(source) => return Ok(source),
            None if count == 0 => subscriber.wait(None)?,
            None => {}
        }
    }
}

/// Takes all messages of a publisher, spinning.
fn receive_stream(
    subscriber: &mut Subscriber,
    mut tally: Box<StreamCounts>,
    mut each: impl FnMut(&mut StreamLatencies, &[u8]),
) -> Result<Box<StreamCounts>, Error> {
    let (mut idle, mut has_ended, mut empty_polls_before) = (TopicBackoff::default(), false, 0);
    loop {
        let latencies = &mut tally.latencies;
        let count = subscriber.poll(|event| match event {
            TopicEvent::Message(bytes) => each(latencies, bytes),
            TopicEvent::Ended(_) | TopicEvent::Began(_) => has_ended = true,
        })?;
        if has_ended {
            return Ok(tally);
        }
        if count == 0 {
            idle.back_off();
            continue;
        }
        let empty_polls = subscriber.empty_poll_count();
        tally.add_batch(count as u64, empty_polls != empty_polls_before);
        empty_polls_before = empty_polls;
        idle.reset();
    }
}

/// Counter that keeps the loop from being optimised away.
static SPIN_TURNS: AtomicU64 = AtomicU64::new(0);

/// Simulated work for each message: a loop that no compiler removes.
#[inline]
fn spin_work(turns: u64) {
    for turn in 0..turns {
        SPIN_TURNS.store(black_box(turn), Ordering::Relaxed);
    }
}

fn print_stream_end(
    source: &TopicSource,
    tally: &StreamCounts,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let latencies = &tally.latencies;
    let mut line = format!(
        "rcv event EOS, '{}', {source}, num_rcv_msgs={}, ",
        source.topic(),
        tally.messages
    );
    if latencies.count > 0 {
        line += &format!(
            "min_latency={}, max_latency={}, average latency={}, ",
            latencies.min_ns,
            latencies.max_ns,
            latencies.average_ns()
        );
    }
    print_line(out, &line)?;
    if latencies.count > 0 {
        print_latency_lines(latencies, out)?;
    }
    print_receiver_lines(tally, out)
}

/// Prints percentiles in nanoseconds: of all messages, of the two cases apart, and from the due
/// times.
fn print_latency_lines(latencies: &StreamLatencies, out: &mut dyn Write) -> Result<(), Error> {
    let all = [
        ("latency_ns", &latencies.merged()),
        ("latency_waited_ns", &latencies.waited),
        ("latency_found_ns", &latencies.found),
        ("latency_corrected_ns", &latencies.corrected),
    ];
    for (about, latencies) in all {
        if latencies.count() > 0 {
            ResultLine::new(about).latencies(latencies).print(out)?;
        }
    }
    Ok(())
}

/// Prints how often messages were waited for, and the rate with and without that.
fn print_receiver_lines(tally: &StreamCounts, out: &mut dyn Write) -> Result<(), Error> {
    let rates = &tally.rates;
    ResultLine::new("receiver_rates")
        .value("contended_windows", rates.contended.count())
        .rate("contended_rate", rates.contended.rate())
        .value("lucky_windows", rates.lucky.count())
        .rate("lucky_rate", rates.lucky.rate())
        .value("mixed_windows", rates.mixed.count())
        .rate("mixed_rate", rates.mixed.rate())
        .print(out)?;
    ResultLine::new("receiver")
        .value("clock_ns", clock::read_cost_ns())
        .value("waited_msgs", tally.waited)
        .value("found_msgs", tally.messages - tally.waited)
        .value("batches", tally.batches)
        .value("batch_max", tally.batch_max)
        .print(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use transport::monotonic_ns;

    use super::*;

    #[test]
    fn work_takes_time() {
        let start_ns = monotonic_ns();
        spin_work(10_000_000);
        // No processor makes ten turns in a nanosecond.
        assert!(monotonic_ns() - start_ns > 1_000_000);
    }
}
