//! The csv reader against pure field splitting.
//!
//! ```text
//!   bytes -> csv_core (fields found, nothing converted)        the control
//!   bytes -> CsvReader -> flat tuples (30 typed attributes)    what is measured
//!   flat tuples -> CsvWriter -> bytes                          for information
//! ```
//! `cargo bench -p thalweg-tuple --bench csv [-- file.csv]`. Without a file, lines like those of
//! trades and quotes are generated: 30 columns, most of them empty. Then come lines of 3 columns,
//! those of `thalweg bench operators`. The three take turns; a rate is that of the fastest turn,
//! the ratio is the median of those of the turns, and it is what counts.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use thalweg_tuple::text::{
    ReadOptions, Record, RecordFormat, WriteOptions, new_reader, new_writer,
};
use thalweg_tuple::{Layout, TupleBuf, TupleType, Type};

const TURNS: usize = 25;

fn main() {
    let file = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let bytes = match file {
        Some(path) => std::fs::read(&path).expect("the file named can be read"),
        None => generate(30_000),
    };
    measure("30 columns", &bytes, schema());
    measure("3 columns", &three_columns(40_000), three_column_schema());
}

fn measure(what: &str, bytes: &[u8], schema: TupleType) {
    let layout = Layout::new(&Arc::new(schema));
    let (mut split, mut read, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        split.push(rate(bytes.len(), || split_fields(bytes)));
        read.push(rate(bytes.len(), || read_tuples(bytes, &layout)));
        written.push(rate(bytes.len(), || rewrite(bytes, &layout)));
    }
    let mut ratios: Vec<f64> = read
        .iter()
        .zip(&split)
        .map(|(read, split)| read / split)
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("{what}");
    println!("  csv-core, fields only:   {:7.1} MB/s", best(split));
    println!("  CsvReader:               {:7.1} MB/s", best(read));
    println!("  read and written again:  {:7.1} MB/s", best(written));
    println!("  ratio reader / csv-core: {:7.2}", ratios[TURNS / 2]);
}

/// Megabytes a second of one turn.
fn rate(bytes: usize, mut turn: impl FnMut() -> usize) -> f64 {
    let start = Instant::now();
    black_box(turn());
    bytes as f64 / 1e6 / start.elapsed().as_secs_f64()
}

/// The fastest turn: the one that other work on the machine disturbed least.
fn best(rates: Vec<f64>) -> f64 {
    rates.into_iter().fold(0.0, f64::max)
}

fn split_fields(mut bytes: &[u8]) -> usize {
    let mut reader = csv_core::ReaderBuilder::new().comment(Some(b'#')).build();
    let (mut fields, mut ends) = ([0; 1 << 14], [0; 128]);
    let mut count = 0;
    loop {
        let (result, used, _, found) = reader.read_record(bytes, &mut fields, &mut ends);
        bytes = &bytes[used..];
        count += found;
        if matches!(result, csv_core::ReadRecordResult::End) {
            return count;
        }
    }
}

fn read_tuples(bytes: &[u8], layout: &Arc<Layout>) -> usize {
    for_each(bytes, layout, |buf| buf.len())
}

fn rewrite(bytes: &[u8], layout: &Arc<Layout>) -> usize {
    let mut writer =
        new_writer(RecordFormat::Csv, layout.clone(), WriteOptions::default()).expect("csv suits");
    let mut out = Vec::with_capacity(1 << 16);
    for_each(bytes, layout, |buf| {
        out.clear();
        writer.write(buf.as_ref(), None, &mut out);
        out.len()
    })
}

fn for_each(
    bytes: &[u8],
    layout: &Arc<Layout>,
    mut use_tuple: impl FnMut(&mut TupleBuf) -> usize,
) -> usize {
    let mut reader =
        new_reader(RecordFormat::Csv, layout.clone(), ReadOptions::default()).expect("csv suits");
    let (mut buf, mut at, mut sum) = (TupleBuf::default(), 0, 0);
    loop {
        let step = reader.read(&bytes[at..], true, &mut buf);
        at += step.consumed;
        match step.record {
            Record::Tuple { .. } => sum += use_tuple(&mut buf),
            Record::End => return sum,
            Record::Rejected(error) => panic!("{error}"),
            other => panic!("{other:?}"),
        }
    }
}

/// The columns of trades and quotes as the VWAP application declares them.
fn schema() -> TupleType {
    let (s, d, i) = (Type::RString, Type::Decimal64, Type::Int32);
    let columns = [
        ("ticker date time", &s),
        ("gmtOffset", &i),
        ("ttype exchange", &s),
        ("price volume vwap", &d),
        ("buyer", &s),
        ("bidPrice bidSize", &d),
        ("buyers", &i),
        ("seller", &s),
        ("askPrice askSize", &d),
        ("sellers", &i),
        ("qualifiers", &s),
        ("seq", &i),
        ("exchangeTime", &s),
        ("blockTrade floorTrade peRatio yield newPrice", &d),
        ("newVolume newSeq", &i),
        ("bidVolatility askVolatility volatility", &d),
    ];
    let attributes = columns
        .iter()
        .flat_map(|(names, ty)| names.split(' ').map(|n| (n, (*ty).clone())));
    let schema = TupleType::new(attributes);
    assert_eq!(schema.attributes.len(), 30);
    schema
}

/// Lines of quotes and trades from a linear congruential generator.
fn generate(lines: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut out = b"#header\n".to_vec();
    for _ in 0..lines {
        let ticker: String = (0..3).map(|_| char::from(b'A' + next(26) as u8)).collect();
        let time = format!(
            "{:02}:{:02}:{:02}.{:03}",
            next(24),
            next(60),
            next(60),
            next(1000)
        );
        let (price, cents) = (next(200), next(100));
        let head = format!("{ticker},27-DEC-2005,{time},-5");
        let line = if next(4) == 0 {
            let (volume, seq) = (100 * (1 + next(50)), next(90_000));
            let trade = format!("{price}.{cents:02},{volume},{price}.{cents:02}00");
            format!("{head},Trade,,{trade},,,,,,,,,,{seq},,,,,,,,,,,\n")
        } else {
            let (bid, ask) = (1 + next(90), 1 + next(90));
            let ask = format!("{}.{cents:02},{ask}", price + 1);
            format!("{head},Quote,,,,,,{price}.{cents:02},{bid},,,{ask},,,,,,,,,,,,,,\n")
        };
        out.extend_from_slice(line.as_bytes());
    }
    out
}

fn three_column_schema() -> TupleType {
    TupleType::new([
        ("number", Type::Int64),
        ("name", Type::RString),
        ("price", Type::Int64),
    ])
}

/// Generates lines of the form `NUMBER,nameNUMBER,PRICE`.
fn three_columns(lines: usize) -> Vec<u8> {
    let lines = (0..lines).map(|number| format!("{number},name{number},{}\n", number * 7));
    lines.collect::<String>().into_bytes()
}
