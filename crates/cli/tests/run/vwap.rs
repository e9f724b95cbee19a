//! The VWAP application on real trades and quotes, and the one with 332 operators.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

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

/// Unpacks the real input, if it is there, and returns its path.
fn unpacked_input(scratch: &Scratch) -> Option<PathBuf> {
    let Some(input) = real_input() else {
        eprintln!(
            "\n*** PASSED OVER: there is no TradesAndQuotes.csv.gz beside this clone; set \
             THALWEG_TRADES_AND_QUOTES to its path to run this test ***\n"
        );
        return None;
    };
    let csv = scratch.path("real.csv");
    let file = fs::File::open(input).unwrap();
    let mut unpacked = fs::File::create(&csv).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(file), &mut unpacked).unwrap();
    Some(csv)
}

#[test]
fn bargains_in_real_trades_and_quotes() {
    let scratch = Scratch::new();
    let Some(csv) = unpacked_input(&scratch) else {
        return;
    };
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

const MANY: &str = "examples/vwap/Vwap332.spl";

/// A bargain: ticker, index, mean of the ticker's indexes so far, and their number.
#[derive(Debug, PartialEq)]
struct Bargain {
    ticker: String,
    index: f64,
    mean: f64,
    number: u64,
}

/// Values and volumes of a ticker's last four trades, and its indexes so far.
#[derive(Default)]
struct Ticker {
    trades: VecDeque<(f64, f64)>,
    indexes: Vec<f64>,
}

/// The bargains in a file, with the ticker of each copy, found by a loop over its lines.
fn bargains(csv: &Path, copies: u32) -> Vec<Bargain> {
    let text = fs::read_to_string(csv).unwrap();
    let mut tickers: HashMap<String, Ticker> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse().unwrap_or(0.0);
        for copy in 0..copies {
            let suffix = if copy == 0 {
                String::new()
            } else {
                format!(".{copy}")
            };
            let name = format!("{}{suffix}", cells[0]);
            let ticker = tickers.entry(name.clone()).or_default();
            let (price, volume, ask, size) = (number(6), number(7), number(14), number(15));
            if cells[4] == "Trade" && price > 0.0 {
                ticker.trades.push_back((price * volume, volume));
                if ticker.trades.len() > 4 {
                    ticker.trades.pop_front();
                }
            }
            let volume: f64 = ticker.trades.iter().map(|trade| trade.1).sum();
            // A sliding window of four tuples gives its first result when it is full.
            let is_known = ticker.trades.len() == 4 && volume > 0.0;
            if cells[4] != "Quote" || ask <= 0.0 || !is_known {
                continue;
            }
            let vwap = ticker.trades.iter().map(|trade| trade.0).sum::<f64>() / volume;
            // Prices have few digits: a difference this small is one of binary fractions.
            if vwap - ask < 1e-9 || size <= 0.0 {
                continue;
            }
            ticker.indexes.push(size * (vwap - ask).exp());
            let number = ticker.indexes.len();
            found.push(Bargain {
                ticker: name,
                index: ticker.indexes[number - 1],
                mean: ticker.indexes.iter().sum::<f64>() / number as f64,
                number: number as u64,
            });
        }
    }
    found
}

/// Compares what the application has printed with the bargains; decimals are cut to 12 digits.
fn assert_bargains(printed: &str, expected: &[Bargain]) {
    let printed = printed.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        Bargain {
            ticker: cells[0].trim_matches('"').to_owned(),
            index: cells[1].parse().unwrap(),
            mean: cells[2].parse().unwrap(),
            number: cells[3].parse().unwrap(),
        }
    });
    let printed: Vec<Bargain> = printed.collect();
    assert_eq!(printed.len(), expected.len());
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    for (at, (found, expected)) in printed.iter().zip(expected).enumerate() {
        let is_same = (&found.ticker, found.number) == (&expected.ticker, expected.number);
        let is_near = near(found.index, expected.index) && near(found.mean, expected.mean);
        assert!(
            is_same && is_near,
            "line {}: {found:?}, expected {expected:?}",
            at + 1
        );
    }
}

#[test]
fn the_application_has_332_operators() {
    let plan = thalweg(&["dump", "--stage", "plan", "--fuse", "none", MANY]).ok();
    assert_eq!(
        plan.lines().filter(|line| line.starts_with("pe ")).count(),
        332
    );
}

#[test]
fn many_operators_find_the_same_bargains_on_every_plan() {
    let scratch = Scratch::new();
    let expected = bargains(&root().join("examples/vwap/data/TradesAndQuotes.csv"), 3);
    assert!(expected.len() == 3 * 721, "{}", expected.len());
    // Partitions by turns in three processes, source and sink in the first.
    let turns = |turn: usize| {
        (0..41)
            .filter(move |at| at % 3 == turn)
            .map(|at| format!("B{at}.*"))
    };
    let names = |turn| turns(turn).collect::<Vec<_>>().join(" ");
    let (second, third) = (names(1), names(2));
    let plan = format!("pe 0\n operators *\npe 1\n operators {second}\npe 2\n operators {third}\n");
    let plan = scratch.write("three.plan", plan);
    let plan = plan.to_str().unwrap();
    let plans: [&[&str]; 5] = [
        &[],
        &["--interpret"],
        &["--threading", "dedicated"],
        &["--fuse", plan, "-F", "shm"],
        &["--fuse", plan, "-F", "rum"],
    ];
    for options in plans {
        let printed = thalweg(&[&["run", MANY, "copies=3"], options].concat()).ok();
        assert_bargains(&printed, &expected);
    }
}

#[test]
fn many_operators_find_the_bargains_in_real_trades_and_quotes() {
    let scratch = Scratch::new();
    let Some(csv) = unpacked_input(&scratch) else {
        return;
    };
    let input = format!("input={}", csv.display());
    let expected = bargains(&csv, 2);
    assert!(expected.len() == 2 * 1812, "{}", expected.len());
    let printed = thalweg(&["run", MANY, &input, "copies=2"]).ok();
    assert_bargains(&printed, &expected);
}
