//! Windows that the end of their input leaves behind: counted, and said if they were all there was.

use rustix::process::Signal;

use crate::processes::{Live, until};
use crate::scratch::{Scratch, thalweg};

/// Windows of each kind that get seven tuples and would fire later.
const LEFT: &str = r#"composite Main { graph
    stream<uint64 n> In = Custom() { logic onProcess : {
        for (int32 i in range(7)) submit({n = (uint64) i}, In);
    } }
    stream<uint64 n> Counted = Aggregate(In) {
        window In : tumbling, count(10); output Counted : n = Sum(n);
    }
    stream<uint64 n> Grouped = Aggregate(In) {
        window In : tumbling, count(10); param groupBy : n; output Grouped : n = Sum(n);
    }
    stream<uint64 n> Parts = Aggregate(In) {
        window In : tumbling, delta(n, 100ul), partitioned; param partitionBy : n % 2ul;
        output Parts : n = Sum(n);
    }
    stream<uint64 n> Marked = Aggregate(In) {
        window In : tumbling, punct(); output Marked : n = Sum(n);
    }
    stream<uint64 n> Timed = Aggregate(In) {
        window In : tumbling, time(1000); output Timed : n = Sum(n);
    }
    stream<uint64 n> Sliding = Aggregate(In) {
        window In : sliding, count(10), count(1); output Sliding : n = Sum(n);
    }
    stream<uint64 n> Sorted = Sort(In) { window In : tumbling, count(10); param sortBy : n; }
    @parallel(width = 3)
    stream<uint64 n> Channels = Aggregate(In) {
        window In : tumbling, count(5); output Channels : n = Sum(n);
    }
    () as Out = Custom(Counted, Grouped, Parts, Marked, Timed, Sliding, Sorted, Channels as All) {
        logic onTuple All : println(n);
    }
}"#;

/// A program like the first, in which each window operator has submitted something.
const GIVEN: &str = r#"composite Main { graph
    stream<uint64 n> In = Beacon() { param iterations : 7; output In : n = IterationCount(); }
    stream<uint64 n> Counted = Aggregate(In) {
        window In : tumbling, count(3); output Counted : n = Sum(n);
    }
    stream<uint64 n> Marked = Aggregate(In) {
        window In : tumbling, punct(); output Marked : n = Sum(n);
    }
    stream<uint64 n> Sliding = Aggregate(In) {
        window In : sliding, count(10), count(4); param aggregateIncompleteWindows : true;
        output Sliding : n = Sum(n);
    }
    stream<uint64 n> Sorted = Sort(In) { window In : sliding, count(10); param sortBy : n; }
    stream<uint64 n> None = Filter(In) { param filter : n > 100ul; }
    stream<uint64 n> Empty = Aggregate(None) {
        window None : tumbling, count(3); output Empty : n = Sum(n);
    }
    () as Out = Custom(Counted, Marked, Sliding, Sorted, Empty as All) {}
}"#;

const HELP_TUMBLING: &str = "a smaller window fires earlier, and `tumbling, punct()` gives results at \
                             each window marker, as FileSource sends one at the end of a file";
const HELP_MARKED: &str = "a window marker has to follow: Punctor sends some, and so does a Custom that \
                           calls `submit(Sys.WindowMarker, ...)`";
const HELP_SLIDING: &str =
    "`aggregateIncompleteWindows : true` gives results before a window is full";
const HELP_SORT: &str = "`sliding, count(n)` sends in order what it still holds in the end, and \
                         `tumbling, punct()` what it holds at each window marker";

#[test]
fn windows_that_were_all_there_was_are_said_at_the_end() {
    let one = "its window, with 7 tuples in it,";
    let expected: Vec<String> = [
        ("Counted (spl.relational::Aggregate)", one, HELP_TUMBLING),
        ("Grouped (spl.relational::Aggregate)", one, HELP_TUMBLING),
        (
            "Parts (spl.relational::Aggregate)",
            "2 windows, with 7 tuples in them,",
            HELP_TUMBLING,
        ),
        ("Marked (spl.relational::Aggregate)", one, HELP_MARKED),
        ("Timed (spl.relational::Aggregate)", one, HELP_TUMBLING),
        ("Sliding (spl.relational::Aggregate)", one, HELP_SLIDING),
        ("Sorted (spl.relational::Sort)", one, HELP_SORT),
        (
            "Channels[0] (spl.relational::Aggregate) and its other 2 channels",
            "3 windows, with 7 tuples in them,",
            HELP_TUMBLING,
        ),
    ]
    .map(|(who, what, help)| {
        format!(
            "{who} gave no results: {what} had not fired when the input ended\n  = help: {help}\n"
        )
    })
    .into();
    for args in [&[][..], &["--interpret"], &["--fuse", "none"]] {
        let scratch = Scratch::new();
        let run = scratch.run(LEFT, args);
        assert_eq!((run.status, &*run.stdout), (0, ""));
        let said = run.stderr.split("thalweg: warning: ").skip(1);
        let said: Vec<&str> = said.map(|text| text.split_once(": ").unwrap().1).collect();
        assert_eq!(said, expected, "{args:?}");
        assert!(
            run.stderr.contains("Main.spl:5:5: Counted"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn operators_that_have_given_something_are_not_said() {
    for args in [&[][..], &["--fuse", "none"]] {
        let run = Scratch::new().run(GIVEN, args);
        assert_eq!(run.stderr, "", "{args:?}");
        run.ok();
    }
}

/// A composite that is invoked four times: once it gives results, and once it has three channels.
const INVOKED: &str = r#"composite Sums(input In; output Out) {
    param expression<int32> $count;
    graph stream<uint64 n> Out = Aggregate(In) {
        window In : tumbling, count($count); output Out : n = Sum(n);
    }
}
composite Main { graph
    stream<uint64 n> In = Beacon() { param iterations : 7; output In : n = IterationCount(); }
    stream<uint64 n> Given = Sums(In) { param count : 5; }
    stream<uint64 n> X = Sums(In) { param count : 10; }
    stream<uint64 n> Y = Sums(In) { param count : 20; }
    @parallel(width = 3)
    stream<uint64 n> Z = Sums(In) { param count : 10; }
    () as Out = Custom(Given, X, Y, Z as All) {}
}"#;

#[test]
fn invocations_of_a_composite_are_said_by_themselves() {
    for args in [&[][..], &["--fuse", "none"]] {
        let run = Scratch::new().run(INVOKED, args);
        let said = run
            .stderr
            .lines()
            .filter_map(|line| line.split_once(" gave no"));
        let said: Vec<&str> = said
            .map(|(who, _)| who.rsplit_once(": ").unwrap().1)
            .collect();
        let kind = "(spl.relational::Aggregate)";
        let channels = format!("Z[0].Out {kind} and its other 2 channels");
        let expected = [format!("X.Out {kind}"), format!("Y.Out {kind}"), channels];
        assert_eq!(said, expected, "{args:?}: {}", run.stderr);
    }
}

/// A job that goes on when an input of its windows has ended.
const GOES_ON: &str = r#"composite Main { graph
    stream<uint64 n> In = Custom() { logic onProcess : {
        for (int32 i in range(7)) submit({n = (uint64) i}, In);
    } }
    stream<uint64 n> Parts = Aggregate(In) {
        window In : tumbling, count(10), partitioned; param partitionBy : n % 3ul;
        output Parts : n = Sum(n);
    }
    stream<uint64 n> Counted = Aggregate(In) {
        window In : tumbling, count(4); output Counted : n = Sum(n);
    }
    stream<uint64 n> On = Custom() { logic onProcess : {
        submit({n = 1ul}, On);
        while (!isShutdown()) block(1.0);
    } }
    stream<uint64 n> Stopped = Aggregate(On) {
        window On : tumbling, count(10); output Stopped : n = Sum(n);
    }
    () as Out = Custom(Parts, Counted, Stopped as All) {}
}"#;

#[test]
fn top_counts_windows_that_are_left_and_a_shutdown_leaves_some_too() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", GOES_ON);
    let live = Live::start(&scratch, &["run", file.to_str().unwrap()]);
    let pid = live.pid().to_string();
    let mut shown = String::new();
    until("the counters are written", || {
        shown = thalweg(&["top", "--once", &pid]).stdout;
        shown.contains("nIncompleteWindowTuples")
    });
    let counted: Vec<Vec<&str>> = shown
        .lines()
        .filter(|line| line.contains("nIncomplete"))
        .map(|line| line.split_whitespace().skip(1).collect())
        .collect();
    let expected = [
        ["Parts", "nIncompleteWindowTuples", "7"],
        ["Parts", "nIncompleteWindows", "3"],
        ["Counted", "nIncompleteWindowTuples", "3"],
        ["Counted", "nIncompleteWindows", "1"],
    ];
    assert_eq!(counted, expected, "{shown}");
    live.signal(Signal::INT);
    let run = live.end();
    let said: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains("gave"))
        .collect();
    assert_eq!(said.len(), 2, "{}", run.stderr);
    assert!(said[0].contains("Parts (spl.relational::Aggregate) gave no results: 3 windows"));
    assert!(said[1].contains("Stopped (spl.relational::Aggregate) gave no results: its window"));
    run.ok();
}

/// A window that two threads reach, one of them the timers', and to which no final marker comes.
const BEHIND_A_LOOP: &str = "composite Main { graph
    stream<int32 n> In = Beacon() { param iterations : 4; }
    stream<int32 n> Round = Custom(In as A; Back as B) {
        logic onTuple A : submit(A, Round); onTuple B : submit(B, Round);
    }
    stream<int32 n> Back = Filter(Round) { param filter : n < 0; }
    stream<int32 n> Timed = Aggregate(Round) {
        window Round : tumbling, time(1000); output Timed : n = Sum(n);
    }
    () as Out = Custom(Timed) {}
}";

#[test]
fn a_window_of_several_threads_is_counted_once() {
    let scratch = Scratch::new();
    let run = scratch.run(BEHIND_A_LOOP, &[]);
    let said = "gave no results: its window, with 4 tuples in it, had not fired";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(run.ok(), "");
}

/// Seconds 3 and 4 come when the watermark has passed them; a session and a pane lose them each.
const LATE: &str = r#"composite Main { graph
    @eventTime(eventTimeAttribute = t, lag = 1.0)
    stream<int64 t> In = Custom() { logic onProcess : {
        for (int64 t in [1l, 2l, 30l, 3l, 4l, 60l]) submit({t = t * 1000l}, In);
    } }
    stream<int64 t, int32 n> Panes = Aggregate(In) {
        window In : timeInterval, intervalDuration(10.0);
        output Panes : t = Min(t), n = Count();
    }
    stream<int64 t, int32 n> Kept = Aggregate(In) {
        window In : timeInterval, intervalDuration(10.0), discardAge(100.0);
        output Kept : t = Min(t), n = Count();
    }
    () as Out = FileSink(Panes) { param file : "panes.csv"; }
    () as Other = FileSink(Kept) { param file : "kept.csv"; }
}"#;

#[test]
fn tuples_that_came_too_late_are_counted_at_the_end() {
    let expected = "Main.spl:6:5: Panes (spl.relational::Aggregate) left out 2 tuples that came too late, \
                    behind the watermark by more than the discard age\n  = help: a larger `lag` of \
                    `@eventTime` or a larger `discardAge` of the window waits for them\n";
    for args in [&[][..], &["--interpret"], &["--fuse", "none"]] {
        let scratch = Scratch::new();
        let run = scratch.run(LATE, args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let (begin, said) = run.stderr.split_once("warning: ").unwrap();
        assert_eq!(begin, "thalweg: ", "{args:?}");
        let said = said.rsplit('/').next().unwrap();
        assert_eq!(said, expected, "{args:?}");
        assert_eq!(scratch.read("panes.csv"), "1000,2\n30000,1\n", "{args:?}");
        assert!(scratch.read("kept.csv").contains("1000,4\n"), "{args:?}");
    }
}
