//! The job coordinator: decides what the launcher does as PEs send messages and end, without
//! sockets.
//!
//! ```text
//!   each PE:   Opening --Opened--> Opened --Ready--> Ready --Ended--> Ended --exit--> Exited
//!   the job:   all opened: Accept · all ready: Go · one fails: Stop, and after a while Kill
//! ```
//!
//! # Invariants
//! No message goes to a PE after it has ended. `Go` is sent at most once, to all PEs; `Stop` is
//! sent to each PE at most once.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use graph::{Crossing, PeId, Plan};

use super::coordinator_action::CoordinatorAction;
use super::job_outcome::{FailureCause, JobOutcome, ProcessExit};
use super::pe_state::{PeStage, PeState};
use crate::control::{MessageFromPe, MessageToPe};
use crate::part::{CrossingTicket, PeEnding};
use crate::profiling::ProfileCollector;

/// Time that a PE has to end after the job has failed, or to exit after its `Ended`; then it is
/// killed. Two seconds suffice to close files.
pub const GRACE: Duration = Duration::from_secs(2);

/// Like [`GRACE`], for PEs that are ranks: mpirun kills all of them a second after the first death.
const RANK_GRACE: Duration = Duration::from_millis(500);

/// The state of a job of several PEs, and the actions that it requires.
pub struct JobCoordinator {
    /// The sending PE of each crossing, and its receiving PEs.
    crossing_pes: Vec<(PeId, Vec<PeId>)>,
    pes: Vec<PeState>,
    /// Whether `Go` was sent to all PEs.
    is_running: bool,
    /// Whether an orderly shutdown was requested.
    is_stopping: bool,
    /// Whether the PEs are ranks: they exit together, when all of them have ended.
    is_of_ranks: bool,
    /// Whether a rank has died, without which the others cannot leave in order.
    is_broken: bool,
    outcome: JobOutcome,
    /// Where the profiles of PEs go, if the job is profiled.
    profile: Option<ProfileCollector>,
    actions: Vec<CoordinatorAction>,
}

impl JobCoordinator {
    /// The coordinator of a job whose PEs have just been sent `Begin`.
    pub fn new(plan: &Plan) -> JobCoordinator {
        let sender = |crossing: &Crossing| {
            let from = crossing.from.operator;
            let pe = plan.pes.iter().position(|pe| pe.operators.contains(&from));
            PeId(pe.map_or(u32::MAX, |pe| pe as u32))
        };
        let crossings = plan.crossings.iter();
        JobCoordinator {
            crossing_pes: crossings.map(|c| (sender(c), c.to.clone())).collect(),
            pes: plan.pes.iter().map(|_| PeState::default()).collect(),
            is_running: false,
            is_stopping: false,
            is_of_ranks: false,
            is_broken: false,
            outcome: JobOutcome::of_plan(plan),
            profile: None,
            actions: Vec::new(),
        }
    }

    /// The coordinator of a job whose PEs are ranks.
    pub fn of_ranks(plan: &Plan) -> JobCoordinator {
        JobCoordinator {
            is_of_ranks: true,
            ..JobCoordinator::new(plan)
        }
    }

    /// The coordinator, which gives the profiles of PEs to a collector.
    pub fn with_profile(self, profile: Option<ProfileCollector>) -> JobCoordinator {
        JobCoordinator { profile, ..self }
    }

    /// Time that a PE has to end after the job has failed.
    fn grace(&self) -> Duration {
        match self.is_of_ranks {
            true => RANK_GRACE,
            false => GRACE,
        }
    }

    /// Handles a message from a PE and the descriptors that it carries.
    pub fn on_message(&mut self, pe: PeId, message: MessageFromPe, fds: Vec<OwnedFd>) {
        match message {
            MessageFromPe::Ticket(ticket) => self.forward_ticket(pe, ticket, fds),
            MessageFromPe::Opened => self.advance(pe, PeStage::Opened, MessageToPe::Accept),
            MessageFromPe::Ready => self.advance(pe, PeStage::Ready, MessageToPe::Go),
            MessageFromPe::Stopping => self.stop(),
            MessageFromPe::Counts(counts) => self.on_counts(pe, counts),
            MessageFromPe::Profile(text) => self.on_profile(pe, &text),
            MessageFromPe::Ended(ending) => self.on_ended(pe, ending),
        }
        if self.is_stopping && self.is_running {
            self.stop_all();
        }
    }

    /// Handles the counts of a PE's sources.
    pub fn on_counts(&mut self, pe: PeId, counts: Vec<(String, u64)>) {
        self.pe_state(pe).counts = counts;
    }

    fn on_profile(&mut self, pe: PeId, text: &str) {
        let added = self.profile.as_ref().map(|profile| profile.add_text(text));
        if added.is_none_or(|added| added.is_err()) {
            self.on_protocol_error(pe, "a profile that is garbled or not asked for");
        }
    }

    /// Handles a message that breaks the protocol: the PE is killed, and the job fails.
    pub fn on_protocol_error(&mut self, pe: PeId, what: &str) {
        if self.pe_state(pe).stage < PeStage::Ended {
            self.outcome
                .add(pe, FailureCause::ProtocolError(what.to_owned()));
            self.fail();
        }
        self.kill(pe);
    }

    /// Handles the orderly close of a PE's connection: the process is about to end.
    pub fn on_closed(&mut self, pe: PeId) {
        let deadline = Instant::now() + GRACE;
        let state = self.pe_state(pe);
        if state.stage < PeStage::Exited {
            state.deadline.get_or_insert(deadline);
        }
    }

    /// Handles a broken connection: the PE's process is about to end, and is killed if it does not.
    pub fn on_connection_lost(&mut self, pe: PeId, how: String) {
        let deadline = Instant::now() + GRACE;
        let state = self.pe_state(pe);
        if state.stage < PeStage::Exited {
            state.connection_error.get_or_insert(how);
            state.deadline.get_or_insert(deadline);
        }
    }

    /// Handles the end of a PE's process.
    pub fn on_exit(&mut self, pe: PeId, exit: ProcessExit) {
        let has_causes = self.outcome.has_causes();
        let state = self.pe_state(pe);
        let is_consequence = state.is_killed && has_causes;
        let cause = match (state.connection_error.take(), exit) {
            (None, _) if state.is_killed => FailureCause::Hung,
            (None, _) => FailureCause::Died(exit),
            (Some(_), _) if !state.is_killed && exit.breaks_connection() => {
                FailureCause::Died(exit)
            }
            (Some(how), _) => FailureCause::ConnectionLost(how, exit),
        };
        let is_death = state.stage < PeStage::Ended && !is_consequence;
        state.stage = PeStage::Exited;
        state.deadline = None;
        if is_death {
            self.is_broken |= self.is_of_ranks;
            self.outcome.add(pe, cause);
            self.fail();
        }
    }

    /// Requests an orderly shutdown of all PEs.
    pub fn stop(&mut self) {
        self.is_stopping = true;
        if self.is_running {
            self.stop_all();
        }
    }

    /// Requests the counts of all sources.
    pub fn request_counts(&mut self) {
        if self.is_running {
            self.send_all(|| MessageToPe::Count, |_| true);
        }
    }

    /// Takes the actions that are due at the time `now`.
    pub fn take_actions(&mut self, now: Instant) -> Vec<CoordinatorAction> {
        for pe in (0..self.pes.len() as u32).map(PeId) {
            if self.pe_state(pe).deadline.is_some_and(|at| at <= now) {
                self.kill(pe);
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// Time of the next action if no PE sends or ends before; `None`: none is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.pes.iter().filter_map(|state| state.deadline).min()
    }

    /// Whether the job is running: `Go` was sent to all PEs.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether a rank has died, without which the others cannot leave in order.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether the processes of all PEs have ended.
    pub fn is_over(&self) -> bool {
        self.pes.iter().all(|state| state.stage == PeStage::Exited)
    }

    /// Number of tuples that each source has submitted, by operator name.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let counts = self.pes.iter().flat_map(|state| &state.counts);
        counts.cloned().collect()
    }

    /// The outcome of the job.
    pub fn into_outcome(self) -> JobOutcome {
        self.outcome
    }

    fn pe_state(&mut self, pe: PeId) -> &mut PeState {
        &mut self.pes[pe.0 as usize]
    }

    fn forward_ticket(&mut self, pe: PeId, ticket: CrossingTicket, fds: Vec<OwnedFd>) {
        let crossing = self.crossing_pes.get(ticket.crossing as usize);
        let crossing = crossing.filter(|(sender, _)| *sender == pe);
        let to = crossing.and_then(|(_, to)| to.get(ticket.receiver as usize));
        match to.copied() {
            Some(to) => self.send(to, MessageToPe::Ticket(ticket), fds),
            None => self.on_protocol_error(pe, "a ticket for an edge that is not its own"),
        }
    }

    /// Notes that a PE has reached a stage. When all PEs have, `next` is sent to all of them.
    fn advance(&mut self, pe: PeId, stage: PeStage, next: MessageToPe) {
        if self.pe_state(pe).stage >= stage {
            return self.on_protocol_error(pe, "the same step twice");
        }
        self.pe_state(pe).stage = stage;
        if self.pes.iter().all(|state| state.stage == stage) {
            self.is_running |= stage == PeStage::Ready;
            for pe in (0..self.pes.len() as u32).map(PeId) {
                let next = match next {
                    MessageToPe::Go => MessageToPe::Go,
                    _ => MessageToPe::Accept,
                };
                self.send(pe, next, Vec::new());
            }
        }
    }

    fn on_ended(&mut self, pe: PeId, ending: PeEnding) {
        let is_early = !self.is_running && !self.pe_state(pe).is_stopped;
        let is_of_ranks = self.is_of_ranks;
        let state = self.pe_state(pe);
        if state.stage >= PeStage::Ended {
            return self.on_protocol_error(pe, "two endings");
        }
        (state.stage, state.deadline) = match is_of_ranks {
            true => (PeStage::Exited, None),
            false => (PeStage::Ended, Some(Instant::now() + GRACE)),
        };
        self.outcome.add_leftovers(&ending.leftovers);
        if !ending.failures.is_empty() || ending.is_quiet {
            self.outcome.add(pe, FailureCause::Reported(ending));
            self.fail();
        } else if is_early {
            let what = "an ending before the job has begun".to_owned();
            self.outcome.add(pe, FailureCause::ProtocolError(what));
            self.fail();
        }
    }

    /// Stops all PEs of a failed job, and sets the time at which they are killed.
    fn fail(&mut self) {
        self.stop_all();
        let deadline = Instant::now() + self.grace();
        for state in &mut self.pes {
            if state.stage < PeStage::Exited {
                state.deadline.get_or_insert(deadline);
            }
        }
    }

    fn stop_all(&mut self) {
        self.send_all(
            || MessageToPe::Stop,
            |state| !std::mem::replace(&mut state.is_stopped, true),
        );
    }

    fn send_all(
        &mut self,
        message: fn() -> MessageToPe,
        mut wanted: impl FnMut(&mut PeState) -> bool,
    ) {
        for pe in (0..self.pes.len() as u32).map(PeId) {
            if wanted(self.pe_state(pe)) {
                self.send(pe, message(), Vec::new());
            }
        }
    }

    fn send(&mut self, pe: PeId, message: MessageToPe, fds: Vec<OwnedFd>) {
        if self.pe_state(pe).stage < PeStage::Ended {
            self.actions.push(CoordinatorAction::Send(pe, message, fds));
        }
    }

    fn kill(&mut self, pe: PeId) {
        let state = self.pe_state(pe);
        state.deadline = None;
        if state.stage < PeStage::Exited && !state.is_killed {
            state.is_killed = true;
            self.actions.push(CoordinatorAction::Kill(pe));
        }
    }
}

#[cfg(test)]
mod tests {
    use graph::{CrossingCodec, OperatorId, OutPortId, PePlan, PlanComment, PortIndex};

    use super::*;
    use crate::control::EXIT_LAUNCHER_LOST;
    use crate::error::Error;
    use crate::part::PeFailure;

    /// A plan of two PEs: operator 0 in the first, operator 1 in the second, a crossing between
    /// them.
    fn plan() -> Plan {
        let pe = |operator| PePlan {
            operators: vec![OperatorId(operator)],
            ..PePlan::default()
        };
        let from = OutPortId {
            operator: OperatorId(0),
            port: PortIndex(0),
        };
        let crossing = Crossing {
            from,
            to: vec![PeId(1)],
            medium: "shm".into(),
            medium_settings: "".into(),
            medium_reason: PlanComment::default(),
            codec: CrossingCodec::Facade,
            ring_bytes: None,
            batch: None,
            rails: graph::CrossingRails::None,
        };
        Plan {
            pes: vec![pe(0), pe(1)],
            crossings: vec![crossing],
        }
    }

    fn taken_actions(coordinator: &mut JobCoordinator) -> Vec<String> {
        let actions = coordinator.take_actions(Instant::now()).into_iter();
        let actions = actions.map(|action| match action {
            CoordinatorAction::Send(pe, message, _) => format!("{pe}: {message:?}"),
            CoordinatorAction::Kill(pe) => format!("{pe}: kill"),
        });
        actions.collect()
    }

    fn running() -> JobCoordinator {
        let mut coordinator = JobCoordinator::new(&plan());
        for step in [|| MessageFromPe::Opened, || MessageFromPe::Ready] {
            coordinator.on_message(PeId(1), step(), Vec::new());
            coordinator.on_message(PeId(0), step(), Vec::new());
        }
        assert!(coordinator.is_running());
        taken_actions(&mut coordinator);
        coordinator
    }

    fn failure_of(coordinator: JobCoordinator) -> String {
        assert!(coordinator.is_over());
        let labels = ["pe 0 (A)", "pe 1 (B)"].map(str::to_owned);
        match coordinator.into_outcome().into_result(&labels) {
            Err(Error::Program(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pe_that_cannot_be_reached_is_killed_after_a_while_and_said_to_be() {
        let mut coordinator = running();
        coordinator.on_connection_lost(PeId(1), "Broken pipe".to_owned());
        assert!(
            taken_actions(&mut coordinator).is_empty(),
            "it may be about to die"
        );
        let late = Instant::now() + GRACE;
        let actions = coordinator.take_actions(late);
        assert!(
            matches!(actions[..], [CoordinatorAction::Kill(PeId(1))]),
            "{actions:?}"
        );
        coordinator.on_exit(PeId(1), ProcessExit::Signal(9));
        end(&mut coordinator, PeId(0), &[]);
        coordinator.on_exit(PeId(0), ProcessExit::Status(0));
        let why = failure_of(coordinator);
        assert_eq!(why, "the connection to pe 1 (B) broke: Broken pipe");
    }

    #[test]
    fn a_death_explains_a_connection_that_is_lost() {
        let broken = "the connection to pe 1 (B) broke: Broken pipe";
        let cut_off = format!("{broken}; it ended with status 3");
        let cases = [
            (
                ProcessExit::Signal(11),
                "pe 1 (B): killed by signal 11 (SIGSEGV)",
            ),
            (
                ProcessExit::Status(1),
                "pe 1 (B): ended with status 1 without reporting why",
            ),
            (ProcessExit::Status(0), broken),
            (ProcessExit::Status(EXIT_LAUNCHER_LOST), &cut_off),
        ];
        for (exit, sentence) in cases {
            let mut coordinator = running();
            coordinator.on_connection_lost(PeId(1), "Broken pipe".to_owned());
            coordinator.on_exit(PeId(1), exit);
            end(&mut coordinator, PeId(0), &[]);
            assert_eq!(failure_of(coordinator), sentence);
        }
    }

    #[test]
    fn a_pe_that_closes_its_connection_and_stays_is_killed() {
        let mut coordinator = running();
        coordinator.on_closed(PeId(1));
        let actions = coordinator.take_actions(Instant::now() + GRACE);
        assert!(
            matches!(actions[..], [CoordinatorAction::Kill(PeId(1))]),
            "{actions:?}"
        );
        coordinator.on_exit(PeId(1), ProcessExit::Signal(9));
        end(&mut coordinator, PeId(0), &[]);
        let sentence = "pe 1 (B) has closed its connection, and did not end";
        assert_eq!(failure_of(coordinator), sentence);
    }

    fn end(coordinator: &mut JobCoordinator, pe: PeId, failures: &[(&str, bool)]) {
        let failures = failures.iter().map(|&(line, is_crossing)| PeFailure {
            line: line.to_owned(),
            is_crossing,
            shared_reason: String::new(),
        });
        let ending = PeEnding {
            failures: failures.collect(),
            ..PeEnding::default()
        };
        coordinator.on_message(pe, MessageFromPe::Ended(ending), Vec::new());
        coordinator.on_closed(pe);
        coordinator.on_exit(pe, ProcessExit::Status(0));
    }

    #[test]
    fn a_job_begins_when_all_are_ready_and_tickets_have_reached_their_receivers() {
        let mut coordinator = JobCoordinator::new(&plan());
        let ticket = CrossingTicket {
            crossing: 0,
            receiver: 0,
            bytes: vec![7],
        };
        coordinator.on_message(PeId(0), MessageFromPe::Ticket(ticket), Vec::new());
        coordinator.on_message(PeId(0), MessageFromPe::Opened, Vec::new());
        let handed = "1: Ticket(CrossingTicket { crossing: 0, receiver: 0, bytes: [7] })";
        assert_eq!(taken_actions(&mut coordinator), [handed]);
        coordinator.on_message(PeId(1), MessageFromPe::Opened, Vec::new());
        assert_eq!(taken_actions(&mut coordinator), ["0: Accept", "1: Accept"]);
        coordinator.stop();
        coordinator.on_message(PeId(1), MessageFromPe::Ready, Vec::new());
        assert_eq!(taken_actions(&mut coordinator), [""; 0]);
        coordinator.on_message(PeId(0), MessageFromPe::Ready, Vec::new());
        assert_eq!(
            taken_actions(&mut coordinator),
            ["0: Go", "1: Go", "0: Stop", "1: Stop"]
        );
    }

    #[test]
    fn a_shutdown_in_one_pe_stops_all_once() {
        let mut coordinator = running();
        coordinator.on_message(PeId(1), MessageFromPe::Stopping, Vec::new());
        coordinator.on_message(PeId(0), MessageFromPe::Stopping, Vec::new());
        coordinator.stop();
        assert_eq!(taken_actions(&mut coordinator), ["0: Stop", "1: Stop"]);
        assert_eq!(coordinator.deadline(), None, "it may take its time");
        end(&mut coordinator, PeId(0), &[]);
        end(&mut coordinator, PeId(1), &[]);
        assert!(coordinator.is_over());
        let outcome = coordinator.into_outcome();
        outcome.into_result(&[]).unwrap();
    }

    #[test]
    fn a_death_is_the_cause_and_what_follows_from_it_is_not() {
        for is_first in [true, false] {
            let mut coordinator = running();
            if is_first {
                coordinator.on_exit(PeId(1), ProcessExit::Signal(9));
            }
            let lost = ("Send: receiver 0 is gone", true);
            end(&mut coordinator, PeId(0), &[lost]);
            coordinator.on_exit(PeId(1), ProcessExit::Signal(9));
            assert_eq!(
                failure_of(coordinator),
                "pe 1 (B): killed by signal 9 (SIGKILL)"
            );
        }
    }

    #[test]
    fn a_failure_of_an_operator_is_the_cause_and_lost_edges_are_not() {
        let mut coordinator = running();
        end(&mut coordinator, PeId(0), &[("receiver 0 is gone", true)]);
        end(
            &mut coordinator,
            PeId(1),
            &[("Main.spl:1:2: Bad: division by zero", false)],
        );
        assert_eq!(
            failure_of(coordinator),
            "pe 1: Main.spl:1:2: Bad: division by zero"
        );
    }

    #[test]
    fn a_lost_edge_is_the_cause_if_there_is_no_other() {
        let mut coordinator = running();
        end(&mut coordinator, PeId(0), &[("connection reset", true)]);
        end(&mut coordinator, PeId(1), &[]);
        assert_eq!(failure_of(coordinator), "pe 0: connection reset");
    }

    #[test]
    fn who_does_not_end_after_a_failure_is_killed() {
        let mut coordinator = running();
        coordinator.on_exit(PeId(0), ProcessExit::Status(101));
        assert_eq!(taken_actions(&mut coordinator), ["1: Stop"]);
        let deadline = coordinator.deadline().unwrap();
        let actions = coordinator.take_actions(deadline);
        assert!(
            matches!(actions[..], [CoordinatorAction::Kill(PeId(1))]),
            "{actions:?}"
        );
        assert_eq!(coordinator.deadline(), None);
        coordinator.on_exit(PeId(1), ProcessExit::Signal(9));
        let message = "pe 0 (A): ended with status 101 without reporting why";
        assert_eq!(failure_of(coordinator), message);
    }

    #[test]
    fn whoever_makes_no_sense_is_killed() {
        let wrong = CrossingTicket {
            crossing: 0,
            receiver: 1,
            bytes: Vec::new(),
        };
        let messages = [
            MessageFromPe::Ticket(wrong),
            MessageFromPe::Ready,
            MessageFromPe::Ended(PeEnding::default()),
        ];
        for message in messages {
            let mut coordinator = running();
            coordinator.on_message(
                PeId(0),
                MessageFromPe::Ended(PeEnding::default()),
                Vec::new(),
            );
            coordinator.on_message(PeId(0), message, Vec::new());
            assert_eq!(taken_actions(&mut coordinator), ["0: kill"]);
        }
    }

    #[test]
    fn a_pe_that_ends_before_the_job_has_begun_fails_it() {
        let mut coordinator = JobCoordinator::new(&plan());
        end(&mut coordinator, PeId(0), &[]);
        assert_eq!(taken_actions(&mut coordinator), ["1: Stop"]);
        end(&mut coordinator, PeId(1), &[]);
        assert!(failure_of(coordinator).starts_with("internal error: pe 0"));
    }
}
