//! The subscriber: counts, measures, and goes on with the next publisher.

use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use topic::{Event, Idle, Source, Subscriber};

use crate::affinity::{check, pin};
use crate::clock;
use crate::error::Error;
use crate::line::{Line, print};
use crate::message;
use crate::options::SubOptions;
use crate::tally::{Latencies, Tally};

/// How long a subscriber goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until it is killed, as smx_perf does.
    Killed,
    /// Until so many publishers have ended.
    Ended(u32),
}

/// Subscribes, and prints the beginning and the end of each publisher with what came of it.
///
/// # Errors
/// An option cannot be, the topic is not to be had, the processor cannot be, the output cannot be
/// written.
pub fn subscribe(options: &SubOptions, until: Until, out: &mut dyn Write) -> Result<(), Error> {
    options.config()?;
    // Before the line: whoever has seen it can publish, and we miss nothing.
    let mut subscriber = Subscriber::open(&options.topic)?;
    print(out, &options.line())?;
    check(options.affinity_cpu)?;
    let mut ended = 0;
    while until != Until::Ended(ended) {
        let source = begin(&mut subscriber)?;
        pin(options.affinity_cpu)?;
        let (topic, tally) = (source.topic(), Box::default());
        let line = format!("rcv event BOS, topic_name='{topic}', source={source}, ");
        print(out, &line)?;
        let tally = match (options.fast, options.spin_cnt) {
            (true, _) => receive(&mut subscriber, tally, |_, _| ())?,
            (false, spins) => receive(&mut subscriber, tally, |latencies, bytes| {
                latencies.message(message::times(bytes));
                work(spins);
            })?,
        };
        end(&source, &tally, out)?;
        ended += 1;
    }
    Ok(())
}

/// Sleeps until there is a publisher.
fn begin(subscriber: &mut Subscriber) -> Result<Source, Error> {
    loop {
        let mut begun = None;
        let count = subscriber.poll(|event| {
            if let Event::Began(source) = event {
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
fn receive(
    subscriber: &mut Subscriber,
    mut tally: Box<Tally>,
    mut each: impl FnMut(&mut Latencies, &[u8]),
) -> Result<Box<Tally>, Error> {
    let (mut idle, mut has_ended, mut vain_before) = (Idle::default(), false, 0);
    loop {
        let latencies = &mut tally.latencies;
        let count = subscriber.poll(|event| match event {
            Event::Message(bytes) => each(latencies, bytes),
            Event::Ended(_) | Event::Began(_) => has_ended = true,
        })?;
        if has_ended {
            return Ok(tally);
        }
        if count == 0 {
            idle.turn();
            continue;
        }
        let vain = subscriber.looks_in_vain();
        tally.batch(count as u64, vain != vain_before);
        vain_before = vain;
        idle.reset();
    }
}

/// The turns of the loop.
static TURNS: AtomicU64 = AtomicU64::new(0);

/// Work for each message: a loop that no compiler leaves out.
#[inline]
fn work(turns: u64) {
    for turn in 0..turns {
        TURNS.store(black_box(turn), Ordering::Relaxed);
    }
}

fn end(source: &Source, tally: &Tally, out: &mut dyn Write) -> Result<(), Error> {
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
    print(out, &line)?;
    if latencies.count > 0 {
        latency_lines(latencies, out)?;
    }
    receiver_lines(tally, out)
}

/// Percentiles in nanoseconds: of all, of the two cases apart, and from when messages were due.
fn latency_lines(latencies: &Latencies, out: &mut dyn Write) -> Result<(), Error> {
    let all = [
        ("latency_ns", &latencies.all()),
        ("latency_waited_ns", &latencies.waited),
        ("latency_found_ns", &latencies.found),
        ("latency_corrected_ns", &latencies.corrected),
    ];
    for (about, latencies) in all {
        if latencies.count() > 0 {
            Line::new(about).latencies(latencies).print(out)?;
        }
    }
    Ok(())
}

/// How often messages were waited for, and what the rate was with and without that.
fn receiver_lines(tally: &Tally, out: &mut dyn Write) -> Result<(), Error> {
    let rates = &tally.rates;
    Line::new("receiver_rates")
        .value("contended_windows", rates.contended.count())
        .rate("contended_rate", rates.contended.rate())
        .value("lucky_windows", rates.lucky.count())
        .rate("lucky_rate", rates.lucky.rate())
        .value("mixed_windows", rates.mixed.count())
        .rate("mixed_rate", rates.mixed.rate())
        .print(out)?;
    Line::new("receiver")
        .value("clock_ns", clock::cost_ns())
        .value("waited_msgs", tally.waited)
        .value("found_msgs", tally.messages - tally.waited)
        .value("batches", tally.batches)
        .value("batch_max", tally.batch_max)
        .print(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let start_ns = clock::now_ns();
        work(10_000_000);
        // No processor makes ten turns in a nanosecond.
        assert!(clock::now_ns() - start_ns > 1_000_000);
    }
}
