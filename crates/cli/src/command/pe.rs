//! `thalweg pe`: a processing element of a job, started by the job's launcher.

use super::Failure;

/// Is a PE until the job ends.
pub fn pe() -> Result<(), Failure> {
    Ok(engine::serve()?)
}
