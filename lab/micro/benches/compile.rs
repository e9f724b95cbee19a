//! Compile times: many operators at once, and the few of a small program.
//!
//! `cargo bench -p thalweg-micro --bench compile`

use graph::{PortIndex, Stmt};
use jit::{Jit, JitOptions};
use runtime::abi::{Backend, CodeScope};
use thalweg_micro::bare_operator::graph_operator;
use thalweg_micro::builders::*;
use thalweg_micro::turns::{median_times_ns, pin_process, time_ns};
use tuple::{Layout, Type};

fn main() {
    pin_process();
    println!("{:>10} {:>10} {:>14}", "operators", "ms", "µs an operator");
    for count in [10, 1000, 10_000] {
        let times = median_times_ns(&mut [&mut || time_ns(|| compile(count))]);
        let ms = times[0] / 1e6;
        println!(
            "{count:>10} {ms:>10.1} {:>14.1}",
            1e3 * ms / f64::from(count)
        );
    }
}

/// Compiles Functors and Filters, each a little different.
fn compile(count: u32) {
    let schema = schema([
        ("id", Type::Int64),
        ("price", Type::Float64),
        ("symbol", Type::RString),
    ]);
    let ty = Type::Tuple(schema.clone());
    let operator = graph_operator(std::slice::from_ref(&schema), std::slice::from_ref(&schema));
    let scope = CodeScope {
        operator: &operator,
        index: 0,
        inputs: vec![Layout::new(&schema)],
        outputs: vec![Layout::new(&schema)],
        state: &[],
        tables: &[],
    };
    let options = JitOptions {
        verify: false,
        ..JitOptions::default()
    };
    let mut jit = Jit::new(&[], &[], options).expect("a known machine");
    let mut acts = Vec::new();
    for at in 0..i64::from(count) {
        let renamed = tuple(
            &ty,
            vec![
                binary(Add, attr(0, Type::Int64), int(at)),
                binary(Mul, attr(1, Type::Float64), attr(1, Type::Float64)),
                attr(2, Type::RString),
            ],
        );
        let wanted = binary(Eq, binary(Rem, attr(0, Type::Int64), int(at + 2)), int(0));
        let body = body(
            [],
            vec![Stmt::If(
                wanted,
                vec![submit(PortIndex(0), renamed)],
                vec![],
            )],
        );
        acts.push(
            jit.body(&scope, &body)
                .unwrap_or_else(|fault| panic!("{fault}")),
        );
    }
    jit.finish().unwrap_or_else(|fault| panic!("{fault}"));
}
