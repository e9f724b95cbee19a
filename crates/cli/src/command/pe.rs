//! `thalweg pe`: a processing element of a job, started by the job's launcher.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};

use super::Failure;

/// Is a PE until the job ends.
pub fn pe() -> Result<(), Failure> {
    ignore_stops()?;
    Ok(engine::serve()?)
}

/// Ctrl-C on a terminal, `timeout` and whoever stops a service ask all processes of a job to end. The
/// launcher is asked too, and it alone says when a PE ends: when those before it have.
fn ignore_stops() -> Result<(), Failure> {
    for signal in [SIGINT, SIGTERM, SIGQUIT] {
        let ignored = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
        ignored
            .map_err(|error| Failure::Program(format!("cannot ignore signal {signal}: {error}")))?;
    }
    Ok(())
}
