//! The loop of the launcher's thread: polls the PEs, and carries out what the coordinator decides.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use graph::PeId;
use runtime::StopSignal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::coordinator::{GRACE, JobCoordinator};
use super::coordinator_action::CoordinatorAction;
use super::job_outcome::{JobOutcome, ProcessExit};
use super::pe_child::PeChild;
use super::requests::LauncherRequests;
use crate::control::MessageFromPe;
use crate::control::connection;

/// State of the launcher's thread while the job runs.
pub struct Launcher {
    pub children: Vec<PeChild>,
    pub coordinator: JobCoordinator,
    pub stop: StopSignal,
    pub requests: Arc<LauncherRequests>,
    pub kill_after: Option<Duration>,
}

/// Number of reads from one PE before the launcher reads from the next, so that no PE starves
/// another.
const READS_PER_TURN_MAX: usize = 16;

impl Launcher {
    /// Runs the job until all processes have ended.
    ///
    /// # Errors
    /// Polling fails, or a thread for the delayed shutdown cannot be started.
    pub fn run(mut self) -> io::Result<JobOutcome> {
        loop {
            for action in self.coordinator.take_actions(Instant::now()) {
                self.execute_action(action);
            }
            self.flush_connections();
            if self.coordinator.is_over() {
                self.stop.request();
                self.close_connections();
                return Ok(self.coordinator.into_outcome());
            }
            if self.coordinator.is_running()
                && let Some(time) = self.kill_after.take()
            {
                self.stop.request_after(time.as_secs_f64())?;
            }
            self.wait()?;
        }
    }

    fn execute_action(&mut self, action: CoordinatorAction) {
        match action {
            CoordinatorAction::Send(pe, message, fds) => {
                let sender = &mut self.children[pe.0 as usize].sender;
                if let Err(error) = sender.push(&message, fds) {
                    self.coordinator.on_protocol_error(pe, &error.to_string());
                }
            }
            CoordinatorAction::Kill(pe) => {
                let child = &mut self.children[pe.0 as usize];
                child.kill();
                if child.is_remote() {
                    child.disconnect();
                    self.coordinator.on_exit(pe, ProcessExit::Unknown);
                }
            }
        }
    }

    /// Closes the connections, for which ranks wait before they leave together, and waits for those
    /// that are children.
    fn close_connections(&mut self) {
        self.children
            .iter_mut()
            .for_each(|child| child.sender.close());
        for child in &mut self.children {
            if self.coordinator.is_broken() {
                child.kill();
            }
            // A child that has not ended in time is killed when it is dropped.
            child.wait_at_most(GRACE);
        }
    }

    /// Sends the messages that wait for room. A PE whose connection fails has ended, or is about
    /// to.
    fn flush_connections(&mut self) {
        for (pe, child) in (0..).map(PeId).zip(&mut self.children) {
            if let Err(error) = child.sender.flush() {
                child.sender.close();
                self.coordinator.on_connection_lost(pe, error.to_string());
            }
        }
    }

    /// Waits until a PE, a process's end, a request or a deadline needs attention, and handles it.
    fn wait(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let deadline = self.coordinator.deadline();
        let left = deadline.map(|at| at.saturating_duration_since(now));
        let retries = self.children.iter().filter_map(|c| c.sender.retry_after());
        let left = left.into_iter().chain(retries).min();
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut fds = vec![PollFd::new(&self.requests.wakeup, PollFlags::IN)];
        let mut sources = Vec::new();
        for (pe, child) in self.children.iter().enumerate() {
            for (fd, flags, is_end) in child.poll_entries() {
                fds.push(PollFd::from_borrowed_fd(fd, flags));
                sources.push((pe, is_end));
            }
        }
        connection::with_retries(|| poll(&mut fds, left.as_ref()))?;
        let ready: Vec<_> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[0] {
            self.take_requests();
        }
        let sources = sources.into_iter().zip(&ready[1..]);
        for ((pe, is_end), _) in sources.filter(|(_, is_ready)| **is_ready) {
            self.handle_readable(pe, is_end);
        }
        Ok(())
    }

    fn take_requests(&mut self) {
        self.requests.wakeup.clear();
        if self.stop.is_requested() {
            self.coordinator.stop();
        }
        if self.requests.wants_counts.swap(false, Ordering::Relaxed) {
            self.coordinator.request_counts();
        }
    }

    /// Reads from a PE that has sent something, or whose process has ended.
    fn handle_readable(&mut self, pe: usize, has_ended: bool) {
        let child = &mut self.children[pe];
        let id = PeId(pe as u32);
        if child.is_connected() {
            // All messages sent before the end have arrived: read until there are none.
            let turns = if has_ended {
                usize::MAX
            } else {
                READS_PER_TURN_MAX
            };
            let read = child.read_messages(turns);
            self.handle_messages(pe);
            match read {
                Ok(false) => {}
                Ok(true) => self.coordinator.on_closed(id),
                Err(error) => self.coordinator.on_connection_lost(id, error.to_string()),
            }
        }
        let child = &self.children[pe];
        if has_ended || (child.is_remote() && !child.is_connected()) {
            let exit = self.children[pe].wait();
            self.coordinator.on_exit(id, exit);
        }
    }

    /// Handles every whole message that has arrived from a PE.
    fn handle_messages(&mut self, pe: usize) {
        loop {
            let message = self.children[pe].receiver.try_recv::<MessageFromPe>();
            let id = PeId(pe as u32);
            match message {
                Ok(Some((MessageFromPe::Counts(counts), _))) => {
                    self.coordinator.on_counts(id, counts);
                    self.requests.set_counts(self.coordinator.counts());
                }
                Ok(Some((message, fds))) => self.coordinator.on_message(id, message, fds),
                Ok(None) => return,
                Err(error) => {
                    self.children[pe].disconnect();
                    return self.coordinator.on_protocol_error(id, &error.to_string());
                }
            }
        }
    }
}
