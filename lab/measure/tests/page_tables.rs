//! README.md and `docs/performance.md` have the figures of the newest release's results, and the
//! latter those of the first table in `docs/peers.md`. `docs/bench/README.md` says of each file of
//! results where it comes from, as the file tells it.
//!
//! Tables stand between the markers `<!-- NAME: begin -->` and `<!-- NAME: end -->` of a page.
//! `BLESS=1 cargo test -p thalweg-measure --test page_tables` writes them anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use thalweg_measure::{report, results};

/// The release whose results the pages show.
const RELEASE: &str = "0.1.0";

/// Paths of the ladder and their names in the README.
const PATHS: [(&str, &str); 5] = [
    ("fused", "fused"),
    ("threaded", "threaded port"),
    ("shm", "shared memory"),
    ("rum", "`rum`, batches over TCP"),
    ("tcp", "TCP, a write a tuple"),
];

/// Beginnings of the rows of `docs/peers.md` that the performance page shows, and their names
/// there.
const PEERS: [(&str, &str); 5] = [
    ("rtrb", "rtrb, between threads"),
    ("timely", "timely, between threads"),
    ("iceoryx2", "iceoryx2, shared memory"),
    ("Aeron IPC", "Aeron IPC, shared memory"),
    ("ZeroMQ 4.3.4, tcp", "ZeroMQ, loopback TCP"),
];

#[test]
fn the_readme_has_the_ladder() {
    check_page("README.md", &[("ladder", short_ladder(&release_tables()))]);
}

#[test]
fn the_performance_page_has_all_tables_of_the_release_and_the_peers_rates() {
    let expected = [
        ("tables", release_tables()),
        ("peers", peer_table(&["64 B", "256 B", "1 KB", "16 KB"])),
    ];
    check_page("docs/performance.md", &expected);
}

#[test]
fn each_file_of_results_is_listed_with_its_machine() {
    let files = std::fs::read_dir(project().join("docs/bench")).expect("files of results");
    let files = files.map(|file| file.expect("a file").path());
    let is_result = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let mut files: Vec<PathBuf> = files.filter(is_result).collect();
    files.sort();
    let mut table =
        "| file | processor | commit | made by |\n| --- | --- | --- | --- |\n".to_owned();
    for file in files {
        let outcomes = results::read(&file).expect("results");
        let outcome = outcomes.first().expect("a result");
        let name = file.file_name().expect("a name").to_string_lossy();
        let (host, commit) = (&outcome.host, outcome.commit.as_deref());
        let (processor, cores) = (&host.processor, host.cores);
        let commit = commit.unwrap_or("unknown");
        let options = outcome.options.as_deref().unwrap_or_default();
        writeln!(
            table,
            "| `{name}` | {processor}, {cores} cores | {commit} | `thalweg bench {options}` |"
        )
        .expect("text");
    }
    check_page("docs/bench/README.md", &[("tables", table)]);
}

/// Compares the named sections of a page with the expected texts, or writes them with `BLESS`.
fn check_page(page: &str, expected: &[(&str, String)]) {
    let file = project().join(page);
    let mut text = read(page);
    for (name, expected) in expected {
        let begin = format!("<!-- {name}: begin -->\n");
        let end = format!("<!-- {name}: end -->\n");
        let (before, rest) = text.split_once(&begin).expect("where the section begins");
        let (found, after) = rest.split_once(&end).expect("where the section ends");
        if std::env::var_os("BLESS").is_some() {
            text = [before, &begin, expected, &end, after].concat();
            std::fs::write(&file, &text).expect("the page is written");
        } else {
            assert_eq!(found, expected, "{page}: BLESS=1 writes the tables anew");
        }
    }
}

/// All tables of the release's results.
fn release_tables() -> String {
    let file = project().join("docs/bench").join(format!("{RELEASE}.json"));
    report::markdown(&report::Release {
        name: RELEASE.to_owned(),
        outcomes: results::read(&file).expect("results"),
    })
}

/// The origin of the release's results, then rate and ratio of each path at 64 bytes.
fn short_ladder(tables: &str) -> String {
    let (origin, _) = tables.split_once(", Linux").expect("a line of origin");
    let mut text = format!(
        "{origin}.\n\n| 64-byte tuples | million a second | ratio to the control |\n\
         | --- | --- | --- |\n"
    );
    let rows = first_table(tables);
    for (path, name) in PATHS {
        let row = rows.iter().find(|row| row[0] == path).expect("its path");
        writeln!(text, "| {name} | {} | {} |", row[1], row[3]).expect("text");
    }
    text
}

/// The origin of the first table in `docs/peers.md`, then the columns `sizes` of some of its rows.
fn peer_table(sizes: &[&str]) -> String {
    let page = read("docs/peers.md");
    let (_, results) = page.split_once("\n## Results\n").expect("the results");
    let origins = results.lines().filter(|line| line.starts_with("On a"));
    let origin = origins.map(|line| line.trim_end_matches(':')).next();
    let rows = first_table(results);
    let mut text = format!(
        "{}; in brackets the bare medium.\n\n| peer | {} |\n| --- |{}\n",
        origin.expect("machine and commit of the first table"),
        sizes.join(" | "),
        " --- |".repeat(sizes.len())
    );
    for (peer, name) in PEERS {
        let row = rows.iter().find(|row| row[0].starts_with(peer));
        let row = row.expect("the row of a peer");
        let columns = sizes
            .iter()
            .map(|size| rows[0].iter().position(|head| head == size));
        let cells = columns.map(|at| row[at.expect("a column of the size")].as_str());
        let cells: Vec<&str> = cells.collect();
        writeln!(text, "| {name} | {} |", cells.join(" | ")).expect("text");
    }
    text
}

/// The cells of the first table of a text, its head first.
fn first_table(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines
        .filter(|line| !line.starts_with("| --- "))
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

fn read(page: &str) -> String {
    std::fs::read_to_string(project().join(page)).expect("a page of the project")
}

fn project() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("a project").to_owned()
}
