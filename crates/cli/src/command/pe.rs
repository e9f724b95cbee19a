//! `thalweg pe`: a processing element of a job, started by the job's launcher.

use super::Failure;
use super::signals::Signals;

/// Is a PE until the job ends.
///
/// Ctrl-C on a terminal, `timeout` and whoever stops a service ask all processes of a job to end, and
/// somebody may ask one PE alone. It hands that on: the launcher alone says when a PE ends, which is
/// when those before it have.
pub fn pe() -> Result<(), Failure> {
    let mut signals = Signals::that_end()
        .map_err(|error| Failure::Program(format!("cannot listen for signals: {error}")))?;
    let asked = std::iter::from_fn(move || signals.next().ok().map(drop));
    Ok(engine::serve(asked)?)
}
