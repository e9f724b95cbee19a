//! `thalweg bench compare` and `thalweg bench report`: what they print, what they refuse.

use std::path::Path;
use std::time::Duration;

use crate::scratch::{Run, Scratch, thalweg};

/// Longer than anything takes that works.
const LONG: Duration = Duration::from_secs(300);

/// One result of each size in bytes and rate, with three runs close to it.
fn results(commit: &str, rates: &[(u64, f64)]) -> String {
    let outcome = |(size, rate): &(u64, f64)| {
        let samples = [0.99 * rate, *rate, 1.01 * rate];
        serde_json::json!({
            "bench": "throughput", "path": "shm", "codec": "facade", "size_bytes": size,
            "receivers": 1, "rate_offered": null, "tuples_per_s": rate,
            "gbit_per_s": rate * *size as f64 * 8.0 / 1e9, "control_tuples_per_s": 2.0 * rate,
            "ratio": 0.5, "latency_ns": null, "control_latency_ns": null,
            "control": "a bare segment", "runs": 3, "samples": samples,
            "control_samples": samples.map(|sample| 2.0 * sample), "unavailable": null,
            "host": {"processor": "P", "cores": 2, "kernel": "K", "huge_pages": "none",
                     "governor": null, "jitter_ns": 1000},
            "commit": commit, "options": null,
        })
    };
    let outcomes: Vec<_> = rates.iter().map(outcome).collect();
    serde_json::Value::from(outcomes).to_string()
}

fn bench(args: &[&str]) -> Run {
    thalweg(&[&["bench"], args].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_comparison_names_what_changed() {
    let scratch = Scratch::new();
    let a = scratch.write(
        "a.json",
        results("aaaa", &[(64, 1e6), (128, 1e6), (256, 1e6)]),
    );
    let b = scratch.write(
        "out/results.json",
        results("bbbb", &[(64, 1.5e6), (128, 1e6)]),
    );
    let folder = b.parent().unwrap();
    let table = bench(&["compare", text(&a), text(folder)]).ok();
    assert!(
        table.starts_with("A: a, commit aaaa\nB: out, commit bbbb\n"),
        "{table}"
    );
    let line = |size: &str| {
        let mut lines = table.lines();
        let found = lines.find(|line| line.split_whitespace().nth(3) == Some(size));
        found
            .unwrap_or_else(|| panic!("{size}: {table}"))
            .to_owned()
    };
    assert!(
        line("64").contains("1 M/s") && line("64").contains("1.5 M/s"),
        "{table}"
    );
    assert!(
        line("64").contains("+50 %") && line("64").ends_with("faster"),
        "{table}"
    );
    assert!(line("128").ends_with("no change within noise"), "{table}");
    assert!(line("256").ends_with("only in A"), "{table}");
    assert!(
        table.ends_with("1 faster, 1 no change within noise, 1 only in A\n"),
        "{table}"
    );
}

#[test]
fn a_comparison_speaks_json() {
    let scratch = Scratch::new();
    let a = scratch.write("a.json", results("aaaa", &[(64, 1e6)]));
    let b = scratch.write(
        "b.json",
        results("bbbb", &[(64, 0.5e6)]).replace("\"P\"", "\"Q\""),
    );
    let printed = bench(&["compare", "--json", text(&a), text(&b)]).ok();
    let whole: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(whole["hosts_differ"], "processor P in A, Q in B");
    let row = &whole["rows"][0];
    assert_eq!(
        row["by"], "ratio",
        "hosts that differ are compared by their controls"
    );
    assert_eq!(row["verdict"], "no_change");
    assert_eq!(row["size_bytes"], 64);
}

#[test]
fn slower_fails_only_if_asked_to() {
    let scratch = Scratch::new();
    let a = scratch.write("a.json", results("aaaa", &[(64, 1e6)]));
    let b = scratch.write("b.json", results("bbbb", &[(64, 0.8e6)]));
    let (a, b) = (text(&a), text(&b));
    assert!(bench(&["compare", a, b]).ok().contains("slower"));
    let refused = bench(&["compare", a, b, "--fail-on-slower", "10"]).fails(1);
    assert_eq!(
        refused,
        "thalweg: slower by more than 10 %: throughput shm facade 64 B to 1 -20 %\n"
    );
    bench(&["compare", a, b, "--fail-on-slower", "30"]).ok();
    bench(&["compare", b, a, "--fail-on-slower", "10"]).ok();
    bench(&["compare", a, b, "--fail-on-slower", "much"]).fails(2);
}

#[test]
fn releases_are_found_by_their_names() {
    let scratch = Scratch::new();
    scratch.write("history/0.1.0.json", results("aaaa", &[(64, 1e6)]));
    scratch.write("history/0.2.0.json", results("bbbb", &[(64, 2e6)]));
    let history = scratch.path("history");
    let named = |a: &str, b: &str| bench(&["compare", a, b, "--history", text(&history)]);
    assert!(named("0.1.0", "0.2.0").ok().contains("+100 %"));
    let refused = named("0.1.0", "0.3.0").fails(1);
    assert!(
        refused.contains("`0.3.0` is neither a file or folder of results nor a release"),
        "{refused}"
    );
    assert!(refused.contains(": 0.1.0, 0.2.0\n"), "{refused}");
}

#[test]
fn files_that_hold_something_else_are_refused_with_their_place() {
    let scratch = Scratch::new();
    let good = scratch.write("good.json", results("aaaa", &[(64, 1e6)]));
    let bad = scratch.write("bad.json", "[\n  {\"bench\": 1}\n]");
    let refused = bench(&["compare", text(&good), text(&bad)]).fails(1);
    assert!(
        refused.contains("bad.json is no file of results"),
        "{refused}"
    );
    assert!(refused.contains("line 2 column 13"), "{refused}");
    let endless = bench(&["compare", "/dev/zero", "/dev/zero"]).fails(1);
    assert!(
        endless.contains("it has more than 64 MB, or no end"),
        "{endless}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    let file = scratch.write("file", "");
    let below = file.join("below");
    let begun = std::time::Instant::now();
    let long = ["throughput", "--seconds", "60", "--out", text(&below)];
    let refused = bench(&long).fails(1);
    assert!(
        refused.contains("cannot make") && refused.contains("below"),
        "{refused}"
    );
    assert!(begun.elapsed() < LONG, "nothing was measured");
}

#[test]
fn a_report_is_made_of_files() {
    let scratch = Scratch::new();
    let a = scratch.write("0.1.0.json", results("aaaa", &[(64, 1e6), (256, 1e6)]));
    let b = scratch.write("0.2.0.json", results("bbbb", &[(64, 2e6), (256, 2e6)]));
    let out = scratch.path("page");
    let printed = bench(&["report", text(&a), text(&b), "--out", text(&out)]).ok();
    assert_eq!(printed, format!("{}\n", out.join("index.html").display()));
    let page = scratch.read("page/index.html");
    assert!(page.contains("id=\"figure-12\""), "releases are compared");
    assert_eq!(scratch.read("page/results.csv").lines().count(), 5);
    let json: serde_json::Value = serde_json::from_str(&scratch.read("page/results.json")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2, "the newest release");
    bench(&["report", text(&a)]).fails(2);
    let tables = bench(&["report", text(&a), text(&b), "--markdown"]).ok();
    assert!(
        tables.starts_with("Release 0.2.0, commit bbbb, by "),
        "{tables}"
    );
    assert!(tables.contains("| 256 | 2 (0.50) |"), "{tables}");
    let refused = bench(&["report", text(&a), "--out", text(&b)]).fails(1);
    assert!(
        refused.contains("cannot write") && refused.contains("0.2.0.json"),
        "{refused}"
    );
}
