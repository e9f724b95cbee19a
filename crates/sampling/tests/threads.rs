//! Samples of real threads.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use thalweg_sampling::{CpuSamples, CpuTimer, RunningOperator};

/// Processor time of the calling thread so far.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Computes for as long as this much processor time.
fn compute_ns(ns: u64) {
    let end = thread_cpu_ns() + ns;
    while thread_cpu_ns() < end {}
}

/// A timer of the calling thread that records in these samples.
fn sampled(samples: &Arc<CpuSamples>, per_second: u32) -> CpuTimer {
    let mut timer = CpuTimer::start(per_second).unwrap();
    timer.record_in(Some(samples.clone()));
    timer
}

/// Samples by the operator that they name.
fn counts(samples: &CpuSamples) -> HashMap<Option<u32>, u32> {
    let mut counts = HashMap::new();
    samples.drain(|sample| {
        *counts
            .entry(RunningOperator::operator(sample.running))
            .or_default() += 1;
    });
    counts
}

#[test]
fn samples_name_the_operators_that_ran() {
    let samples = Arc::new(CpuSamples::default());
    let timer = sampled(&samples, 250);
    let outer = samples.running.set(1);
    compute_ns(60_000_000);
    let inner = samples.running.set(2);
    compute_ns(180_000_000);
    samples.running.restore(inner);
    samples.running.restore(outer);
    drop(timer);
    let counts = counts(&samples);
    // Ticks of kernels differ; how often each was seen compared with the other does not depend on
    // what else the machine does.
    assert!(counts[&Some(2)] > counts[&Some(1)], "{counts:?}");
    // All but what came after the last tick.
    assert!(samples.cpu_ns() >= 200_000_000, "{}", samples.cpu_ns());
}

#[test]
fn a_thread_that_sleeps_is_not_interrupted() {
    let samples = Arc::new(CpuSamples::default());
    let timer = sampled(&samples, 1_000);
    // A sleep that a signal interrupts would not be this long without being restarted.
    let pause = rustix::time::Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    let slept = rustix::thread::nanosleep(&pause);
    assert!(matches!(slept, rustix::thread::NanosleepRelativeResult::Ok));
    drop(timer);
}

#[test]
fn each_thread_has_samples_of_its_own() {
    let stop = Arc::new(AtomicBool::new(false));
    let threads = (0..3).map(|operator| {
        let stop = stop.clone();
        let samples = Arc::new(CpuSamples::default());
        let of_thread = samples.clone();
        let thread = std::thread::spawn(move || {
            let timer = sampled(&of_thread, 1_000);
            of_thread.running.set(operator);
            while !stop.load(Ordering::Relaxed) {
                compute_ns(1_000_000);
            }
            drop(timer);
        });
        (operator, samples, thread)
    });
    let threads: Vec<_> = threads.collect();
    for (operator, samples, _) in &threads {
        let mut seen = HashMap::new();
        while seen.is_empty() {
            seen = counts(samples);
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(seen.keys().all(|of| *of == Some(*operator)), "{seen:?}");
    }
    stop.store(true, Ordering::Relaxed);
    threads
        .into_iter()
        .for_each(|(_, _, thread)| thread.join().unwrap());
}

#[test]
fn timers_come_and_go() {
    for _ in 0..200 {
        let samples = Arc::new(CpuSamples::default());
        let timer = sampled(&samples, 1_000);
        compute_ns(1_000_000);
        drop(timer);
        assert_eq!(Arc::strong_count(&samples), 1);
    }
}

#[test]
fn samples_go_where_the_thread_is() {
    let regions = [(); 2].map(|()| Arc::new(CpuSamples::default()));
    let mut timer = CpuTimer::start(1_000).unwrap();
    for (samples, ms) in regions.iter().zip([60, 180]) {
        timer.record_in(Some(samples.clone()));
        compute_ns(ms * 1_000_000);
    }
    timer.record_in(None);
    let [first, second] = [0, 1].map(|at: usize| regions[at].cpu_ns());
    assert!(first > 0 && second > first, "{first} {second}");
    assert_eq!(Arc::strong_count(&regions[0]), 1);
    compute_ns(30_000_000);
    drop(timer);
    assert_eq!([regions[0].cpu_ns(), regions[1].cpu_ns()], [first, second]);
}
