//! Two or three threads on processors of their own, turns of contenders, medians.

pub mod bare;
pub mod messages;

use std::sync::Barrier;

use control::{cores, median};

/// How often each contender runs.
const TURNS: usize = 9;

/// Bytes of each ring.
pub const RING_BYTES: usize = 512 * 1024;

/// Runs the sides at once, the first on processor 0, the second on 1 and so on.
pub fn race<'a>(sides: Vec<Box<dyn FnOnce() + Send + 'a>>) {
    let (gate, cores) = (Barrier::new(sides.len()), cores::usable_cores());
    std::thread::scope(|scope| {
        for (cpu, side) in sides.into_iter().enumerate() {
            let (gate, cores) = (&gate, &cores);
            scope.spawn(move || {
                if let Err(error) = cores::pin(cores[cpu % cores.len()]) {
                    println!("not pinned: {error}");
                }
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
    let middle = |(figures, ratios): (Vec<f64>, Vec<f64>)| {
        (median(figures.into_iter()), median(ratios.into_iter()))
    };
    all.into_iter().map(middle).collect()
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
