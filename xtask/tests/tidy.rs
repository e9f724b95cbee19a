//! The tree is tidy, and the shipped example input is what the generator makes.

use std::path::Path;

use thalweg_xtask::{tidy, vwap};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn the_tree_is_tidy() {
    let findings = tidy::check(root());
    assert!(
        findings.is_empty(),
        "{}\n{} findings",
        findings.join("\n"),
        findings.len()
    );
}

#[test]
fn the_shipped_vwap_input_is_the_generated_one() {
    let path = root().join("examples/vwap/data/TradesAndQuotes.csv");
    let shipped = std::fs::read_to_string(path).unwrap();
    assert!(
        shipped == vwap::generate(vwap::SAMPLE_LINES, vwap::SAMPLE_SEED),
        "run: cargo xtask vwap-data > examples/vwap/data/TradesAndQuotes.csv"
    );
}
