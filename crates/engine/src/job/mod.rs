//! A job as its caller sees it: launch options, hosts, processes, and the handle that waits for the
//! job and stops it.

mod handle;
mod hosts;
mod job_processes;
mod launch_options;
mod notifying_writer;
mod parent;
mod ranks;

pub use handle::{Job, StopHandle};
pub use hosts::{HostSpec, check_hosts, find_host};
pub use job_processes::JobProcesses;
pub use launch_options::{BackendKind, LaunchOptions};
pub use notifying_writer::NotifyingWriter;
pub use parent::watch_parent;
pub use ranks::{RankEnvironment, RankOptions};
