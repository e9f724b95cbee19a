//! Instructions of windowed operators of the toolkit, tuple by tuple.

use graph::PortIndex;
use gungraun::{library_benchmark, library_benchmark_group};
use thalweg_micro::compiled_operator::CompiledOperator;
use tuple::{RString, TupleBuf, Value};

use super::about;

const TUPLES: i64 = 2_000;

/// A compiled operator and the tuples that it processes.
type Fed = (CompiledOperator, Vec<TupleBuf>);

fn ticker(at: i64) -> Value {
    let letter = b'A' + (at * 7 % 13) as u8;
    Value::RString(RString(vec![b'T', letter, letter]))
}

fn trades(single: &CompiledOperator) -> Vec<TupleBuf> {
    let trade = |at: i64| {
        let price = Value::Float64((at * 37 % 101) as f64);
        let volume = Value::Float64((1 + at % 9) as f64);
        vec![ticker(at), Value::Int64(at), price, volume]
    };
    single.flat_tuples(0, (0..TUPLES).map(trade))
}

fn fed(name: &str) -> Fed {
    let single = CompiledOperator::compile("Counted.spl", name);
    let tuples = trades(&single);
    (single, tuples)
}

/// An operator whose window is full already.
fn fed_full(name: &str) -> Fed {
    let (mut single, tuples) = fed(name);
    single.process(PortIndex(0), &tuples);
    (single, tuples)
}

/// A Join whose other window has an average of each ticker.
fn fed_join(name: &str) -> Fed {
    let (mut single, tuples) = fed(name);
    let average = |at: i64| vec![ticker(at), Value::Float64(30.0), Value::Float64(1.0)];
    let averages = single.flat_tuples(1, (0..13).map(average));
    single.process(PortIndex(1), &averages);
    (single, tuples)
}

#[library_benchmark]
#[bench::aggregate(args = ("Averages"), setup = fed, config = about(5_164_000))]
#[bench::sliding(args = ("Slid"), setup = fed_full, config = about(4_615_000))]
#[bench::sliding_groups(args = ("Grouped"), setup = fed_full, config = about(5_260_000))]
#[bench::sort(args = ("Sorted"), setup = fed, config = about(6_660_000))]
#[bench::join(args = ("Bargains"), setup = fed_join, config = about(5_090_000))]
fn operator((mut single, tuples): Fed) -> (usize, Fed) {
    let sent = single.process(PortIndex(0), &tuples);
    (sent, (single, tuples))
}

library_benchmark_group!(name = operators_group, benchmarks = [operator]);
