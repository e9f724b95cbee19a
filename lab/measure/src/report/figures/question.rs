//! The question that a result answers: benchmark, path, unit.

use crate::Outcome;

/// The kind of a benchmark, as far as figures distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchKind {
    Throughput,
    HostsThroughput,
    Fanout,
    Latency,
    HostsLatency,
    Rails,
    Other,
}

pub fn bench_kind(outcome: &Outcome) -> BenchKind {
    if outcome.peer.is_some() {
        return BenchKind::Other;
    }
    let bench = outcome.bench.as_str();
    let timed = bench.contains("latency") || outcome.latency_ns.is_some();
    match (bench.contains("hosts"), timed) {
        (true, true) => BenchKind::HostsLatency,
        (true, false) => BenchKind::HostsThroughput,
        (false, true) => BenchKind::Latency,
        (false, false) => match bench {
            "throughput" => BenchKind::Throughput,
            "fanout" => BenchKind::Fanout,
            "rails" => BenchKind::Rails,
            _ => BenchKind::Other,
        },
    }
}

pub fn is_normal(outcome: &Outcome) -> bool {
    outcome.codec.as_deref() == Some("normal")
}

/// The paths in the order of the ladder, fastest first; unknown ones last.
pub fn paths<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Vec<&'a str> {
    const LADDER: [&str; 8] = [
        "fused",
        "threaded",
        "shm",
        "rdma",
        "rdma-write",
        "rdma-channel",
        "rum",
        "tcp",
    ];
    let mut paths: Vec<&str> = outcomes.map(|outcome| outcome.path.as_str()).collect();
    paths.sort_by_key(|path| {
        let rung = LADDER.iter().position(|known| known == path);
        (rung.unwrap_or(LADDER.len()), *path)
    });
    paths.dedup();
    paths
}

/// Throughput in 10⁹ bits a second; computed if the outcome lacks it.
pub fn gbit_per_s(outcome: &Outcome) -> Option<f64> {
    let computed = || Some(outcome.tuples_per_s? * outcome.size_bytes? as f64 * 8.0 / 1e9);
    outcome.gbit_per_s.or_else(computed)
}

/// Throughput of the control in 10⁹ bits a second.
pub fn control_gbit_per_s(outcome: &Outcome) -> Option<f64> {
    Some(outcome.control_tuples_per_s? * outcome.size_bytes? as f64 * 8.0 / 1e9)
}

/// The results of each path at one size, fastest path first. The size is the one at which most
/// paths were measured, 64 bytes among equals.
pub fn path_ladder(outcomes: &[Outcome]) -> Vec<&Outcome> {
    const USUAL: u64 = 64;
    let measured = |o: &&Outcome| {
        bench_kind(o) == BenchKind::Throughput && !is_normal(o) && o.tuples_per_s.is_some()
    };
    let measured: Vec<&Outcome> = outcomes.iter().filter(measured).collect();
    let at = |size: Option<u64>| measured.iter().filter(|o| o.size_bytes == size).count();
    let sizes = measured.iter().filter_map(|o| o.size_bytes);
    let best = sizes.max_by_key(|&size| (at(Some(size)), size == USUAL, u64::MAX - size));
    let Some(size) = best else { return Vec::new() };
    let rungs = paths(measured.iter().copied()).into_iter();
    let rung = |path| {
        measured
            .iter()
            .find(|o| o.path == path && o.size_bytes == Some(size))
    };
    rungs.filter_map(|path| rung(path).copied()).collect()
}
