//! Drawings of graphs: DOT and SVG beside this file, and SVG of every example.
//!
//! `BLESS=1 cargo test -p thalweg-cli --test run drawings` writes the expected files anew.

use std::fs;

use engine::CompileRequest;

use crate::examples::programs;
use crate::scratch::{root, thalweg};

const MERGED_PORTS: &str = "crates/compiler/tests/right/merged_ports.spl";

/// Draws the graph of a program.
fn drawing(format: &str, program: &str) -> String {
    thalweg(&["dump", "--stage", "graph", "--format", format, program]).ok()
}

#[test]
fn a_graph_has_its_drawings() {
    let folder = root().join("crates/cli/tests/run/drawings");
    for format in ["dot", "svg"] {
        let found = drawing(format, MERGED_PORTS);
        let expected = folder.join("merged_ports").with_extension(format);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(fs::read_to_string(&expected).unwrap_or_default(), found);
    }
}

#[test]
fn every_operator_of_an_example_has_a_box() {
    for file in programs() {
        let picture = drawing("svg", file.to_str().unwrap());
        let request = CompileRequest {
            file: file.clone(),
            submission_values: Some(Vec::new()),
            ..CompileRequest::default()
        };
        let program = engine::compile(&request).unwrap().program.unwrap();
        let boxes = picture.matches("<rect ").count();
        assert_eq!(boxes, program.operators.len(), "{file:?}");
    }
}
