//! From `thalweg run` to the first byte of output, and the compilation of a large program.
//!
//! `cargo bench -p thalweg-cli`
//!
//! ```text
//!   exec -> parse, type, expand -> machine code -> threads -> first tuple -> first byte read here
//! ```

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use engine::{CompileRequest, LaunchOptions, TraceLevel};

const RUNS: usize = 21;
const OPERATORS: u32 = 10_000;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .and_then(Path::parent);
    let root = root.expect("the crate lies two folders below the root");
    println!("{:<44} {:>10} {:>10}", "median of runs", "ms", "limit, ms");
    for (name, program) in [("hello", "hello/Hello.spl"), ("vwap", "vwap/Vwap.spl")] {
        let program = root.join("examples").join(program);
        let times = (0..RUNS).map(|_| first_byte(&program)).collect();
        let what = format!("run {name}: to the first byte of output");
        println!("{what:<44} {:>10.1} {:>10}", millis(median(times)), 50);
    }
    let program = std::env::temp_dir().join(format!("thalweg-bench-{}.spl", std::process::id()));
    std::fs::write(&program, large(OPERATORS)).expect("a temporary file can be written");
    let times = (0..5).map(|_| compiled_and_run(&program)).collect();
    let _ = std::fs::remove_file(&program);
    let what = format!("{OPERATORS} operators: compiled, run once");
    println!("{what:<44} {:>10.1} {:>10}", millis(median(times)), 3000);
    println!(
        "{:<44} {:>10} {:>10}",
        "  peak memory, MB",
        peak_megabytes(),
        1000
    );
}

fn first_byte(program: &Path) -> Duration {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .arg("run")
        .arg(program)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    let mut stdout = child.stdout.take().expect("it was asked for");
    let mut byte = [0];
    stdout
        .read_exact(&mut byte)
        .expect("the program prints something");
    let time = begun.elapsed();
    let _ = stdout.read_to_end(&mut Vec::new());
    child.wait().expect("it was started here");
    time
}

/// A chain of Functors with filters, each a little different.
fn large(operators: u32) -> String {
    let mut text = String::from(
        "composite Large {\n  graph\n  stream<int32 a, rstring s, float64 x> S0 = Beacon() {\n    \
         param iterations : 1;\n    output S0 : a = 1, s = \"x\", x = 1.0;\n  }\n",
    );
    for at in 1..operators {
        let before = at - 1;
        let _ = writeln!(
            text,
            "  stream<S0> S{at} = Functor(S{before}) {{\n    param filter : a >= 0 && x < 1e12;\n    \
             output S{at} : a = a + {}, x = x * 1.0000001 + {at}.0;\n  }}",
            at % 7
        );
    }
    text + "}\n"
}

fn compiled_and_run(program: &Path) -> Duration {
    let begun = Instant::now();
    let request = CompileRequest {
        file: program.to_owned(),
        submission_values: Some(Vec::new()),
        ..CompileRequest::default()
    };
    let compilation = engine::compile(&request).expect("the file is there");
    let launch = LaunchOptions {
        trace: TraceLevel::Off,
        log: TraceLevel::Off,
        ..LaunchOptions::default()
    };
    let program = compilation.program.expect("it is correct");
    let job = engine::launch(&program, &launch).expect("it can be set up");
    job.join().expect("it does not fail");
    begun.elapsed()
}

/// The most memory that this process ever held.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
