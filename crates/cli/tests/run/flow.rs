//! Flow control end to end: a slow consumer holds its producers up, and memory stays bounded.
//!
//! `THALWEG_SLOW_SECONDS` says for how long that is watched; without it, until each process has
//! seen a hundred times what its rings hold.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::processes::{LONG, Live, media, until};
use crate::scratch::{Scratch, thalweg};

/// A producer far faster than its consumer, which takes ten thousand tuples a second at most; each
/// is of about a kilobyte.
const OVERLOADED: &str = r#"composite Main {
    graph
        stream<uint64 n, rstring text> In = Custom() {
            logic onProcess : {
                mutable rstring text = "0123456789abcdef";
                for (int32 i in range(6)) { text = text + text; }
                mutable uint64 n = 0;
                while (!isShutdown()) {
                    submit({ n = n, text = text }, In);
                    n++;
                }
            }
        }
        stream<In> Middle = Functor(In) { MIDDLE }
        () as Out = Custom(Middle) {
            logic onTuple Middle : {
                if (n == 0ul) { printStringLn("running"); }
                if (n % 10ul == 0ul) { block(0.001); }
            }
            OUT
        }
}"#;

/// Bytes of each ring; queues hold about as many in tuples.
const RING_BYTES: u64 = 256 << 10;
const QUEUE_TUPLES: u64 = RING_BYTES / TUPLE_BYTES;
const TUPLE_BYTES: u64 = 1 << 10;

/// Bytes that a PE may hold beyond those of its warm state: two rings that were not touched before.
const BOUND_BYTES: u64 = 2 * RING_BYTES;

/// Bytes that pass before memory is read for the first time, so that the job is warm.
const WARM_BYTES: u64 = 8 * RING_BYTES;

/// Bytes that pass at least before memory has been read often enough.
const FLOWN_BYTES: u64 = 100 * RING_BYTES;

/// Pause between two readings of memory.
const PAUSE: Duration = Duration::from_millis(50);

fn plan(medium: &str) -> String {
    format!(
        "pe 0\n operators In\npe 1\n operators Middle\npe 2\n operators Out\n\
         crossing In.0 -> pe 1 on {medium} ring {RING_BYTES}\n\
         crossing Middle.0 -> pe 2 on {medium} ring {RING_BYTES}\n"
    )
}

/// Samples a job by `thalweg top`.
fn sample(live: &Live) -> Value {
    let run = thalweg(&["top", "--once", "--json", &live.pid().to_string()]);
    serde_json::from_str(&run.stdout).unwrap_or_default()
}

/// The bytes of tuples that have reached the last operator.
fn arrived(live: &Live) -> u64 {
    let sample = sample(live);
    let pes = sample["jobs"][0]["pes"].as_array();
    let operators = pes.into_iter().flatten();
    let operators = operators
        .filter_map(|pe| pe["operators"].as_array())
        .flatten();
    let mut last = operators.filter(|operator| operator["name"] == "Out");
    let tuples = last.next().and_then(|out| out["processed"][0].as_u64());
    tuples.unwrap_or(0) * TUPLE_BYTES
}

/// How long to watch.
fn seconds() -> Duration {
    let seconds = std::env::var("THALWEG_SLOW_SECONDS").ok();
    let seconds = seconds.map(|text| text.parse().expect("THALWEG_SLOW_SECONDS is a number"));
    Duration::from_secs(seconds.unwrap_or(0))
}

/// The resident memory of a process.
fn resident_bytes(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
    kilobytes.unwrap().parse::<u64>().unwrap() << 10
}

/// Runs a job and looks at the memory of its processes again and again.
fn stays_bounded(what: &str, program: &str, args: &[&str]) {
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", program);
    let mut live = Live::start(
        &scratch,
        &[&["run", program.to_str().unwrap()], args].concat(),
    );
    assert_eq!(live.line(), "running\n");
    let pes = live.pes().into_iter().map(|pe| pe.pid).collect::<Vec<_>>();
    let pes = if pes.is_empty() {
        vec![live.pid()]
    } else {
        pes
    };
    let resident = || pes.iter().copied().map(resident_bytes).collect::<Vec<_>>();
    until("it is warm", || arrived(&live) > WARM_BYTES);
    let warm = resident();
    let (begun, seconds) = (Instant::now(), seconds());
    let mut is_enough = false;
    while !is_enough || begun.elapsed() < seconds {
        std::thread::sleep(PAUSE);
        for (pe, (warm, now)) in warm.iter().zip(resident()).enumerate() {
            let bound = warm + warm / 10 + BOUND_BYTES;
            assert!(now <= bound, "{what}, pe {pe}: {warm} bytes, then {now}");
        }
        is_enough = is_enough || arrived(&live) > FLOWN_BYTES;
        assert!(
            is_enough || begun.elapsed() < LONG,
            "{what}: it does not get on"
        );
    }
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn a_slow_consumer_does_not_make_memory_grow() {
    let crossing = OVERLOADED.replace("MIDDLE", "").replace("OUT", "");
    let port = |name| format!("config threadedPort : queue({name}, Sys.Wait, {QUEUE_TUPLES});");
    let queued = OVERLOADED.replace("MIDDLE", &port("In"));
    let queued = queued.replace("OUT", &port("Middle"));
    std::thread::scope(|scope| {
        for medium in media() {
            let crossing = &crossing;
            scope.spawn(move || {
                let scratch = Scratch::new();
                let plan = scratch.write("job.plan", plan(medium));
                stays_bounded(medium, crossing, &["--fuse", plan.to_str().unwrap()]);
            });
        }
        scope.spawn(|| stays_bounded("threaded ports", &queued, &[]));
    });
}
