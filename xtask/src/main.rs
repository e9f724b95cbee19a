//! `cargo xtask tidy` and `cargo xtask vwap-data [LINES] [SEED]`.

use std::path::Path;
use std::process::ExitCode;

use thalweg_xtask::{tidy, vwap};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => report(&tidy::check(root)),
        ["vwap-data"] => vwap_data(vwap::LINES, vwap::SEED),
        ["vwap-data", lines, seed] => match (lines.parse(), seed.parse()) {
            (Ok(lines), Ok(seed)) => vwap_data(lines, seed),
            _ => usage(),
        },
        _ => usage(),
    }
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
    eprintln!("usage: cargo xtask tidy | cargo xtask vwap-data [LINES SEED]");
    ExitCode::from(2)
}
