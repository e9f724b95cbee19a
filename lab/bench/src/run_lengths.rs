//! The length of one run of a benchmark.

use suite::RunLength;

use crate::args::CommonArgs;

/// Seconds of a run unless the user says otherwise.
#[derive(Clone, Copy)]
pub struct RunSeconds {
    usual: f64,
    quick: f64,
}

impl RunSeconds {
    /// Lengths of runs at full rate.
    pub const RATE: RunSeconds = RunSeconds {
        usual: 0.2,
        quick: 0.05,
    };

    /// Lengths of runs at a pace, which are longer because rare delays count.
    pub const TRIPS: RunSeconds = RunSeconds {
        usual: 1.0,
        quick: 0.3,
    };

    /// Lengths of runs at a pace within `bench all`, which is to end in ten minutes.
    pub const TRIPS_IN_ALL: RunSeconds = RunSeconds {
        usual: 0.5,
        quick: 0.3,
    };
}

/// The length of a run: a number of tuples or seconds that the user gave, else the usual seconds.
pub fn run_length(common: &CommonArgs, lengths: RunSeconds) -> RunLength {
    let usual = if common.quick {
        lengths.quick
    } else {
        lengths.usual
    };
    match common.tuples {
        Some(tuples) => RunLength::Tuples(tuples.into()),
        None => RunLength::Seconds(common.seconds.unwrap_or(usual)),
    }
}
