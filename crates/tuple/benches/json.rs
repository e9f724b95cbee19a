//! The json reader against a parser with SIMD alone.
//!
//! ```text
//!   bytes -> simd-json (a tape of each line, nothing converted)    the control
//!   bytes -> JsonReader -> flat tuples                             what is measured
//!   flat tuples -> JsonWriter -> bytes                             for information
//! ```
//! `cargo bench -p thalweg-tuple --bench json`. The lines are quotes of nine scalars, then log
//! entries with a list, a nested object and entries that no attribute has. The three take turns; a
//! rate is that of the fastest turn, the ratio is the median of those of the turns, and it is what
//! counts.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use thalweg_tuple::text::{
    ReadOptions, Record, RecordFormat, WriteOptions, new_reader, new_writer,
};
use thalweg_tuple::{Layout, TupleBuf, TupleType, Type};

const TURNS: usize = 25;

const LINES: u32 = 40_000;

fn main() {
    measure("quotes", &quotes(), quote_schema());
    measure("log entries", &entries(), entry_schema());
}

fn measure(what: &str, bytes: &[u8], schema: TupleType) {
    let layout = Layout::new(&Arc::new(schema));
    let (mut parsed, mut read, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        parsed.push(rate(bytes.len(), || parse_lines(bytes)));
        read.push(rate(bytes.len(), || {
            for_each(bytes, &layout, |buf| buf.len())
        }));
        written.push(rate(bytes.len(), || rewrite(bytes, &layout)));
    }
    let mut ratios: Vec<f64> = read.iter().zip(&parsed).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    println!("{what}");
    println!("  simd-json, tape only:     {:7.1} MB/s", best(parsed));
    println!("  JsonReader:               {:7.1} MB/s", best(read));
    println!("  read and written again:   {:7.1} MB/s", best(written));
    println!("  ratio reader / simd-json: {:7.2}", ratios[TURNS / 2]);
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

/// Parses each line. The parser changes its input, so it gets a copy.
fn parse_lines(bytes: &[u8]) -> usize {
    let (mut buffers, mut line) = (simd_json::Buffers::new(1 << 12), Vec::new());
    let mut sum = 0;
    for text in bytes
        .split(|&byte| byte == b'\n')
        .filter(|text| !text.is_empty())
    {
        line.clear();
        line.extend_from_slice(text);
        let tape = simd_json::to_tape_with_buffers(&mut line, &mut buffers);
        sum += tape.expect("JSON").0.len();
    }
    sum
}

fn rewrite(bytes: &[u8], layout: &Arc<Layout>) -> usize {
    let options = WriteOptions::default();
    let mut writer = new_writer(RecordFormat::Json, layout.clone(), options).expect("suits");
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
    let options = ReadOptions::default();
    let mut reader = new_reader(RecordFormat::Json, layout.clone(), options).expect("suits");
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

fn quote_schema() -> TupleType {
    TupleType::new([
        ("symbol", Type::RString),
        ("exchange", Type::RString),
        ("time", Type::Int64),
        ("bid", Type::Float64),
        ("bidSize", Type::Int32),
        ("ask", Type::Float64),
        ("askSize", Type::Int32),
        ("condition", Type::RString),
        ("isOpen", Type::Boolean),
    ])
}

fn quotes() -> Vec<u8> {
    let mut text = String::new();
    for n in 0..LINES {
        let (cents, size) = (n % 9_973, n % 700);
        let _ = writeln!(
            text,
            r#"{{"symbol":"SYM{}","exchange":"XNYS","time":{},"bid":{}.{:02},"bidSize":{size},"ask":{}.{:02},"askSize":{},"condition":"R","isOpen":{}}}"#,
            n % 400,
            1_700_000_000_000_u64 + u64::from(n),
            20 + cents / 100,
            cents % 100,
            20 + cents / 100,
            (cents + 1) % 100,
            size + 1,
            n % 2 == 0
        );
    }
    text.into_bytes()
}

fn entry_schema() -> TupleType {
    let client = TupleType::new([("address", Type::RString), ("port", Type::Int32)]);
    TupleType::new([
        ("level", Type::RString),
        ("message", Type::RString),
        ("client", Type::Tuple(Arc::new(client))),
        ("tags", Type::List(Arc::new(Type::RString), None)),
        ("seconds", Type::Float64),
    ])
}

fn entries() -> Vec<u8> {
    let mut text = String::new();
    for n in 0..LINES {
        let _ = writeln!(
            text,
            r#"{{"time": "2026-11-28T08:{:02}:{:02}Z", "level": "INFO", "message": "request \"{n}\" was answered after some time", "client": {{"address": "10.0.{}.{}", "port": {}, "agent": "probe/1.0"}}, "tags": ["web", "edge{}"], "seconds": 0.{:04}, "extra": {{"a": [1, 2, 3]}}}}"#,
            n / 60 % 60,
            n % 60,
            n / 250 % 250,
            n % 250,
            1024 + n % 60_000,
            n % 7,
            n % 10_000
        );
    }
    text.into_bytes()
}
