//! Threaded ports.

use runtime::RunningPe;
use testkit::{SharedOutput, exprs};
use tuple::{Type, Value};

use crate::operators::{
    PeSide, pass_limit_of, print, queue, receive, run_fused, send, source, wait_for,
};
use crate::pass_limit::PassLimit;
use crate::strict_medium::Pipe;

fn count(n: i64) -> (&'static str, Value) {
    ("count", Value::Int64(n))
}

fn metric(running: &RunningPe, name: &str) -> i64 {
    let tally = running
        .operator_counts()
        .into_iter()
        .find(|tally| &*tally.operator == "Queue");
    let metrics = tally.unwrap().metrics;
    metrics.iter().find(|(known, _)| known == name).unwrap().1
}

/// Runs `source` through a queue and a PassLimit to a printer.
fn gated(
    source: &testkit::OperatorBuilder,
    items: u32,
    congestion: &str,
    limit: &PassLimit,
) -> (RunningPe, SharedOutput) {
    let program = testkit::build_program([
        source.clone(),
        queue(source, items, congestion, &[(0, 0)]),
        pass_limit_of(source, 1, &[limit.param()]),
        print(&[(source, 2, 0)]),
    ]);
    let half = PeSide::number(0);
    let printed = half.printed.clone();
    (half.start(&program), printed)
}

/// The numbers that were printed.
fn numbers(text: &str) -> Vec<i64> {
    let tuples = text.lines().filter_map(|line| line.strip_prefix("0 {n="));
    let numbers = tuples.map(|rest| rest.trim_end_matches('}').parse());
    numbers.map(Result::unwrap).collect()
}

#[test]
fn items_pass_in_order_whatever_the_size() {
    for (with_text, text) in [(false, 0), (true, 0), (true, 5), (true, 300)] {
        let params = [count(73), ("text", Value::Int64(text))];
        let source = source("N", with_text, &params);
        let expected = run_fused(&source);
        for items in [1, 2, 7, 64, 1000] {
            let program = testkit::build_program([
                source.clone(),
                queue(&source, items, "wait", &[(0, 0)]),
                print(&[(&source, 1, 0)]),
            ]);
            let half = PeSide::number(0);
            let printed = half.printed.clone();
            half.start(&program).join().unwrap();
            assert_eq!(printed.text(), expected, "{items} {text}");
        }
    }
}

/// Nine numbers into a queue of three, of which the consumer has begun the first: what is printed.
fn nine_into_three(congestion: &str) -> Vec<i64> {
    let (before, behind) = (PassLimit::closed(), PassLimit::closed());
    let numbers_source = source("N", false, &[count(9), before.param()]);
    let (running, printed) = gated(&numbers_source, 3, congestion, &behind);
    before.lets(1);
    wait_for("the consumer has the first", || behind.came() == 1);
    before.opens();
    let dropped = || metric(&running, "nTuplesDropped");
    wait_for("five are dropped", || dropped() == 5);
    assert_eq!(metric(&running, "nTuplesQueued"), 3);
    assert_eq!(metric(&running, "queueSize"), 3);
    assert_eq!(metric(&running, "maxItemsQueued"), 3);
    assert_eq!(metric(&running, "recentMaxItemsQueued"), 3);
    assert_eq!(behind.came(), 1);
    behind.opens();
    let tallies = running.join().unwrap();
    let metrics = &tallies[1].metrics;
    assert!(
        metrics.contains(&("nTuplesQueued".into(), 0)),
        "{metrics:?}"
    );
    assert!(printed.text().ends_with("0 final\n"));
    numbers(&printed.text())
}

#[test]
fn drop_last_drops_the_newest() {
    assert_eq!(nine_into_three("dropLast"), [0, 1, 2, 3]);
}

#[test]
fn drop_first_drops_the_oldest() {
    assert_eq!(nine_into_three("dropFirst"), [0, 6, 7, 8]);
}

#[test]
fn wait_holds_exactly_so_many_up() {
    for items in [1, 4, 63, 64, 500] {
        let (before, behind) = (PassLimit::closed(), PassLimit::closed());
        let all = 2 * i64::from(items) + 20;
        let numbers_source = source("N", false, &[count(all), before.param()]);
        let (running, printed) = gated(&numbers_source, items, "wait", &behind);
        before.lets(1);
        wait_for("the consumer has the first", || behind.came() == 1);
        before.opens();
        let queues = running.queue_counters();
        wait_for("the source waits", || {
            queues[0].blocked_since_ns().is_some()
        });
        assert_eq!(queues[0].items(), u64::from(items));
        assert!(metric(&running, "nEnqueueWaits") > 0);
        assert_eq!(metric(&running, "nTuplesDropped"), 0);
        behind.opens();
        running.join().unwrap();
        assert_eq!(numbers(&printed.text()), (0..all).collect::<Vec<_>>());
        assert_eq!(queues[0].blocked_since_ns(), None);
    }
}

#[test]
fn markers_are_never_dropped() {
    for congestion in ["dropFirst", "dropLast"] {
        let behind = PassLimit::closed();
        let source = source("N", false, &[count(20)]);
        let (running, printed) = gated(&source, 2, congestion, &behind);
        let queues = running.queue_counters();
        wait_for("the first marker waits", || {
            queues[0].blocked_since_ns().is_some()
        });
        behind.opens();
        running.join().unwrap();
        let text = printed.text();
        assert_eq!(text.matches("window").count(), 2, "{congestion}: {text}");
        assert!(text.ends_with("0 window\n0 final\n"), "{text}");
    }
}

#[test]
fn several_sources_share_a_queue() {
    let sources = ["A", "B", "C"].map(|name| source(name, false, &[count(100)]));
    let all = queue(&sources[0], 5, "wait", &[(0, 0), (1, 0), (2, 0)]);
    let printer = print(&[(&sources[0], 3, 0)]);
    let program = testkit::build_program(sources.into_iter().chain([all, printer]));
    let half = PeSide::number(0);
    let printed = half.printed.clone();
    half.start(&program).join().unwrap();
    let text = printed.text();
    let mut seen = numbers(&text);
    seen.sort_unstable();
    let expected: Vec<i64> = (0..100).flat_map(|n| [n; 3]).collect();
    assert_eq!(seen, expected);
    assert_eq!(text.matches("final").count(), 1);
}

#[test]
fn a_consumer_that_fails_holds_nobody_up() {
    for congestion in ["wait", "dropLast", "dropFirst"] {
        let endless = source("N", false, &[]);
        let program = testkit::build_program([
            endless.clone(),
            queue(&endless, 2, congestion, &[(0, 0)]),
            pass_limit_of(&endless, 1, &[("fails", Value::Int64(5))]),
            print(&[(&endless, 2, 0)]),
        ]);
        let report = PeSide::number(0).start(&program).join().unwrap_err();
        assert_eq!(report.to_string(), "Gate (t::Gate): the gate fails");
    }
}

#[test]
fn an_abandoned_stream_gets_no_final_marker() {
    let params = [count(3), ("fails", Value::Boolean(true))];
    let failing = source("N", false, &params);
    for congestion in ["wait", "dropFirst"] {
        let program = testkit::build_program([
            failing.clone(),
            queue(&failing, 10, congestion, &[(0, 0)]),
            print(&[(&failing, 1, 0)]),
        ]);
        let half = PeSide::number(0);
        let printed = half.printed.clone();
        let report = half.start(&program).join().unwrap_err();
        assert_eq!(report.to_string(), "N (t::Numbers): it was told to fail");
        assert!(!printed.text().contains("final"));
    }
}

#[test]
fn a_feedback_loop_through_a_queue_does_not_lock_up() {
    for items in [1, 2, 100] {
        let numbers_source = source("N", false, &[count(300)]);
        let hop = testkit::OperatorBuilder::new("t::Hop", "Hop")
            .input("In", [("n", Type::Int64)])
            .input("Back", [("n", Type::Int64)])
            .output("Out", [("n", Type::Int64)])
            .output("Again", [("n", Type::Int64)])
            .control_port()
            .connect(0, 0, 0)
            .connect(1, 2, 0);
        let program = testkit::build_program([
            numbers_source.clone(),
            hop.clone(),
            queue(&hop, items, "wait", &[(1, 1)]),
            print(&[(&hop, 1, 0)]),
        ]);
        let half = PeSide::number(0);
        let printed = half.printed.clone();
        half.start(&program).join().unwrap();
        assert_eq!(numbers(&printed.text()), (0..300).collect::<Vec<_>>());
    }
}

#[test]
fn a_shutdown_drains_a_queue() {
    let endless = source("N", false, &[]);
    let program = testkit::build_program([
        endless.clone(),
        queue(&endless, 100, "wait", &[(0, 0)]),
        print(&[(&endless, 1, 0)]),
    ]);
    let half = PeSide::number(0);
    let printed = half.printed.clone();
    let running = half.start(&program);
    let queues = running.queue_counters();
    wait_for("tuples passed", || queues[0].sent() > 1000);
    running.stop_signal().request();
    let tallies = running.join().unwrap();
    let last = tallies[0].submitted[0] as i64;
    assert_eq!(numbers(&printed.text()), (0..last).collect::<Vec<_>>());
    assert!(printed.text().ends_with("0 final\n"));
}

#[test]
fn threads_run_on_the_cores_they_are_given() {
    let numbers_source = source("N", false, &[count(1)]);
    let cores = |feeder| {
        testkit::OperatorBuilder::new("t::Cores", "Cores")
            .input("In", [("n", Type::Int64)])
            .connect(0, feeder, 0)
    };
    let printed = |program, cores| {
        let mut half = PeSide::number(0);
        half.cores = cores;
        let printed = half.printed.clone();
        half.start(&program).join().unwrap();
        printed.text()
    };
    let own = queue(&numbers_source, 1, "wait", &[(0, 0)]).param("core", [exprs::uint32(0)]);
    let queued = testkit::build_program([numbers_source.clone(), own, cores(1)]);
    assert_eq!(printed(queued, vec![]), "1\n");
    let plain = || testkit::build_program([numbers_source.clone(), cores(0)]);
    assert_eq!(printed(plain(), vec![0]), "1\n");
    let mut half = PeSide::number(0);
    half.pins = vec![(0, 0)];
    let pinned = half.printed.clone();
    half.start(&plain()).join().unwrap();
    assert_eq!(pinned.text(), "1\n");
}

#[test]
fn a_queue_between_two_links() {
    let numbers_source = source("N", true, &[count(200), ("text", Value::Int64(2))]);
    let (first_out, first_in) = Pipe::default().open();
    let (second_out, second_in) = Pipe::default().open();
    let begin = testkit::build_program([numbers_source.clone(), send(0, &numbers_source, 0)]);
    let middle = testkit::build_program([
        receive(&[(0, &numbers_source)]),
        queue(&numbers_source, 3, "wait", &[(0, 0)]),
        send(1, &numbers_source, 1),
    ]);
    let end = testkit::build_program([
        receive(&[(1, &numbers_source)]),
        print(&[(&numbers_source, 0, 0)]),
    ]);
    let last = PeSide::number(2).receives(1, 1, second_in);
    let printed = last.printed.clone();
    let halves = PeSide::number(1)
        .receives(0, 0, first_in)
        .sends(1, 2, second_out);
    let running = [
        PeSide::number(0).sends(0, 1, first_out).start(&begin),
        halves.start(&middle),
        last.start(&end),
    ];
    for pe in running {
        pe.join().unwrap();
    }
    assert_eq!(printed.text(), run_fused(&numbers_source));
}
