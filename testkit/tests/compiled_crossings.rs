//! Compiled code on both sides of a queue and of a medium: what it writes in place arrives, exactly
//! as many tuples as may.

extern crate thalweg_testkit as testkit;

#[path = "compiled/operators.rs"]
mod operators;

use graph::CrossingCodec;
use operators::{counter, crossing_ends, queue, receive, send, source, start};
use runtime::OperatorCounts;
use runtime::crossing::CrossingEnds;
use testkit::{OperatorBuilder, build_program};
use transport::Medium;
use tuple::Type;

fn printer(feeder: u32) -> OperatorBuilder {
    OperatorBuilder::new("testkit::Print", "Print")
        .input("In", [("n", Type::Int64)])
        .connect(0, feeder, 0)
}

/// Text that a run prints when no tuple is missing.
fn doubled(count: u32) -> String {
    let mut text = String::new();
    for n in 0..count {
        text += &format!("0 {{n={}}}\n", 2 * n);
        if n % 100 == 99 {
            text += "0 window\n";
        }
    }
    text + "0 final\n"
}

fn queued(count: u32, items: u32, congestion: &str) -> (String, Vec<OperatorCounts>) {
    let queue = queue(items, congestion);
    let program = build_program([source(count), queue, counter(1), printer(2)]);
    let (running, printed) = start(&program, CrossingEnds::default(), &[]);
    let tallies = running.join().unwrap_or_else(|report| panic!("{report}"));
    (printed.text(), tallies)
}

#[test]
fn everything_passes_a_queue_that_waits() {
    for items in [1, 2, 31, 33, 64, 65, 1000, 100_000] {
        let (text, tallies) = queued(5000, items, "wait");
        assert_eq!(text, doubled(5000), "{items}");
        assert_eq!(tallies[0].submitted, [5000]);
        assert_eq!(tallies[1].processed, [5000]);
        assert_eq!(tallies[1].submitted, [5000]);
        assert_eq!(tallies[2].processed, [5000]);
    }
}

#[test]
fn what_a_queue_drops_is_counted() {
    for congestion in ["dropFirst", "dropLast"] {
        for items in [1, 7, 40, 1000] {
            let (text, tallies) = queued(5000, items, congestion);
            let metrics = &tallies[1].metrics;
            let dropped = metrics.iter().find(|(name, _)| name == "nTuplesDropped");
            let passed = tallies[2].processed[0];
            assert_eq!(
                dropped.unwrap().1 as u64 + passed,
                5000,
                "{congestion} {items}"
            );
            assert_eq!(tallies[1].processed, [5000]);
            assert_eq!(text.matches("window").count(), 50);
            assert!(text.ends_with("0 final\n"));
        }
    }
}

#[test]
fn everything_crosses_every_medium() {
    for medium in transport::media::available() {
        for (codec, ring_bytes) in [
            (CrossingCodec::Facade, 4096),
            (CrossingCodec::Facade, 1 << 20),
            (CrossingCodec::Normal, 4096),
        ] {
            let (text, tallies) = crossed(medium, codec, ring_bytes);
            let name = medium.name();
            assert_eq!(text, doubled(5000), "{name}");
            assert_eq!(tallies[1].processed, [5000], "{name}");
        }
    }
}

/// Text that the receiving PE printed, and the counters of the sending PE.
fn crossed(
    medium: &dyn Medium,
    codec: CrossingCodec,
    ring_bytes: usize,
) -> (String, Vec<OperatorCounts>) {
    let (sends, receives) = crossing_ends(medium, codec, ring_bytes);
    let (sender, _) = start(&build_program([source(5000), send()]), sends, &[]);
    let receiver = build_program([receive(), counter(0), printer(1)]);
    let (receiver, printed) = start(&receiver, receives, &[]);
    let tallies = sender.join().unwrap_or_else(|report| panic!("{report}"));
    receiver.join().unwrap_or_else(|report| panic!("{report}"));
    (printed.text(), tallies)
}

/// Window markers that came to an operator, and that it submitted.
fn windows(counts: &OperatorCounts) -> (Vec<u64>, Vec<u64>) {
    let windows = |ports: &[runtime::PunctuationCounts]| {
        let ports = ports.iter();
        ports.map(|port| port.windows).collect()
    };
    (
        windows(&counts.punctuation_in),
        windows(&counts.punctuation_out),
    )
}

#[test]
fn window_markers_are_counted_whether_or_not_anything_acts_on_them() {
    let both = counter(1).connect(0, 2, 0);
    let silent = [source(1000), counter(0), counter(0), both];
    let mut printed = silent.to_vec();
    printed.push(printer(3));
    for operators in [silent.to_vec(), printed] {
        let (running, text) = start(&build_program(operators), CrossingEnds::default(), &[]);
        let counts = running.join().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(windows(&counts[0]), (vec![], vec![10]));
        assert_eq!(windows(&counts[1]), (vec![10], vec![10]));
        assert_eq!(windows(&counts[2]), (vec![10], vec![10]));
        assert_eq!(windows(&counts[3]), (vec![20], vec![20]));
        if let Some(printer) = counts.get(4) {
            assert_eq!(windows(printer), (vec![20], vec![]));
            assert_eq!(text.text().matches("0 window").count(), 20);
        }
    }
}
