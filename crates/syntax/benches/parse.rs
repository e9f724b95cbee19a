//! Parsing, lowering and formatting a large generated program: 10,000 operators, 2.5 MB.
//!
//! ```text
//! Beacon -> Functor -> Functor -> ... -> Functor      10,000 of them, each with logic and output
//! ```
//! Prints the best of several runs. `cargo bench -p thalweg-syntax`

use std::fmt::Write;
use std::time::{Duration, Instant};

use thalweg_syntax as syntax;

const OPERATORS: usize = 10_000;
const RUNS: usize = 5;

fn main() {
    let text = program();
    let megabytes = text.len() as f64 / 1e6;
    let parse = best(|| {
        let parsed = syntax::parse(syntax::FileId(0), &text);
        assert_eq!(parsed.diagnostics, []);
    });
    let format = best(|| {
        assert!(syntax::format(&text).is_ok());
    });
    for (what, time) in [("parse and lower", parse), ("format", format)] {
        let rate = megabytes / time.as_secs_f64();
        println!("{what:16} {megabytes:.1} MB in {time:.0?}, {rate:.0} MB/s");
    }
}

fn best(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..RUNS).map(time).min().unwrap_or_default()
}

fn program() -> String {
    let mut text =
        String::from("type T = int32 a, rstring b, float64 c;\ncomposite Main {\n graph\n");
    text.push_str(" stream<T> S0 = Beacon() { param iterations : 10u; }\n");
    for n in 1..=OPERATORS {
        let before = n - 1;
        let written = write!(
            text,
            "    // operator {n}
    stream<T> S{n} = Functor(S{before}) {{
      logic state : {{ mutable int32 n{n} = 0; }}
      param filter : a > {n} && (b == \"x{n}\" || c * 2.0 < 3.5e3);
      output S{n} : a = a + {n}, b = b + \"suffix\", c = c / 2.0;
    }}
"
        );
        assert!(written.is_ok(), "writing to a string cannot fail");
    }
    text.push_str("}\n");
    text
}
