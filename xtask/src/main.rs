//! `cargo xtask tidy` and `cargo xtask vwap-data [SAMPLE_LINES] [SAMPLE_SEED]`.

use std::path::Path;
use std::process::ExitCode;

use thalweg_xtask::{map, tidy, vwap};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => report(&tidy::check(root)),
        ["imports"] => report(&tidy::check_imports(root)),
        ["docs"] => report(&tidy::check_docs(root)),
        ["circles"] => circles(root),
        ["arrows", place] => {
            print!("{}", map::arrows_of(root, place));
            ExitCode::SUCCESS
        }
        ["vwap-data"] => vwap_data(vwap::SAMPLE_LINES, vwap::SAMPLE_SEED),
        ["vwap-data", lines, seed] => match (lines.parse(), seed.parse()) {
            (Ok(lines), Ok(seed)) => vwap_data(lines, seed),
            _ => usage(),
        },
        _ => usage(),
    }
}

fn circles(root: &Path) -> ExitCode {
    print!("{}", map::print_circles(root));
    ExitCode::SUCCESS
}

fn vwap_data(lines: u32, seed: u64) -> ExitCode {
    print!("{}", vwap::generate(lines, seed));
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
    eprintln!("usage: cargo xtask tidy | docs | circles | arrows PLACE | vwap-data [LINES SEED]");
    ExitCode::from(2)
}
