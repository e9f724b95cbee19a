//! NEXMark: every query of `examples/nexmark` gives, on every plan, what a loop by hand gives.
//!
//! The loops (`lab/nexmark`) know nothing of the engine. Both read one folder of generated events,
//! and what they write is compared byte by byte; where a query leaves the order open, line by line
//! after sorting. Among themselves the plans have to agree byte by byte.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use nexmark::GeneratorOptions;
use nexmark::loops::{self, LoopRun, LoopSource, ResultLines};

use crate::order::is_about_late_tuples;
use crate::processes::Live;
use crate::scratch::{Scratch, command, root, thalweg};

/// Options of the plans, of which the first is compared with the loop.
const PLANS: [&[&str]; 3] = [&[], &["--interpret"], &["--fuse", "none"]];

/// The query that writes files.
const LOG: u32 = 10;

/// The query by the clock, whose windows differ from run to run.
const CLOCK: u32 = 12;

/// Queries whose results of one interval or second have no order.
const UNORDERED: [u32; 4] = [5, 7, 8, 11];

/// Events over two minutes around eight in the morning; some come three seconds late.
fn morning() -> GeneratorOptions {
    GeneratorOptions {
        events: 6_000,
        seed: 1,
        rate: 50,
        start_ms: GeneratorOptions::START_MS + (8 * 60 - 1) * 60_000,
        disorder_ms: 3_000,
    }
}

/// Events around midnight; some come later than the queries wait.
fn midnight() -> GeneratorOptions {
    GeneratorOptions {
        events: 6_000,
        seed: 2,
        rate: 50,
        start_ms: GeneratorOptions::START_MS + (24 * 60 - 1) * 60_000,
        disorder_ms: 7_000,
    }
}

fn program(query: u32) -> String {
    let path = root().join(format!("examples/nexmark/Q{query}.spl"));
    path.to_str().unwrap().to_owned()
}

/// Results of the loop of a query.
fn loop_results(folder: &Path, query: u32) -> String {
    let results = folder.join("loop.csv");
    let run = LoopRun {
        query,
        folder: folder.to_owned(),
        log_prefix: folder.join("loop-").to_str().unwrap().to_owned(),
        source: LoopSource::Csv,
    };
    let lines = ResultLines::new(File::create(&results).unwrap());
    loops::run(&run, lines).unwrap();
    fs::read_to_string(results).unwrap()
}

/// Standard output of the program of a query.
fn program_results(folder: &Path, query: u32, plan: &[&str]) -> String {
    let program = program(query);
    let args = ["run", &program, "--data-dir", folder.to_str().unwrap()];
    let run = thalweg(&[&args, plan].concat());
    let mut said = run.stderr.lines();
    assert!(
        said.all(is_about_late_tuples),
        "query {query} {plan:?}: {}",
        run.stderr
    );
    run.ok()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// The first line in which two results differ.
fn difference(found: &[&str], expected: &[&str]) -> String {
    let pairs = found.iter().zip(expected);
    let at = pairs
        .take_while(|(found, expected)| found == expected)
        .count();
    let (found, expected) = (found.get(at), expected.get(at));
    format!("line {}: {found:?} instead of {expected:?}", at + 1)
}

/// Compares the queries with their loops on some plans.
fn check(options: &GeneratorOptions, plans: &[&[&str]]) {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    nexmark::write_folder(&folder, options).unwrap();
    for query in (0..loops::QUERIES).filter(|query| ![LOG, CLOCK].contains(query)) {
        let expected = loop_results(&folder, query);
        assert!(expected.lines().count() >= 5, "query {query}: {expected}");
        let mut first = None;
        for plan in plans {
            let found = program_results(&folder, query, plan);
            let of = |text| match UNORDERED.contains(&query) {
                true => sorted(text),
                false => text.lines().collect(),
            };
            let (lines, expected) = (of(&found), of(&expected));
            assert!(
                lines == expected,
                "query {query} {plan:?}, {}",
                difference(&lines, &expected)
            );
            let first = first.get_or_insert_with(|| found.clone());
            assert!(*first == found, "query {query} {plan:?}: another order");
        }
    }
}

#[test]
fn queries_give_what_their_loops_give_on_every_plan() {
    check(&morning(), &PLANS);
}

#[test]
fn queries_drop_late_events_as_their_loops_do() {
    check(&midnight(), &PLANS[..1]);
}

#[test]
fn logged_bids_lie_in_the_files_of_their_minutes() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let folder = scratch.path("");
        nexmark::write_folder(&folder, &morning()).unwrap();
        loop_results(&folder, LOG);
        program_results(&folder, LOG, plan);
        let names = fs::read_dir(&folder).unwrap().flatten();
        let names = names.map(|file| file.file_name().into_string().unwrap());
        let mut minutes: Vec<_> = names
            .filter_map(|name| name.strip_prefix("loop-").map(str::to_owned))
            .collect();
        minutes.sort();
        assert_eq!(minutes.len(), 2, "{minutes:?}");
        for minute in minutes {
            let expected = scratch.read(&format!("loop-{minute}"));
            assert!(expected.lines().count() > 2_000, "{minute}");
            assert!(
                scratch.read(&format!("bids-{minute}")) == expected,
                "{minute} {plan:?}"
            );
        }
    }
}

/// Windows of the clock differ from run to run, but not the sum of a person's counts. The input
/// stays open until all bids are counted, since its end drops the window that is not over.
#[test]
fn windows_of_the_clock_count_every_bid() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let mut bids = Vec::new();
        nexmark::write_events(&mut bids, &morning(), true, false).unwrap();
        let text = String::from_utf8(bids.clone()).unwrap();
        let mut expected: HashMap<String, u64> = HashMap::new();
        for line in text.lines() {
            *expected
                .entry(line.split(',').nth(1).unwrap().to_owned())
                .or_default() += 1;
        }
        let program = program(CLOCK);
        let args = ["run", &program, "bids=/dev/stdin", "seconds=0.05"];
        let mut command = command(&[&args, plan].concat());
        let (reader, mut writer) = std::io::pipe().unwrap();
        command.stdin(Stdio::from(reader));
        let mut live = Live::of(&scratch, command);
        writer.write_all(&bids).unwrap();
        let (mut counted, mut found) = (0, HashMap::new());
        while counted < text.lines().count() as u64 {
            let line = live.line();
            let (bidder, bids) = line.trim_end().split_once(',').unwrap();
            let bids: u64 = bids.parse().unwrap();
            counted += bids;
            *found.entry(bidder.to_owned()).or_default() += bids;
        }
        assert_eq!(found, expected, "{plan:?}");
        drop(writer);
        assert_eq!(live.end().ok(), "");
    }
}
