//! The publisher: warm-up messages, measured messages, and a pause for subscribers that are behind.

use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use topic::Publisher;
use transport::monotonic_ns;

use crate::affinity::pin_thread;
use crate::clock;
use crate::error::Error;
use crate::jitter::jitter;
use crate::options::{JitterOptions, PublishFlags, PublishOptions};
use crate::result_line::{ResultLine, print_line};
use crate::send_loop::{SendCounts, SendTask, send_all};

/// Messages a second during the warm-up.
const WARMUP_RATE: u64 = 10_000;

/// Publishes, and prints the results.
///
/// # Errors
/// An option is invalid, the topic has a publisher, the processor is not available, or the output
/// cannot be written.
pub fn publish(options: &PublishOptions, out: &mut dyn Write) -> Result<(), Error> {
    let config = options.config()?;
    print_line(out, &options.options_line())?;
    if options.jitter_loops > 0 {
        let options = JitterOptions {
            affinity_cpu: options.affinity_cpu,
            jitter_loops: options.jitter_loops,
        };
        return jitter(&options, out);
    }
    let mut publisher = Publisher::open(&options.topic, &config)?;
    pin_thread(options.affinity_cpu)?;
    let clock_ns = clock::read_cost_ns();
    let task = |messages, rate, flags| SendTask {
        messages,
        bytes: options.msg_len as usize,
        rate,
        flags,
        clock_ns,
    };
    // The warm-up has no time stamps, and may always wait.
    let flags = options.flags.masked(PublishFlags::GENERIC);
    send_all(
        &mut publisher,
        &task(options.warmup_loops, WARMUP_RATE, flags),
    )?;
    let receivers = publisher.receiver_count();
    let measured = task(options.num_msgs, options.rate, options.flags);
    let start_ns = monotonic_ns();
    let sent = send_all(&mut publisher, &measured)?;
    let duration_ns = monotonic_ns() - start_ns;
    print_line(out, &rate_line(sent.messages, duration_ns))?;
    print_sender_lines(&sent, receivers, clock_ns, out)?;
    sleep(Duration::from_millis(options.linger_ms));
    Ok(())
}

fn rate_line(sends: u64, duration_ns: u64) -> String {
    let rate = sends as f64 / (duration_ns as f64 / 1e9);
    format!("actual_sends={sends}, duration_ns={duration_ns}, result_rate={rate:.6}, ")
}

/// Prints the lines that smx_perf does not have: how often the ring was full, and the rate with and
/// without that.
fn print_sender_lines(
    sent: &SendCounts,
    receivers: usize,
    clock_ns: u64,
    out: &mut dyn Write,
) -> Result<(), Error> {
    ResultLine::new("sender")
        .value("receivers", receivers)
        .value("clock_ns", clock_ns)
        .value("full_ring_sends", sent.waited)
        .value("full_ring_ns", sent.waited_ns)
        .value("would_block", sent.would_block)
        .print(out)?;
    ResultLine::new("sender_rates")
        .value("free_windows", sent.free_windows.count())
        .rate("free_rate", sent.free_windows.rate())
        .value("full_windows", sent.full_windows.count())
        .rate("full_rate", sent.full_windows.rate())
        .print(out)?;
    Ok(())
}
