//! Two or three threads on processors of their own, turns of contenders, medians.

pub mod bare;
pub mod messages;
pub mod windows;

use std::sync::Barrier;

use rustix::thread::{CpuSet, sched_setaffinity};

/// How often each contender runs.
const TURNS: usize = 9;

/// Bytes of each ring.
pub const RING_BYTES: usize = 512 * 1024;

/// Pins this thread to a processor, as far as there are as many.
pub fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    let count = std::thread::available_parallelism().map_or(1, |count| count.get());
    set.set(cpu % count);
    if sched_setaffinity(None, &set).is_err() {
        println!("not pinned");
    }
}

/// Runs the sides at once, the first on processor 0, the second on 1 and so on.
pub fn race<'a>(sides: Vec<Box<dyn FnOnce() + Send + 'a>>) {
    let gate = Barrier::new(sides.len());
    std::thread::scope(|scope| {
        for (cpu, side) in sides.into_iter().enumerate() {
            let gate = &gate;
            scope.spawn(move || {
                pin(cpu);
                gate.wait();
                side();
            });
        }
    });
}

/// Median result of each contender over its turns, which alternate, and the median of its ratio to
/// the first contender in the same turn.
pub fn turns(contenders: &mut [&mut dyn FnMut() -> f64]) -> Vec<(f64, f64)> {
    let mut all = vec![(Vec::new(), Vec::new()); contenders.len()];
    for _ in 0..TURNS {
        let control = contenders[0]();
        for (at, (figures, ratios)) in all.iter_mut().enumerate() {
            let figure = if at == 0 { control } else { contenders[at]() };
            figures.push(figure);
            ratios.push(figure / control);
        }
    }
    let middle = |(figures, ratios)| (median(figures), median(ratios));
    all.into_iter().map(middle).collect()
}

/// Median of the numbers.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Prints the number of cores and the processor's name as the kernel knows it.
pub fn print_machine() {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find(|line| line.starts_with("model name"));
    let model = model
        .and_then(|line| line.split(": ").nth(1))
        .unwrap_or("?");
    let count = std::thread::available_parallelism().map_or(0, |count| count.get());
    println!("{count} x {model}");
}
