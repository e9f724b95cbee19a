//! The PE's side of `thalweg plan apply`: checks a plan that a command brings, and applies it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use graph::{PeId, Plan, Program, ThreadStartPoint};
use runtime::{PeSettings, PlanControl, QueueSettings, WantedCores};

use super::plan_words::{PlanRequestState, PlanWords};
use super::process_life::is_alive;

/// Most bytes of a plan's text: 256 MB.
const PLAN_BYTES_MAX: u64 = 256 << 20;

/// The plan of a running PE, and what is needed to read another one.
pub struct RunningPlan {
    /// The whole program of the job.
    pub program: Program,
    /// The plan that the job runs by.
    pub plan: Plan,
    /// The PE of this process.
    pub pe: PeId,
}

/// The plans that commands bring to a PE.
pub struct PlanServer {
    words: PlanWords,
    fd: OwnedFd,
    running: RunningPlan,
    control: PlanControl,
    /// A plan that was checked and is to be applied.
    checked: Option<(Plan, PeSettings)>,
}

impl PlanServer {
    /// A server without a request; `None` if the system has no memory or descriptor left.
    pub fn new(running: RunningPlan, control: PlanControl) -> Option<PlanServer> {
        let (words, fd) = PlanWords::create().ok()?;
        Some(PlanServer {
            words,
            fd,
            running,
            control,
            checked: None,
        })
    }

    /// Descriptor by which commands reach the words.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Whether a command waits for the PE, or for others of its job.
    pub fn is_asked(&self) -> bool {
        self.words.state() != PlanRequestState::Free
    }

    /// Does what the state of the words asks for.
    pub fn serve(&mut self) {
        let state = self.words.state();
        let is_dead = self.words.process().is_some_and(|one| !is_alive(one));
        if state == PlanRequestState::Free || is_dead {
            self.checked = None;
            if is_dead {
                self.words.free();
            }
            return;
        }
        let (done, result) = match state {
            PlanRequestState::CheckAsked => (PlanRequestState::Checked, self.check()),
            PlanRequestState::ApplyAsked => (PlanRequestState::Applied, self.apply()),
            _ => return,
        };
        match result {
            Ok(()) => self.words.advance(state, done),
            Err(why) => self.words.refuse(state, &why),
        }
    }

    /// Reads the plan of the command, and keeps what it means for this PE.
    fn check(&mut self) -> Result<(), String> {
        let text = self.read_text().map_err(|error| error.to_string())?;
        let RunningPlan { program, plan, pe } = &self.running;
        let wanted = planner::parse_plan(&text, program).map_err(|error| error.to_string())?;
        let wanted = planner::with_live_settings(plan, &wanted, program)?;
        let settings = pe_settings(program, &wanted, *pe);
        let usable = self.control.check(&settings);
        usable.map_err(|fault| fault.message().to_owned())?;
        self.checked = Some((wanted, settings));
        Ok(())
    }

    fn read_text(&self) -> io::Result<String> {
        let process = self.words.process().unwrap_or_default();
        let path = format!("/proc/{process}/fd/{}", self.words.file());
        let mut text = String::new();
        File::open(path)?
            .take(PLAN_BYTES_MAX)
            .read_to_string(&mut text)?;
        Ok(text)
    }

    fn apply(&mut self) -> Result<(), String> {
        let Some((plan, settings)) = self.checked.take() else {
            return Err("the plan was not checked".to_owned());
        };
        let applied = self.control.set(&settings);
        applied.map_err(|fault| fault.message().to_owned())?;
        self.running.plan = plan;
        Ok(())
    }
}

/// The settings that a plan gives the threads and queues of a PE.
fn pe_settings(program: &Program, plan: &Plan, pe: PeId) -> PeSettings {
    let part = planner::cut(program, plan, pe);
    let threads = planner::pe_threads(&part.program, &part.pins);
    let name = |at: u32| part.program.operators[at as usize].name.clone();
    let queues = threads.threads.iter().filter_map(|thread| {
        let ThreadStartPoint::Queue(operator) = thread.start else {
            return None;
        };
        let operator = name(operator.0);
        let mut ports = plan.pe(pe).threaded_ports.iter();
        let port = ports.find(|port| *program.queue_name(port) == *operator)?;
        Some(QueueSettings {
            operator: Arc::from(&*operator),
            items_max: port.tuples_max.into(),
        })
    });
    PeSettings {
        queues: queues.collect(),
        cores: WantedCores {
            pe: plan.pe(pe).cores.clone(),
            own: threads.threads.iter().map(|thread| thread.core).collect(),
        },
        pool: threads.pool,
    }
}
