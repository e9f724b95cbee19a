//! Instructions of compiled code: the fused chain, and an expression of each kind in a loop.

use gungraun::{library_benchmark, library_benchmark_group};
use jit::{Jit, JitOptions};
use thalweg_micro::bare_operator::{BareOperator, BareOperatorParts};
use thalweg_micro::builders::schema;
use thalweg_micro::chain::{CompiledChain, FusedChain};
use thalweg_micro::kernels::kernels;
use tuple::{Type, Value};

use super::about;

/// Tuples that pass the chain in a run.
const TUPLES: i64 = 10_000;

/// Iterations of a kernel in a run.
const TURNS: i64 = 1_000;

fn ready(bytes: usize) -> CompiledChain {
    CompiledChain::new(&FusedChain::new(bytes), TUPLES)
}

#[library_benchmark]
#[bench::of_64(args = (64), setup = ready, config = about(266_000))]
#[bench::of_16384(args = (16384), setup = ready, config = about(266_000))]
fn chain(mut running: CompiledChain) -> (i64, CompiledChain) {
    running.run();
    (running.counted_tuples(), running)
}

fn operator(name: &str) -> BareOperator {
    let mut kernels = kernels().into_iter();
    let kernel = kernels.find(|kernel| kernel.name == name);
    let kernel = kernel.unwrap_or_else(|| panic!("no kernel {name}"));
    let input = schema([("n", Type::Int64)]);
    let parts = BareOperatorParts {
        input: &input,
        state: &kernel.state,
        body: &kernel.body,
    };
    let mut jit = Jit::new(&kernel.functions, &[], JitOptions::default()).expect("a known machine");
    let mut operator = BareOperator::new(&mut jit, &parts);
    (kernel.init_state)(&mut operator.state);
    operator
}

#[library_benchmark]
#[bench::integer(args = ("integer"), setup = operator, config = about(13_800))]
#[bench::float(args = ("float"), setup = operator, config = about(10_600))]
#[bench::string(args = ("string"), setup = operator, config = about(83_600))]
#[bench::list(args = ("list"), setup = operator, config = about(10_600))]
#[bench::decimal(args = ("decimal"), setup = operator, config = about(58_600))]
#[bench::map(args = ("map"), setup = operator, config = about(40_200))]
#[bench::string_map(args = ("string_map"), setup = operator, config = about(156_000))]
#[bench::function(args = ("function"), setup = operator, config = about(97_500))]
#[bench::nested(args = ("nested"), setup = operator, config = about(11_600))]
#[bench::branchy(args = ("branchy"), setup = operator, config = about(28_600))]
#[bench::timestamp(args = ("timestamp"), setup = operator, config = about(26_600))]
fn kernel(mut operator: BareOperator) -> BareOperator {
    operator.process(&Value::Tuple(Box::new([Value::Int64(TURNS)])));
    operator
}

library_benchmark_group!(name = compiled_group, benchmarks = [chain, kernel]);
