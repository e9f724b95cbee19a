//! `thalweg pe`: a processing element of a job, started by the job's launcher.

use signal_hook::iterator::Signals;

use super::{Failure, stops};

/// Is a PE until the job ends.
///
/// Ctrl-C on a terminal, `timeout` and whoever stops a service ask all processes of a job to end, and
/// somebody may ask one PE alone. It hands that on: the launcher alone says when a PE ends, which is
/// when those before it have.
pub fn pe() -> Result<(), Failure> {
    let signals = Signals::new(stops::signals());
    let mut signals =
        signals.map_err(|error| Failure::Program(format!("cannot listen for signals: {error}")))?;
    let asked = std::iter::from_fn(move || signals.forever().next().map(|_| ()));
    Ok(engine::serve(asked)?)
}
