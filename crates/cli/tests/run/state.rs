//! The memory of operators' state: shown by `thalweg top`, and bounded by config `stateBytesMax`.

use rustix::process::Signal;

use crate::processes::{Live, until};
use crate::scratch::{Scratch, thalweg};

/// A program whose operators each keep state for every number that comes.
fn program(config: &str, tuples: u32) -> String {
    format!(
        r#"composite Main {{ graph
    stream<int64 n> In = Beacon() {{
        param iterations : {tuples}; output In : n = (int64) IterationCount();
    }}
    stream<int64 n> Unique = DeDuplicate(In) {{ param key : n; {config} }}
    stream<int64 n> Totals = Aggregate(Unique) {{
        window Unique : tumbling, count(2), partitioned; param partitionBy : n;
        output Totals : n = Sum(n);
    }}
    () as Out = Custom(Totals, Unique as All) {{
        logic state : mutable int32 seen = 0;
        onTuple All : {{ if (++seen == {tuples}) {{ println(1); block(1e9); }} }}
    }}
}}"#
    )
}

#[test]
fn top_shows_entries_and_bytes_of_state() {
    let scratch = Scratch::new();
    let main = scratch.write("Main.spl", program("", 100_000));
    let mut job = Live::start(&scratch, &["run", main.to_str().unwrap()]);
    assert_eq!(job.line(), "1\n");
    let pid = job.pid().to_string();
    let mut shown = String::new();
    until("the numbers of all tuples", || {
        shown = thalweg(&["top", "--once", &pid]).ok();
        let entries = |operator: &str, metric: &str, least: i64, most: i64| {
            let mut lines = shown
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>());
            lines.any(|line| match line[..] {
                [_, of, name, value] if of == operator && name == metric => {
                    (least..=most).contains(&value.parse().unwrap())
                }
                _ => false,
            })
        };
        let all = 100_000;
        // A key of 8 bytes with its last time, links, and a slot; a key with sum and count.
        entries("Unique", "nStateEntries", all, all)
            && entries("Unique", "nStateBytes", 24 * all, 64 * all)
            && entries("Totals", "nCurrentPartitions", all - 1, all)
            && entries("Totals", "nStateBytes", 16 * all, 64 * all)
    });
    job.signal(Signal::TERM);
    job.end();
}

#[test]
fn state_beyond_its_bound_ends_the_job_with_a_sentence() {
    let program = program("config stateBytesMax : 1024 * 1024;", 1_000_000);
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
