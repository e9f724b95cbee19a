//! `docs/performance.md` has the tables of the newest release's results, and `docs/bench/README.md`
//! says of each file of results where it comes from, as the file tells it.
//!
//! `BLESS=1 cargo test -p thalweg-measure --test performance_page` writes them anew.

use std::path::{Path, PathBuf};

use thalweg_measure::{report, results};

/// The release whose results the page shows.
const RELEASE: &str = "0.1.0";

/// The lines around the tables in the page.
const BEGIN: &str = "<!-- tables: begin -->\n";
const END: &str = "<!-- tables: end -->\n";

#[test]
fn the_page_has_the_tables_of_the_release() {
    let docs = docs();
    let file = docs.join("bench").join(format!("{RELEASE}.json"));
    let release = report::Release {
        name: RELEASE.to_owned(),
        outcomes: results::read(&file).expect("results"),
    };
    check_tables(&docs.join("performance.md"), &report::markdown(&release));
}

#[test]
fn each_file_of_results_is_listed_with_its_machine() {
    let folder = docs().join("bench");
    let files = std::fs::read_dir(&folder).expect("files of results");
    let files = files.map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    let mut table =
        "| file | processor | commit | made by |\n| --- | --- | --- | --- |\n".to_owned();
    for file in files {
        let outcomes = results::read(&file).expect("results");
        let outcome = outcomes.first().expect("a result");
        let name = file.file_name().expect("a name").to_string_lossy();
        let (host, commit) = (&outcome.host, outcome.commit.as_deref());
        let options = outcome.options.as_deref().unwrap_or_default();
        table += &format!(
            "| `{name}` | {}, {} cores | {} | `thalweg bench {options}` |\n",
            host.processor,
            host.cores,
            commit.unwrap_or("unknown"),
        );
    }
    check_tables(&folder.join("README.md"), &table);
}

/// The folder of the pages.
fn docs() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("a project").join("docs")
}

/// Checks that these tables stand between the lines of a page, or writes them there.
fn check_tables(page: &Path, expected: &str) {
    let text = std::fs::read_to_string(page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where tables begin");
    let (tables, after) = rest.split_once(END).expect("where tables end");
    if std::env::var_os("BLESS").is_some() {
        let text = [before, BEGIN, expected, END, after].concat();
        std::fs::write(page, text).expect("the page is written");
    } else {
        assert_eq!(tables, expected, "BLESS=1 writes the tables anew");
    }
}
