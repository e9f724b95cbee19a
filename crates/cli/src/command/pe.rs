//! `thalweg pe`: a processing element of a job, started by the job's launcher.

use crate::failure::CommandFailure;
use crate::signals::Signals;

/// Runs this process as a PE until the job ends.
///
/// Ctrl-C on a terminal, `timeout` and service managers ask all processes of a job to end, and a
/// user may ask one PE alone. The PE forwards the request: the launcher decides when a PE ends,
/// which is after the PEs that send to it.
pub fn run() -> Result<(), CommandFailure> {
    let signals = Signals::terminating();
    let asked =
        signals.map(|mut signals| std::iter::from_fn(move || signals.next().ok().map(drop)));
    Ok(engine::serve(asked)?)
}
