//! The VWAP application on real trades and quotes.

use std::path::PathBuf;

use crate::scratch::{Scratch, root, thalweg};

/// The real input, which a clone of the project does not have: it may lie beside the clone, or
/// where `THALWEG_TRADES_AND_QUOTES` says.
fn real_input() -> Option<PathBuf> {
    let named = std::env::var_os("THALWEG_TRADES_AND_QUOTES").map(PathBuf::from);
    let beside = root().join("../shared/data/TradesAndQuotes.csv.gz");
    named
        .into_iter()
        .chain([beside])
        .find(|path| path.is_file())
}

#[test]
fn bargains_in_real_trades_and_quotes() {
    let Some(input) = real_input() else {
        eprintln!(
            "\n*** PASSED OVER: there is no TradesAndQuotes.csv.gz beside this clone; set \
             THALWEG_TRADES_AND_QUOTES to its path to run this test ***\n"
        );
        return;
    };
    let scratch = Scratch::new();
    let csv = scratch.path("real.csv");
    let file = std::fs::File::open(input).unwrap();
    let mut unpacked = std::fs::File::create(&csv).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(file), &mut unpacked).unwrap();
    let input = format!("input={}", csv.display());
    for backend in [&[][..], &["--interpret"]] {
        let args = [&["run", "examples/vwap/Vwap.spl", input.as_str()], backend].concat();
        let bargains = thalweg(&args).ok();
        assert_eq!(bargains.lines().count(), 1812);
        for line in [
            "\"IBM\",83.648,83.63,2,2.036325952779588",
            "\"IBM\",83.648,83.58,2,2.140730616957548",
        ] {
            assert!(
                bargains.lines().any(|other| other == line),
                "{line} is missing"
            );
        }
    }
}
