//! Which cases a benchmark measures: those that the user asked for, else the usual ones.

use suite::{CodecKind, FanoutOptions, RoundTripOptions, StreamPath, ThroughputOptions};

use crate::args::TuplesArgs;

/// Tuple sizes of quick runs, in bytes.
const QUICK_SIZES: [u64; 3] = [64, 1024, 16384];

pub fn throughput_options(
    quick: bool,
    paths: &[StreamPath],
    tuples: &TuplesArgs,
) -> ThroughputOptions {
    let usual_sizes = match quick {
        true => QUICK_SIZES.to_vec(),
        false => ThroughputOptions::report_sizes(),
    };
    ThroughputOptions {
        paths: or_default(paths, &StreamPath::ALL),
        codecs: or_default(&tuples.codec, &CodecKind::ALL),
        sizes: or_default(&tuples.size, &usual_sizes),
    }
}

pub fn latency_options(
    quick: bool,
    between_hosts: bool,
    paths: &[StreamPath],
    rates: &[f64],
    sizes: &[u64],
) -> RoundTripOptions {
    let usual_paths = match between_hosts {
        true => &suite::HOSTS_PATHS[..],
        false => &StreamPath::ALL[..],
    };
    let (usual_rates, usual_sizes) = match quick {
        true => (&RoundTripOptions::RATES[..1], &RoundTripOptions::SIZES[..1]),
        false => (&RoundTripOptions::RATES[..], &RoundTripOptions::SIZES[..]),
    };
    RoundTripOptions {
        between_hosts,
        paths: or_default(paths, usual_paths),
        rates: or_default(rates, usual_rates),
        sizes: or_default(sizes, usual_sizes),
    }
}

pub fn fanout_options(
    quick: bool,
    paths: &[StreamPath],
    receivers: &[u32],
    sizes: &[u64],
) -> FanoutOptions {
    let (usual_receivers, usual_sizes) = match quick {
        true => (&FanoutOptions::RECEIVERS[..2], &FanoutOptions::SIZES[1..2]),
        false => (&FanoutOptions::RECEIVERS[..], &FanoutOptions::SIZES[..]),
    };
    FanoutOptions {
        paths: or_default(paths, &FanoutOptions::PATHS),
        receivers: or_default(receivers, usual_receivers),
        sizes: or_default(sizes, usual_sizes),
    }
}

pub fn chain_sizes(quick: bool, sizes: &[u64]) -> Vec<u64> {
    match quick {
        true => or_default(sizes, &QUICK_SIZES),
        false => or_default(sizes, &suite::CHAIN_SIZES),
    }
}

/// The values that the user asked for, or the usual ones if there are none.
pub fn or_default<T: Copy>(asked: &[T], usual: &[T]) -> Vec<T> {
    if asked.is_empty() { usual } else { asked }.to_vec()
}
