//! A fused chain at tuple sizes from 4 bytes to 16 KiB, against C++ with a function an operator.
//!
//! ```text
//!   Beacon --> Functor (one attribute changed) --> Filter (every other) --> Custom (counts)
//! ```
//! The payload is only forwarded, so it should cost nothing at any size.

use thalweg_micro::chain::{CompiledChain, FusedChain};
use thalweg_micro::cpp::CppProgram;
use thalweg_micro::turns::{self, median_times_ns, pin_process, time_ns};

const TURNS: i64 = 1_000_000;

/// Sizes of the tuple in bytes.
const SIZES: [usize; 6] = [4, 64, 256, 1024, 4096, 16384];

fn main() {
    pin_process();
    let cpp = CppProgram::compile("chain.cpp");
    println!(
        "{:>8} {:>10} {:>10} {:>7}",
        "bytes", "jit ns", "C++ ns", "ratio"
    );
    for size in SIZES {
        let chain = FusedChain::new(size);
        let mut fused = CompiledChain::new(&chain, TURNS);
        let bytes = size.to_string();
        let turns = TURNS.to_string();
        let mut compiled = || time_ns(|| fused.run()) / TURNS as f64;
        let mut other = || match &cpp {
            Some(cpp) => cpp.run(&[&bytes, &turns]).0 / TURNS as f64,
            None => f64::NAN,
        };
        let times = median_times_ns(&mut [&mut compiled, &mut other]);
        println!(
            "{size:>8} {:>10.2} {:>10.2} {:>7.2}",
            times[0],
            times[1],
            times[0] / times[1]
        );
        let expected = TURNS / 2 * turns::TURNS as i64;
        assert_eq!(
            fused.counted_tuples(),
            expected,
            "every other tuple is counted"
        );
    }
}
