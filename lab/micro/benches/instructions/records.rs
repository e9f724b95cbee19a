//! Instructions of tuples from and to csv, and field by field as the normal codec writes them.

use std::sync::Arc;

use gungraun::{library_benchmark, library_benchmark_group};
use tuple::normal;
use tuple::text::{ReadOptions, Record, RecordFormat, WriteOptions, new_reader, new_writer};
use tuple::{Layout, RString, TupleBuf, TupleType, Type, Value};

use super::about;

const TUPLES: i64 = 2_000;

fn layout() -> Arc<Layout> {
    let attributes = [
        ("ticker", Type::RString),
        ("seq", Type::Int64),
        ("price", Type::Float64),
        ("size", Type::Int32),
        ("isTrade", Type::Boolean),
    ];
    Layout::new(&Arc::new(TupleType::new(attributes)))
}

fn tuples() -> (Arc<Layout>, Vec<TupleBuf>) {
    let layout = layout();
    let tuple = |at: i64| {
        let mut buf = TupleBuf::default();
        let ticker = RString(format!("T{}", at % 100).into_bytes());
        let fields = [
            Value::RString(ticker),
            Value::Int64(at * 1_000_003),
            Value::Float64(at as f64 / 8.0),
            Value::Int32(at as i32),
            Value::Boolean(at % 3 == 0),
        ];
        buf.set_all(&layout, &Value::Tuple(fields.into()));
        buf
    };
    let tuples = (0..TUPLES).map(tuple).collect();
    (layout, tuples)
}

fn lines() -> (Arc<Layout>, Vec<u8>) {
    let (layout, tuples) = tuples();
    let lines = write((layout.clone(), tuples));
    (layout, lines)
}

fn write((layout, tuples): (Arc<Layout>, Vec<TupleBuf>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 << 18);
    let mut writer =
        new_writer(RecordFormat::Csv, layout, WriteOptions::default()).expect("csv suits");
    for tuple in &tuples {
        writer.write(tuple.as_ref(), None, &mut out);
    }
    out
}

#[library_benchmark]
#[bench::write(args = (), setup = tuples, config = about(3_430_000))]
fn csv_write(of: (Arc<Layout>, Vec<TupleBuf>)) -> Vec<u8> {
    write(of)
}

#[library_benchmark]
#[bench::read(args = (), setup = lines, config = about(2_950_000))]
fn csv_read((layout, lines): (Arc<Layout>, Vec<u8>)) -> usize {
    let mut reader =
        new_reader(RecordFormat::Csv, layout, ReadOptions::default()).expect("csv suits");
    let (mut buf, mut at, mut count) = (TupleBuf::default(), 0, 0);
    loop {
        let step = reader.read(&lines[at..], true, &mut buf);
        at += step.consumed;
        match step.record {
            Record::Tuple { .. } => count += 1,
            Record::End => return count,
            other => panic!("{other:?}"),
        }
    }
}

#[library_benchmark]
#[bench::encode_and_decode(args = (), setup = tuples, config = about(1_730_000))]
fn normal_codec((layout, tuples): (Arc<Layout>, Vec<TupleBuf>)) -> usize {
    let steps = normal::NormalSteps::all(&layout);
    let (mut bytes, mut back) = (Vec::with_capacity(256), TupleBuf::default());
    let mut sum = 0;
    for tuple in &tuples {
        bytes.clear();
        steps.write(tuple.as_ref(), &mut bytes);
        let read = steps.read_whole(&bytes, &layout, &mut back);
        read.expect("what was encoded");
        sum += back.len();
    }
    sum
}

library_benchmark_group!(
    name = records_group,
    benchmarks = [csv_write, csv_read, normal_codec]
);
