//! The chores of the tree: `cargo xtask` without arguments lists them.

use std::path::Path;
use std::process::ExitCode;

use thalweg_xtask::{map, sizes, tidy, vwap};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => report(&tidy::check(root)),
        ["map"] => print(&map::print(root)),
        ["circles"] => print(&map::print_circles(root)),
        ["arrows", place] => print(&map::arrows_of(root, place)),
        ["sizes", folder] => match sizes::print(Path::new(folder)) {
            Ok(lines) => print(&lines),
            Err(message) => report(&[message]),
        },
        ["vwap-data"] => print(&vwap::generate(vwap::SAMPLE_LINES, vwap::SAMPLE_SEED)),
        ["vwap-data", lines, seed] => match (lines.parse(), seed.parse()) {
            (Ok(lines), Ok(seed)) => print(&vwap::generate(lines, seed)),
            _ => usage(),
        },
        _ => usage(),
    }
}

fn print(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}

fn report(findings: &[String]) -> ExitCode {
    for finding in findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: cargo xtask tidy | map | circles | arrows PLACE | sizes FOLDER | \
         vwap-data [LINES SEED]"
    );
    ExitCode::from(2)
}
