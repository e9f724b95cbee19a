//! What a caller has in hand of a job: the options of its launch, its hosts, its processes, and the
//! handle by which it is waited for and stopped.

mod handle;
mod hosts;
mod job_processes;
mod launch_options;
mod notifying_writer;

pub use handle::{Job, StopHandle};
pub use hosts::{HostSpec, check_hosts, find_host};
pub use job_processes::JobProcesses;
pub use launch_options::{BackendKind, LaunchOptions};
pub use notifying_writer::NotifyingWriter;
