//! Eleven small loops: compiled code against the same logic in C++ at -O2, and against the
//! interpreter.
//!
//! ```text
//!   input {n} --> while (i < n) { kernel; i++; } --> state
//! ```
//! `cargo bench -p thalweg-micro --bench kernels` runs all of them, `-- list map` only those two,
//! and `-- list --code` prints the machine code first.

use graph::StateId;
use jit::{Jit, JitOptions};
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_micro::bare_operator::{BareOperator, BareOperatorParts};
use thalweg_micro::builders::schema;
use thalweg_micro::cpp::CppProgram;
use thalweg_micro::kernels::{Kernel, kernels};
use thalweg_micro::turns::{median_times_ns, pin_process, time_ns};
use tuple::{Type, Value};

fn main() {
    pin_process();
    let cpp = CppProgram::compile("kernels.cpp");
    println!(
        "{:<12} {:>10} {:>10} {:>7} {:>12} {:>9}",
        "kernel", "jit ns", "C++ ns", "ratio", "interp. ns", "speed-up"
    );
    let args: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    for kernel in kernels() {
        if names.is_empty() || names.iter().any(|name| *name == kernel.name) {
            run(
                &kernel,
                cpp.as_ref(),
                args.iter().any(|arg| arg == "--code"),
            );
        }
    }
}

fn run(kernel: &Kernel, cpp: Option<&CppProgram>, shows_code: bool) {
    let input = schema([("n", Type::Int64)]);
    let parts = BareOperatorParts {
        input: &input,
        state: &kernel.state,
        body: &kernel.body,
    };
    let options = JitOptions {
        verify: false,
        listings: shows_code,
        perf_map: shows_code,
        ..JitOptions::default()
    };
    let mut backend = Jit::new(&kernel.functions, &[], options).expect("a known machine");
    let mut compiled = BareOperator::new(&mut backend, &parts);
    for text in backend.listings() {
        println!("{}\n{}\n{}", text.title, text.clif, text.asm);
    }
    let mut interpreted =
        BareOperator::new(&mut InterpreterBackend::new(&kernel.functions, &[]), &parts);
    for operator in [&mut compiled, &mut interpreted] {
        (kernel.init_state)(&mut operator.state);
    }
    let few = (kernel.loop_count / 200).max(1);
    let tuple = |n: i64| Value::Tuple(Box::new([Value::Int64(n)]));
    let mut interpreted_run = || time_ns(|| interpreted.process(&tuple(few))) / few as f64;
    let turns = kernel.loop_count.to_string();
    let mut compiled_run =
        || time_ns(|| compiled.process(&tuple(kernel.loop_count))) / kernel.loop_count as f64;
    let mut cpp_run = || match cpp {
        Some(cpp) => cpp.run(&[kernel.name, &turns]).0 / kernel.loop_count as f64,
        None => f64::NAN,
    };
    let times = median_times_ns(&mut [&mut compiled_run, &mut cpp_run, &mut interpreted_run]);
    println!(
        "{:<12} {:>10.2} {:>10.2} {:>7.2} {:>12.1} {:>8.0}x",
        kernel.name,
        times[0],
        times[1],
        times[0] / times[1],
        times[2],
        times[2] / times[0]
    );
    compare_results(kernel, cpp);
}

/// Asserts that a fresh run has the result of C++.
fn compare_results(kernel: &Kernel, cpp: Option<&CppProgram>) {
    let Some(cpp) = cpp else { return };
    let input = schema([("n", Type::Int64)]);
    let parts = BareOperatorParts {
        input: &input,
        state: &kernel.state,
        body: &kernel.body,
    };
    let mut backend =
        Jit::new(&kernel.functions, &[], JitOptions::default()).expect("a known machine");
    let mut fresh = BareOperator::new(&mut backend, &parts);
    (kernel.init_state)(&mut fresh.state);
    fresh.process(&Value::Tuple(Box::new([Value::Int64(1000)])));
    let result = fresh.state.get(StateId(kernel.result_index));
    let ty = &kernel.state[kernel.result_index as usize].ty;
    let text = tuple::text::to_text(&result, ty);
    let expected = cpp.run(&[kernel.name, "1000"]).1;
    assert_eq!(text, expected, "{} computes something else", kernel.name);
}
