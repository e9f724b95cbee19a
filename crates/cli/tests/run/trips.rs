//! The program that measures latencies measures what is known: its own source and sink, with a
//! relay between them that ages tuples or holds them up. Other work of the machine can only make
//! trips longer.

use crate::scratch::Scratch;

/// As `bench latency` runs it.
const PROGRAM: &str = include_str!("../../../../lab/suite/programs/latency.spl");

/// The line of its relay.
const RELAY: &str = "onTuple Data : submit(Data, Back);";

/// Plans on which delayed tuples wait in the source or in a queue, each with the nanoseconds before
/// each tuple in which the source polls the clock, as a benchmark of that path does.
const PLANS: [(&str, &str); 2] = [
    ("pe 0\n operators *\n", "1000000000"),
    (
        "pe 0\n operators *\n queue Back.0\n queue Sink.0\n",
        "100000",
    ),
];

/// Nanoseconds of each trip when the relay does something else, a thousand tuples a second.
fn trips((plan, awake_ns): (&str, &str), tuples: usize, relay: &str) -> Vec<i64> {
    assert!(PROGRAM.contains(RELAY), "the relay is another one");
    let program = PROGRAM
        .replace(RELAY, &format!("onTuple Data : {{ {relay} }}"))
        .replace("%schema%", ", int64 number")
        .replace("%values%", ", number = n")
        .replace("%sum%", "sum += Back.number;")
        .replace("%awake%", awake_ns);
    let scratch = Scratch::new();
    let plan = scratch.write("plan", plan);
    let count = format!("tuples={tuples}");
    let plan = plan.to_str().unwrap();
    let printed = scratch.run(&program, &["--fuse", plan, &count, "rate=1000.0"]);
    let printed = printed.ok();
    let took = printed
        .lines()
        .filter_map(|line| line.strip_prefix("took "));
    let took: Vec<i64> = took.map(|ns| ns.parse().unwrap()).collect();
    assert_eq!(took.len(), tuples, "{printed}");
    took
}

#[test]
fn a_known_latency_is_found() {
    const AGE: i64 = 100_000_000_000;
    for plan in PLANS {
        let relay = format!("Data.due -= {AGE}l; submit(Data, Back);");
        for took in trips(plan, 200, &relay) {
            assert!((AGE..AGE + AGE / 100).contains(&took), "{took}");
        }
    }
}

#[test]
fn a_stall_counts_for_all_that_it_held_up() {
    for plan in PLANS {
        let relay = "if (Data.number == 50l) { block(0.1); } submit(Data, Back);";
        let took = trips(plan, 250, relay);
        // Of those that were due during the stall the first waited for all of it, each other one a
        // millisecond less.
        for (number, took) in took[50..150].iter().enumerate() {
            let least = 100_000_000 - 1_000_000 * number as i64;
            assert!(*took >= least, "{number}: {took}");
        }
    }
}
