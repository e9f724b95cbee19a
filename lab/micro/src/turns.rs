//! Turns of contenders, with the median or the best of their times.

use std::time::Instant;

use control::median;

/// Number of turns of each contender; odd, so that the median is one of them.
pub const TURNS: usize = 7;

/// The median time of each contender in nanoseconds; the contenders run by turns.
pub fn median_times_ns(contenders: &mut [&mut dyn FnMut() -> f64]) -> Vec<f64> {
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..TURNS {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            times.push(contender());
        }
    }
    times
        .into_iter()
        .map(|times| median(times.into_iter()))
        .collect()
}

/// The best time of each contender in nanoseconds, of twice `TURNS` turns; the contenders run by
/// turns.
pub fn best_times_ns(contenders: &mut [&mut dyn FnMut() -> f64]) -> Vec<f64> {
    let mut times = vec![f64::MAX; contenders.len()];
    for _ in 0..2 * TURNS {
        for (contender, best) in contenders.iter_mut().zip(&mut times) {
            *best = best.min(contender());
        }
    }
    times
}

/// Nanoseconds that `work` takes.
pub fn time_ns(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// Runs this program again under `taskset`, so that it and its children stay on one processor, and
/// exits with its status. Returns in that run, or if there is no `taskset`.
pub fn pin_process() {
    const PINNED: &str = "THALWEG_BENCH_PINNED";
    if std::env::var_os(PINNED).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let last = std::thread::available_parallelism().map_or(0, |count| count.get() - 1);
    let status = std::process::Command::new("taskset")
        .args(["-c", &last.to_string()])
        .arg(program)
        .args(std::env::args_os().skip(1))
        .env(PINNED, "1")
        .status();
    if let Ok(status) = status {
        std::process::exit(status.code().unwrap_or(1));
    }
    println!("not pinned: there is no taskset");
}
