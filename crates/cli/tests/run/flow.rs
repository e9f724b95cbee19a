//! Flow control end to end: a slow consumer holds its producers up, and memory stays bounded.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::processes::{Live, media, until};
use crate::scratch::{Scratch, thalweg};

/// A producer far faster than its consumer; tuples of about a kilobyte.
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
        stream<In> Middle = Functor(In) {}
        () as Out = Custom(Middle) {
            logic onTuple Middle : {
                if (n == 0ul) { printStringLn("running"); }
                if (n % 10ul == 0ul) { block(0.001); }
            }
        }
}"#;

/// Rings of so many bytes.
const RING_BYTES: u64 = 256 << 10;

/// So many bytes go through before memory is looked at for the first time: everything is warm.
const WARM_BYTES: u64 = 8 * RING_BYTES;

/// And so many for the second time.
const FLOWN_BYTES: u64 = 100 * RING_BYTES;

fn plan(medium: &str) -> String {
    format!(
        "pe 0\n operators In\npe 1\n operators Middle\npe 2\n operators Out\n\
         crossing In.0 -> pe 1 on {medium} ring {RING_BYTES}\n\
         crossing Middle.0 -> pe 2 on {medium} ring {RING_BYTES}\n"
    )
}

/// The bytes that the last PE has received.
fn received(live: &Live) -> u64 {
    let run = thalweg(&["top", "--once", "--json", &live.pid().to_string()]);
    let sample: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    sample["jobs"][0]["pes"][2]["links"][0]["bytes"]
        .as_u64()
        .unwrap_or(0)
}

/// The resident memory of a process.
fn resident_bytes(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
    kilobytes.unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_slow_consumer_does_not_make_memory_grow() {
    for medium in media() {
        let scratch = Scratch::new();
        let program = scratch.write("Main.spl", OVERLOADED);
        let plan = scratch.write("job.plan", plan(medium));
        let args = [
            "run",
            program.to_str().unwrap(),
            "--fuse",
            plan.to_str().unwrap(),
        ];
        let mut live = Live::start(&scratch, &args);
        assert_eq!(live.line(), "running\n");
        let pes = live.pes();
        let resident = || {
            pes.iter()
                .map(|pe| resident_bytes(pe.pid))
                .collect::<Vec<_>>()
        };
        until("it is warm", || received(&live) > WARM_BYTES);
        let before = resident();
        until("much has flown", || received(&live) > FLOWN_BYTES);
        let after = resident();
        for (pe, (before, after)) in before.into_iter().zip(after).enumerate() {
            // Two rings, should they not have been touched before, and a tenth.
            let bound = before + before / 10 + 2 * RING_BYTES;
            assert!(
                after <= bound,
                "{medium}, pe {pe}: {before} bytes, then {after}"
            );
        }
        live.signal(Signal::INT);
        live.end().ok();
    }
}
