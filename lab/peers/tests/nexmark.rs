//! `thalweg-peers nexmark` as its users call it, on few events.

use std::process::{Command, Output};

use thalweg_peers::nexmark::QUERIES;

/// Engines beside Thalweg that are built in.
const BUILT_IN: &[&str] = if cfg!(feature = "timely") {
    &["by-hand", "timely"]
} else {
    &["by-hand"]
};

fn nexmark(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg-peers"));
    command.arg("nexmark").args(args);
    command.output().expect("it starts")
}

/// Standard output of a run that has to succeed.
fn stdout(args: &[&str]) -> String {
    let output = nexmark(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_list_has_every_engine() {
    let list = stdout(&["--list"]);
    for name in ["thalweg", "by-hand", "timely", "flink", "jet", "bytewax"] {
        let line = list.lines().find(|line| line.starts_with(name));
        assert!(
            line.is_some_and(|line| line.contains(": ")),
            "{name}: {list}"
        );
    }
}

#[test]
fn bad_words_are_refused() {
    for args in [["--only", "pigeon"], ["--query", "12"], ["--turns", "0"]] {
        let output = nexmark(&args);
        assert!(!output.status.success(), "{args:?}");
    }
    let said = nexmark(&["--query", "23"]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("peers run 0, 1, 2"));
}

/// The engines that need nothing else give the results of Thalweg, with windows that end.
#[test]
fn every_query_has_a_line_for_each_engine() {
    let numbers = QUERIES.map(|query| query.number.to_string()).join(",");
    for (queries, cores) in [(&*numbers, "2"), ("5", "1")] {
        let mut args = vec!["--events", "200000", "--turns", "1", "--query", queries];
        args.extend(BUILT_IN.iter().flat_map(|name| ["--only", name]));
        if cores == "1" {
            args.push("--one-core");
        }
        let table = stdout(&args);
        for query in queries.split(',') {
            let start = [format!("q{query}"), cores.to_owned()];
            let words = table.lines().map(|line| line.split_whitespace());
            let lines = words.filter(|words| words.clone().take(2).eq(&start));
            let found: Vec<&str> = lines
                .inspect(|words| assert_eq!(words.clone().last(), Some("ms"), "{table}"))
                .filter_map(|mut words| words.nth(2))
                .collect();
            assert_eq!(found, [&["thalweg"], BUILT_IN].concat(), "{table}");
        }
        let last = table.lines().last();
        assert!(
            last.is_some_and(|line| line.contains("; measured in ")),
            "{table}"
        );
    }
}
