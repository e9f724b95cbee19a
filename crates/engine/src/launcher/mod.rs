//! The launcher: runs a job of several PEs, from starting their processes to the last of them.
//!
//! ```text
//!   the caller's thread          the launcher's thread                 two threads
//!     Job  <---- outcome ------    sockets, ends of processes            standard output, error
//!      \----- stop, count ---->    -> coordinator -> messages, kills     of all PEs -> ours
//! ```
//!
//! One thread polls all sockets and never waits for a single PE. Only if the kernel has no memory
//! for a message do all PEs wait, for at most a second. Messages go to the
//! [`coordinator::JobCoordinator`], which decides what to do. The processes die with the launcher's
//! thread, however it ends.

mod coordinator;
mod coordinator_action;
mod job_outcome;
mod launcher_thread;
mod output_forwarder;
mod pe_child;
mod pe_state;
mod prepared_job;
mod rank_gathering;
mod rank_hosts;
mod rank_listeners;
mod requests;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;

use coordinator::JobCoordinator;
use graph::{Plan, Program};
use prepared_job::PreparedJob;
use requests::LauncherRequests;
use runtime::StopSignal;

use crate::compilation::Compilation;
use crate::control::Bundle;
use crate::error::Error;
use crate::job::{Job, LaunchOptions, find_host, watch_parent};

/// Starts a job that runs each PE of the plan in a process of its own.
///
/// # Errors
/// [`Error::System`] if the system cannot start a thread or make an event. Every other failed
/// set-up is an error of the job's end.
pub fn launch(
    compilation: &Compilation,
    program: &Program,
    plan: &Plan,
    launch: &LaunchOptions,
) -> Result<Job, Error> {
    let stop = StopSignal::default();
    let requests =
        LauncherRequests::new().map_err(|error| Error::system("make an event", error))?;
    let requests = Arc::new(requests);
    let on_stop = requests.clone();
    stop.on_request(move || on_stop.wakeup.wake());
    if launch.ranks.is_some() {
        let processes = launch.processes.clone();
        watch_parent(move || processes.kill())?;
    }
    let (sender, ended) = channel();
    let text = plan.display(program).to_string();
    let coordinator = match launch.ranks {
        Some(_) => JobCoordinator::of_ranks(plan),
        None => JobCoordinator::new(plan),
    };
    let host = |pe: &graph::PePlan| find_host(&launch.hosts, pe.host.as_deref()?).cloned();
    let job = PreparedJob {
        bundle: Bundle::new(compilation, text, launch)?,
        coordinator: coordinator.with_profile(launch.profile.clone()),
        plan: plan.clone(),
        program: program.clone(),
        pe_labels: job_outcome::pe_labels(plan, program),
        name: program.name.to_string(),
        launch: launch.clone(),
        hosts: plan.pes.iter().map(host).collect(),
        stop: stop.clone(),
        requests: requests.clone(),
    };
    let thread = Builder::new().name("launcher".to_owned());
    let started = thread.spawn(move || sender.send(job.run()));
    started.map_err(|error| Error::system("start a thread", error))?;
    Ok(Job::new(stop, Box::new(move || requests.counts()), ended))
}
