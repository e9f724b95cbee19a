//! `docs/performance.md` has the tables of the newest release's results.
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let docs: PathBuf = root.expect("a project").join("docs");
    let file = docs.join("bench").join(format!("{RELEASE}.json"));
    let release = report::Release {
        name: RELEASE.to_owned(),
        outcomes: results::read(&file).expect("results"),
    };
    let page = docs.join("performance.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where tables begin");
    let (tables, after) = rest.split_once(END).expect("where tables end");
    let expected = report::markdown(&release);
    if std::env::var_os("BLESS").is_some() {
        let text = [before, BEGIN, &expected, END, after].concat();
        std::fs::write(&page, text).expect("the page is written");
    } else {
        assert_eq!(tables, expected, "BLESS=1 writes the tables anew");
    }
}
