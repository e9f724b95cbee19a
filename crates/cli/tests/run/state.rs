//! The memory of operators' state: shown by `thalweg top`, and bounded by config `stateBytesMax`.

use rustix::process::Signal;

use crate::processes::{Live, until};
use crate::scratch::{Scratch, thalweg};

/// A program whose operators each keep state for every number that comes.
fn program(annotation: &str, config: &str, tuples: u32) -> String {
    format!(
        r#"composite Main {{ graph
    stream<int64 n> In = Beacon() {{
        param iterations : {tuples}; output In : n = (int64) IterationCount();
    }}
    {annotation}
    stream<int64 n> Unique = DeDuplicate(In) {{ param key : n; {config} }}
    stream<int64 n> Totals = Aggregate(Unique) {{
        window Unique : tumbling, count(2), partitioned; param partitionBy : n;
        output Totals : n = Sum(n);
    }}
    () as Out = Custom(Totals, Unique as All) {{
        logic state : mutable int32 seen = 0;
        onTuple All : seen++;
        onPunct All : if (currentPunct() == Sys.FinalMarker) {{ println(seen); }}
    }}
}}"#
    )
}

/// A program with 100,000 numbers, each of whose operators keeps something of half of them or all.
/// It waits at its end.
const KEEPERS: &str = r#"composite Main { graph
    @eventTime(eventTimeAttribute = n)
    stream<int64 n> In = Beacon() {
        param iterations : 100000; output In : n = (int64) IterationCount();
    }
    stream<int64 n> Unique = DeDuplicate(In) { param key : n; }
    stream<int64 n> Totals = Aggregate(In) {
        window In : tumbling, count(2), partitioned; param partitionBy : n;
        output Totals : n = Sum(n);
    }
    stream<int64 n> Marked = Punctor(In) { param punctuate : n < 0l; position : after; }
    stream<int64 n> Partitions = Aggregate(Marked) {
        window Marked : tumbling, punct(), partitioned; param partitionBy : n;
        output Partitions : n = Sum(n);
    }
    stream<int64 n> Groups = Aggregate(Marked) {
        window Marked : tumbling, punct(); param groupBy : n; output Groups : n = Sum(n);
    }
    stream<int64 n> Sums = Aggregate(In) {
        window In : sliding, count(50000), count(1); output Sums : n = Sum(n);
    }
    stream<int64 n> Greatest = Aggregate(In) {
        window In : sliding, count(50000), count(1); output Greatest : n = Max(n);
    }
    stream<int64 n> Panes = Aggregate(In) {
        window In : timeInterval, intervalDuration(1e9), partitioned; param partitionBy : n;
        output Panes : n = Sum(n);
    }
    stream<int64 n> Slices = Aggregate(In) {
        window In : timeInterval, intervalDuration(2e9), creationPeriod(1e9), partitioned;
        param partitionBy : n; output Slices : n = Sum(n);
    }
    stream<int64 l, int64 r> Pairs = Join(In as L; In as R) {
        window L : sliding, count(50000); R : sliding, count(50000);
        param equalityLHS : L.n; equalityRHS : R.n;
        output Pairs : l = L.n, r = R.n;
    }
    stream<int64 n> Sliding = Sort(In) {
        window In : sliding, count(50000); param sortBy : n * 7919l % 100003l;
    }
    stream<int64 n> Tumbling = Sort(In) {
        window In : tumbling, count(100001); param sortBy : n * 7919l % 100003l;
    }
    () as End = Custom(In) {
        logic onTuple In : if (n == 99999l) { println(1); block(1e9); }
    }
}"#;

/// Operators of [`KEEPERS`], and the least and the most bytes that they take for all they keep.
const KEPT: &[(&str, u64, u64)] = &[
    // A key of 8 bytes; a key with its sum.
    ("Unique", 100_000 * (8 + 25), 100_000 * (8 + 34)),
    ("Totals", 100_000 * (16 + 17), 100_000 * (16 + 34)),
    ("Partitions", 100_000 * (16 + 25), 100_000 * (16 + 34)),
    ("Groups", 100_000 * (16 + 33), 100_000 * (16 + 42)),
    // A number; a number, and the greatest from there on.
    ("Sums", 50_000 * (8 + 4), 50_000 * (8 + 9 + 1)),
    ("Greatest", 50_000 * (8 + 8 + 8), 50_000 * (8 + 10 + 8)),
    ("Panes", 100_000 * (16 + 25), 100_000 * (16 + 42)),
    // A number with its sum in a slice, and in a pane.
    (
        "Slices",
        100_000 * (16 + 41 + 16 + 33),
        100_000 * (16 + 50 + 16 + 42),
    ),
    // A number of each side, and their key.
    (
        "Pairs",
        50_000 * (2 * (8 + 12) + 8 + 25),
        50_000 * (2 * (8 + 16) + 8 + 34),
    ),
    // The number, and what it is sorted by.
    ("Sliding", 50_000 * (16 + 4 + 16), 50_000 * (16 + 8 + 64)),
    ("Tumbling", 100_000 * (16 + 4 + 16), 100_000 * (16 + 8 + 64)),
];

/// Value of a metric of an operator, in what `top` prints.
fn metric(shown: &str, operator: &str, name: &str) -> Option<u64> {
    let mut lines = shown
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find_map(|line| match line[..] {
        [_, of, metric, value] if of == operator && metric == name => value.parse().ok(),
        _ => None,
    })
}

#[test]
fn top_shows_what_operators_keep() {
    let scratch = Scratch::new();
    let main = scratch.write("Main.spl", KEEPERS);
    let mut job = Live::start(&scratch, &["run", main.to_str().unwrap()]);
    assert_eq!(job.line(), "1\n");
    let pid = job.pid().to_string();
    let mut shown = String::new();
    until("the numbers of all tuples", || {
        // Before its counters are there the job is unknown.
        shown = thalweg(&["top", "--once", &pid]).stdout;
        metric(&shown, "Tumbling", "nStateEntries") == Some(100_000)
    });
    for &(operator, least, most) in KEPT {
        let bytes = metric(&shown, operator, "nStateBytes").unwrap();
        assert!(
            (least..=most).contains(&bytes),
            "{operator}: {bytes}, not {least} to {most}"
        );
    }
    assert_eq!(
        metric(&shown, "Totals", "nCurrentPartitions"),
        Some(100_000)
    );
    job.signal(Signal::TERM);
    job.end();
}

/// A program with 1,000 numbers, whose operators keep them without tables. It waits at its end.
const TUPLE_KEEPERS: &str = r#"composite Main { graph
    @eventTime(eventTimeAttribute = n)
    stream<int64 n> In = Beacon() {
        param iterations : 1000; output In : n = (int64) IterationCount();
    }
    stream<list<int64> all> Listed = Aggregate(In) {
        window In : tumbling, delta(n, 1000l), partitioned, partitionAge(1000.0);
        param partitionBy : n / 1000l; output Listed : all = Collect(n);
    }
    stream<int64 n> Grouped = Aggregate(In) {
        window In : tumbling, delta(n, 1000l), partitioned, partitionAge(1000.0);
        param partitionBy : n % 10l; groupBy : n % 4l; output Grouped : n = Sum(n);
    }
    stream<int64 n> Timed = Aggregate(In) {
        window In : sliding, time(1000), count(300); output Timed : n = Sum(n);
    }
    stream<int64 n> Evicting = Aggregate(In) {
        window In : sliding, count(10), count(300), partitioned, partitionCount(5);
        param partitionBy : n / 50l; groupBy : n; output Evicting : n = Sum(n);
    }
    stream<list<int64> all> Panes = Aggregate(In) {
        window In : timeInterval, intervalDuration(10.0), creationPeriod(5.0);
        output Panes : all = Collect(n);
    }
    stream<int64 n> PaneGroups = Aggregate(In) {
        window In : timeInterval, intervalDuration(10.0), creationPeriod(5.0), partitioned;
        param partitionBy : n % 5l; groupBy : n % 4l; output PaneGroups : n = Sum(n);
    }
    stream<int64 n> Sessions = Aggregate(In) {
        window In : session, gap(10.0), partitioned; param partitionBy : n % 7l;
    }
    stream<int64 n> Sorted = Sort(In) {
        window In : sliding, count(30), partitioned; param sortBy : n; partitionBy : n % 5l;
    }
    stream<int64 l, int64 r> Pairs = Join(In as L; In as R) {
        window L : sliding, count(5), partitioned; R : sliding, time(1000.0);
        param partitionByLHS : L.n % 10l; equalityLHS : L.n; equalityRHS : R.n;
        output Pairs : l = L.n, r = R.n;
    }
    stream<int64 l, int64 r> InPanes = Join(In as L; In as R) {
        window L : timeInterval, intervalDuration(10.0), creationPeriod(5.0);
               R : timeInterval, intervalDuration(10.0), creationPeriod(5.0);
        param equalityLHS : L.n; equalityRHS : R.n; output InPanes : l = L.n, r = R.n;
    }
    stream<int64 n> Some = Filter(In) { param filter : n < 400l; }
    stream<int64 n> Both = Barrier(In; Some as Few) { output Both : n = In.n; }
    stream<int64 n> Turns = Pair(In; Some as Few) {
        param partitionByLHS : In.n % 3l; partitionByRHS : Few.n % 3l;
    }
    stream<int64 n> Known = DynamicFilter(Some; In as Add) { param key : n; addKey : Add.n; }
    stream<int64 n> Later = Delay(Some) { param delay : 1e6; }
    () as End = Custom(In) {
        logic onTuple In : if (n == 999l) { println(1); block(1e9); }
    }
}"#;

/// Operators of [`TUPLE_KEEPERS`], what they keep, and the least bytes of one of these.
const KEPT_TUPLES: &[(&str, u64, u64)] = &[
    ("Listed", 1000, 8),
    // Running results. The numbers of a partition are in two of the four groups.
    ("Grouped", 10 * 2, 8),
    ("Timed", 1000, 8),
    ("Evicting", 5 * 10, 8),
    ("Panes", 1000, 8),
    // Two panes hold each number, with four groups in each of five partitions.
    ("PaneGroups", 2 * 5 * 4, 8),
    ("Sessions", 1000, 8),
    ("Sorted", 5 * 30, 16),
    ("Pairs", 10 * 5 + 1000, 16),
    ("InPanes", 2000, 16),
    ("Both", 600, 8),
    ("Turns", 600, 8),
    ("Known", 1000, 8),
    ("Later", 400, 8),
];

#[test]
fn top_counts_tuples_that_are_not_in_tables() {
    let scratch = Scratch::new();
    let main = scratch.write("Main.spl", TUPLE_KEEPERS);
    let mut job = Live::start(&scratch, &["run", main.to_str().unwrap()]);
    assert_eq!(job.line(), "1\n");
    let pid = job.pid().to_string();
    let mut shown = String::new();
    until("the numbers of all operators", || {
        // Before its counters are there the job is unknown.
        shown = thalweg(&["top", "--once", &pid]).stdout;
        metric(&shown, "Known", "nStateEntries") == Some(1000)
    });
    for &(operator, kept, least) in KEPT_TUPLES {
        let entries = metric(&shown, operator, "nStateEntries");
        assert_eq!(entries, Some(kept), "{operator}");
        let bytes = metric(&shown, operator, "nStateBytes").unwrap();
        let most = kept * (least + 250);
        assert!(
            (kept * least..most).contains(&bytes),
            "{operator}: {bytes}, not {} to {most}",
            kept * least
        );
    }
    job.signal(Signal::TERM);
    job.end();
}

/// Operators beyond a bound of 4 KB, with what they keep without tables.
const BOUNDED: &[&str] = &[
    "Aggregate(In) { window In : tumbling, delta(n, 1000l), partitioned, partitionAge(1000.0); \
     param partitionBy : n % 500l; BOUND }",
    "Aggregate(In) { window In : sliding, time(1000), count(300); BOUND }",
    "Aggregate(In) { window In : timeInterval, intervalDuration(10.0), partitioned; \
     param partitionBy : n; groupBy : n; BOUND }",
    "Aggregate(In) { window In : session, gap(10.0); BOUND }",
    "Sort(In) { window In : tumbling, delta(n, 1000l); param sortBy : n; BOUND }",
    "Join(In as L; In as R) { window L : sliding, time(1000.0); R : sliding, count(0); \
     param match : false; BOUND }",
    "Join(In as L; In as R) { window L : timeInterval, intervalDuration(10.0); \
     R : timeInterval, intervalDuration(10.0); BOUND }",
    "Barrier(In; None) { BOUND }",
    "DynamicFilter(None; In as Add) { param key : n; addKey : Add.n; BOUND }",
    "Delay(In) { param delay : 1e6; BOUND }",
];

/// A program with one of these operators. It prints how many numbers have come to it.
fn bounded(annotation: &str, operator: &str) -> String {
    let operator = operator.replace("BOUND", "config stateBytesMax : 4096;");
    format!(
        r#"composite Main {{ graph
    @eventTime(eventTimeAttribute = n)
    stream<int64 n> In = Beacon() {{
        param iterations : 1000; output In : n = (int64) IterationCount();
    }}
    stream<int64 n> None = Filter(In) {{ param filter : false; }}
    {annotation}
    stream<int64 n> Kept = {operator}
    () as Out = Custom(Kept; In as All) {{
        logic onPunct All : if (currentPunct() == Sys.FinalMarker) {{ printStringLn("ended"); }}
    }}
}}"#
    )
}

#[test]
fn tuples_that_are_not_in_tables_are_bounded_too() {
    for operator in BOUNDED {
        for args in [&[][..], &["--interpret"]] {
            let said = Scratch::new().run(&bounded("", operator), args).fails(1);
            let sentence = " bytes, and config `stateBytesMax` allows 4096";
            assert!(said.contains("Kept") && said.contains(sentence), "{said}");
        }
    }
}

#[test]
fn caught_faults_of_the_bound_drop_tuples_that_would_be_kept() {
    for operator in BOUNDED.iter().filter(|text| !text.starts_with("Delay")) {
        let program = bounded("@catch(exception = all)", operator);
        let run = Scratch::new().run(&program, &[]);
        assert_eq!((run.status, &*run.stdout), (0, "ended\n"), "{}", run.stderr);
    }
}

/// A bound of a megabyte.
const BOUND: &str = "config stateBytesMax : 1024 * 1024;";

#[test]
fn state_beyond_its_bound_ends_the_job_with_a_sentence() {
    let program = program("", BOUND, 1_000_000);
    for args in [&[][..], &["--interpret"], &["--fuse", "none"]] {
        let said = Scratch::new().run(&program, args).fails(1);
        assert!(said.contains("Unique"), "{said}");
        let (_, entries) = said
            .split_once("state of ")
            .unwrap_or_else(|| panic!("{said}"));
        let (entries, rest) = entries.split_once(" entries would take ").unwrap();
        let (bytes, rest) = rest.split_once(" bytes, ").unwrap();
        assert!(
            rest.starts_with("and config `stateBytesMax` allows 1048576"),
            "{said}"
        );
        let (entries, bytes): (u64, u64) = (entries.parse().unwrap(), bytes.parse().unwrap());
        assert!((15_000..45_000).contains(&entries), "{said}");
        assert!((1_048_577..1_400_000).contains(&bytes), "{said}");
    }
}

#[test]
fn caught_faults_leave_the_bound_as_it_is() {
    let program = program("@catch(exception = all)", BOUND, 300_000);
    for args in [&[][..], &["--interpret"]] {
        let kept = Scratch::new().run(&program, args);
        assert_eq!(kept.status, 0, "{}", kept.stderr);
        let kept: u64 = kept.stdout.trim().parse().unwrap();
        assert!(
            (15_000..45_000).contains(&kept),
            "{kept} keys were kept in a megabyte"
        );
    }
}
