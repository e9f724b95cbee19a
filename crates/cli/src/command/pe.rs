//! `thalweg pe`: a processing element of a job, started by the job's launcher.

use crate::failure::CommandFailure;
use crate::signals::Signals;

/// Is a PE until the job ends.
///
/// Ctrl-C on a terminal, `timeout` and whoever stops a service ask all processes of a job to end,
/// and somebody may ask one PE alone. It hands that on: the launcher alone says when a PE ends,
/// which is when those before it have.
pub fn run() -> Result<(), CommandFailure> {
    let signals = Signals::terminating();
    let asked =
        signals.map(|mut signals| std::iter::from_fn(move || signals.next().ok().map(drop)));
    Ok(engine::serve(asked)?)
}
