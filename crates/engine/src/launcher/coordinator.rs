//! What the launcher makes of what it hears: the life of a job of several PEs, without its sockets.
//!
//! ```text
//!   each PE:   Opening --Opened--> Opened --Ready--> Ready --Ended--> Over --process--> Gone
//!   the job:   all opened: Accept · all ready: Go · one fails: Stop, and after a while Kill
//! ```
//!
//! # Invariants
//! A PE is told nothing after it has ended. `Go` is said at most once, to all; `Stop` at most once
//! to each.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use graph::{Crossing, Plan};

use super::job_outcome::{FailureCause, JobOutcome, ProcessExit};
use crate::control::{MessageFromPe, MessageToPe};
use crate::part::{CrossingTicket, PeEnding};

/// How long a PE may take to end after the job has failed, or to exit after it said that it is
/// over.
pub const GRACE: Duration = Duration::from_secs(2);

/// The state of a job.
pub struct JobCoordinator {
    /// The sending PE of each link, and its receivers.
    crossing_pes: Vec<(u32, Vec<u32>)>,
    pes: Vec<PeState>,
    /// `Go` was said.
    is_running: bool,
    /// Somebody asked for an orderly shutdown.
    is_stopping: bool,
    outcome: JobOutcome,
    actions: Vec<CoordinatorAction>,
}

/// What is to be done.
#[derive(Debug)]
pub enum CoordinatorAction {
    /// A PE is to be told something, with descriptors.
    Send(u32, MessageToPe, Vec<OwnedFd>),
    /// A PE is to be killed.
    Kill(u32),
}

struct PeState {
    stage: PeStage,
    /// It was told to stop.
    is_stopped: bool,
    /// It is killed if it is still there then.
    deadline: Option<Instant>,
    /// It was killed by the launcher.
    is_killed: bool,
    /// What happened to the connection to it.
    connection_error: Option<String>,
    /// What its sources have sent.
    counts: Vec<(String, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PeStage {
    Opening,
    Opened,
    Ready,
    Ended,
    Exited,
}

impl JobCoordinator {
    /// A job whose PEs were just told to begin.
    pub fn new(plan: &Plan) -> JobCoordinator {
        let sender = |crossing: &Crossing| {
            let from = crossing.from.operator;
            let pe = plan.pes.iter().position(|pe| pe.operators.contains(&from));
            pe.map_or(u32::MAX, |pe| pe as u32)
        };
        let links = plan.crossings.iter();
        let member = || PeState {
            stage: PeStage::Opening,
            is_stopped: false,
            deadline: None,
            is_killed: false,
            connection_error: None,
            counts: Vec::new(),
        };
        JobCoordinator {
            crossing_pes: links.map(|c| (sender(c), c.to.clone())).collect(),
            pes: plan.pes.iter().map(|_| member()).collect(),
            is_running: false,
            is_stopping: false,
            outcome: JobOutcome::default(),
            actions: Vec::new(),
        }
    }

    /// A PE has said something.
    pub fn on_message(&mut self, pe: u32, message: MessageFromPe, fds: Vec<OwnedFd>) {
        match message {
            MessageFromPe::Ticket(ticket) => self.forward_ticket(pe, ticket, fds),
            MessageFromPe::Opened => self.advance(pe, PeStage::Opened, MessageToPe::Accept),
            MessageFromPe::Ready => self.advance(pe, PeStage::Ready, MessageToPe::Go),
            MessageFromPe::Stopping => self.stop(),
            MessageFromPe::Counts(counts) => self.on_counts(pe, counts),
            MessageFromPe::Ended(ending) => self.on_ended(pe, ending),
        }
        if self.is_stopping && self.is_running {
            self.stop_all();
        }
    }

    /// A PE's sources have sent so much.
    pub fn on_counts(&mut self, pe: u32, counts: Vec<(String, u64)>) {
        self.pe_state(pe).counts = counts;
    }

    /// What a PE has sent makes no sense.
    pub fn on_protocol_error(&mut self, pe: u32, what: &str) {
        if self.pe_state(pe).stage < PeStage::Ended {
            self.outcome
                .add(pe, FailureCause::ProtocolError(what.to_owned()));
            self.fail();
        }
        self.kill(pe);
    }

    /// A PE has closed its connection: its process is about to end.
    pub fn on_closed(&mut self, pe: u32) {
        let deadline = Instant::now() + GRACE;
        self.pe_state(pe).deadline.get_or_insert(deadline);
    }

    /// The connection to a PE is of no use any more: its process is about to end, and else is
    /// killed.
    pub fn on_connection_lost(&mut self, pe: u32, how: String) {
        let deadline = Instant::now() + GRACE;
        let member = self.pe_state(pe);
        if member.stage < PeStage::Exited {
            member.connection_error.get_or_insert(how);
            member.deadline.get_or_insert(deadline);
        }
    }

    /// A PE's process has ended.
    pub fn on_exit(&mut self, pe: u32, exit: ProcessExit) {
        let has_causes = self.outcome.has_causes();
        let member = self.pe_state(pe);
        let is_consequence = member.is_killed && has_causes;
        let cause = match (member.connection_error.take(), exit) {
            (None, _) if member.is_killed => FailureCause::Hung,
            (None, _) => FailureCause::Died(exit),
            (Some(_), _) if !member.is_killed && exit.breaks_connection() => {
                FailureCause::Died(exit)
            }
            (Some(how), _) => FailureCause::ConnectionLost(how, exit),
        };
        let is_death = member.stage < PeStage::Ended && !is_consequence;
        member.stage = PeStage::Exited;
        member.deadline = None;
        if is_death {
            self.outcome.add(pe, cause);
            self.fail();
        }
    }

    /// Somebody asks for an orderly shutdown.
    pub fn stop(&mut self) {
        self.is_stopping = true;
        if self.is_running {
            self.stop_all();
        }
    }

    /// The counts of the sources are wanted.
    pub fn request_counts(&mut self) {
        if self.is_running {
            self.send_all(|| MessageToPe::Count, |_| true);
        }
    }

    /// What is to be done now.
    pub fn take_actions(&mut self, now: Instant) -> Vec<CoordinatorAction> {
        for pe in 0..self.pes.len() as u32 {
            if self.pe_state(pe).deadline.is_some_and(|at| at <= now) {
                self.kill(pe);
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// When to ask for actions again, even if nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.pes.iter().filter_map(|m| m.deadline).min()
    }

    /// Whether `Go` was said.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether all processes have ended.
    pub fn is_over(&self) -> bool {
        self.pes.iter().all(|m| m.stage == PeStage::Exited)
    }

    /// How many tuples each source has sent.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let counts = self.pes.iter().flat_map(|m| &m.counts);
        counts.cloned().collect()
    }

    /// How it ended.
    pub fn into_outcome(self) -> JobOutcome {
        self.outcome
    }

    fn pe_state(&mut self, pe: u32) -> &mut PeState {
        &mut self.pes[pe as usize]
    }

    fn forward_ticket(&mut self, pe: u32, ticket: CrossingTicket, fds: Vec<OwnedFd>) {
        let link = self.crossing_pes.get(ticket.link as usize);
        let link = link.filter(|(sender, _)| *sender == pe);
        let to = link.and_then(|(_, to)| to.get(ticket.receiver as usize));
        match to.copied() {
            Some(to) => self.send(to, MessageToPe::Ticket(ticket), fds),
            None => self.on_protocol_error(pe, "a ticket for an edge that is not its own"),
        }
    }

    /// A PE has reached a stage; when all have, they are told what is next.
    fn advance(&mut self, pe: u32, stage: PeStage, next: MessageToPe) {
        if self.pe_state(pe).stage >= stage {
            return self.on_protocol_error(pe, "the same step twice");
        }
        self.pe_state(pe).stage = stage;
        if self.pes.iter().all(|m| m.stage == stage) {
            self.is_running |= stage == PeStage::Ready;
            for pe in 0..self.pes.len() as u32 {
                let next = match next {
                    MessageToPe::Go => MessageToPe::Go,
                    _ => MessageToPe::Accept,
                };
                self.send(pe, next, Vec::new());
            }
        }
    }

    fn on_ended(&mut self, pe: u32, ending: PeEnding) {
        let is_early = !self.is_running && !self.pe_state(pe).is_stopped;
        let member = self.pe_state(pe);
        if member.stage >= PeStage::Ended {
            return self.on_protocol_error(pe, "two endings");
        }
        member.stage = PeStage::Ended;
        member.deadline = Some(Instant::now() + GRACE);
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

    /// The job has failed: nobody is to go on, and not for long.
    fn fail(&mut self) {
        self.stop_all();
        let deadline = Instant::now() + GRACE;
        for member in &mut self.pes {
            if member.stage < PeStage::Exited {
                member.deadline.get_or_insert(deadline);
            }
        }
    }

    fn stop_all(&mut self) {
        self.send_all(
            || MessageToPe::Stop,
            |m| !std::mem::replace(&mut m.is_stopped, true),
        );
    }

    fn send_all(
        &mut self,
        message: fn() -> MessageToPe,
        mut wanted: impl FnMut(&mut PeState) -> bool,
    ) {
        for pe in 0..self.pes.len() as u32 {
            if wanted(self.pe_state(pe)) {
                self.send(pe, message(), Vec::new());
            }
        }
    }

    fn send(&mut self, pe: u32, message: MessageToPe, fds: Vec<OwnedFd>) {
        if self.pe_state(pe).stage < PeStage::Ended {
            self.actions.push(CoordinatorAction::Send(pe, message, fds));
        }
    }

    fn kill(&mut self, pe: u32) {
        let member = self.pe_state(pe);
        member.deadline = None;
        if member.stage < PeStage::Exited && !member.is_killed {
            member.is_killed = true;
            self.actions.push(CoordinatorAction::Kill(pe));
        }
    }
}

#[cfg(test)]
mod tests {
    use graph::{CrossingCodec, OperatorId, OutPortId, PePlan};

    use super::*;
    use crate::control::EXIT_LAUNCHER_LOST;
    use crate::error::Error;
    use crate::part::PeFailure;

    /// Two PEs; operator 0 in the first, 1 in the second, a link between them.
    fn plan() -> Plan {
        let pe = |operator| PePlan {
            operators: vec![OperatorId(operator)],
            ..PePlan::default()
        };
        let from = OutPortId {
            operator: OperatorId(0),
            port: 0,
        };
        let crossing = Crossing {
            from,
            to: vec![1],
            medium: "shm".into(),
            codec: CrossingCodec::Facade,
            ring_bytes: None,
            batch: None,
        };
        Plan {
            pes: vec![pe(0), pe(1)],
            crossings: vec![crossing],
        }
    }

    fn told(conduct: &mut JobCoordinator) -> Vec<String> {
        let actions = conduct.take_actions(Instant::now()).into_iter();
        let said = actions.map(|action| match action {
            CoordinatorAction::Send(pe, message, _) => format!("{pe}: {message:?}"),
            CoordinatorAction::Kill(pe) => format!("{pe}: kill"),
        });
        said.collect()
    }

    fn running() -> JobCoordinator {
        let mut coordinator = JobCoordinator::new(&plan());
        for step in [|| MessageFromPe::Opened, || MessageFromPe::Ready] {
            coordinator.on_message(1, step(), Vec::new());
            coordinator.on_message(0, step(), Vec::new());
        }
        assert!(coordinator.is_running());
        told(&mut coordinator);
        coordinator
    }

    fn fails(conduct: JobCoordinator) -> String {
        assert!(conduct.is_over());
        let labels = ["pe 0 (A)", "pe 1 (B)"].map(str::to_owned);
        match conduct.into_outcome().into_result(&labels) {
            Err(Error::Program(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pe_that_cannot_be_reached_is_killed_after_a_while_and_said_to_be() {
        let mut coordinator = running();
        coordinator.on_connection_lost(1, "Broken pipe".to_owned());
        assert!(told(&mut coordinator).is_empty(), "it may be about to die");
        let late = Instant::now() + GRACE;
        let actions = coordinator.take_actions(late);
        assert!(
            matches!(actions[..], [CoordinatorAction::Kill(1)]),
            "{actions:?}"
        );
        coordinator.on_exit(1, ProcessExit::Signal(9));
        ended(&mut coordinator, 0, &[]);
        coordinator.on_exit(0, ProcessExit::Status(0));
        let why = fails(coordinator);
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
                "pe 1 (B): ended with status 1 and without a word",
            ),
            (ProcessExit::Status(0), broken),
            (ProcessExit::Status(EXIT_LAUNCHER_LOST), &cut_off),
        ];
        for (exit, sentence) in cases {
            let mut coordinator = running();
            coordinator.on_connection_lost(1, "Broken pipe".to_owned());
            coordinator.on_exit(1, exit);
            ended(&mut coordinator, 0, &[]);
            assert_eq!(fails(coordinator), sentence);
        }
    }

    #[test]
    fn a_pe_that_closes_its_connection_and_stays_is_killed() {
        let mut coordinator = running();
        coordinator.on_closed(1);
        let actions = coordinator.take_actions(Instant::now() + GRACE);
        assert!(
            matches!(actions[..], [CoordinatorAction::Kill(1)]),
            "{actions:?}"
        );
        coordinator.on_exit(1, ProcessExit::Signal(9));
        ended(&mut coordinator, 0, &[]);
        let sentence = "pe 1 (B) has closed its connection, and did not end";
        assert_eq!(fails(coordinator), sentence);
    }

    fn ended(conduct: &mut JobCoordinator, pe: u32, failures: &[(&str, bool)]) {
        let failures = failures.iter().map(|&(line, is_crossing)| PeFailure {
            line: line.to_owned(),
            is_crossing,
        });
        let ending = PeEnding {
            failures: failures.collect(),
            ..PeEnding::default()
        };
        conduct.on_message(pe, MessageFromPe::Ended(ending), Vec::new());
        conduct.on_closed(pe);
        conduct.on_exit(pe, ProcessExit::Status(0));
    }

    #[test]
    fn a_job_begins_when_all_are_ready_and_tickets_have_reached_their_receivers() {
        let mut coordinator = JobCoordinator::new(&plan());
        let ticket = CrossingTicket {
            link: 0,
            receiver: 0,
            bytes: vec![7],
        };
        coordinator.on_message(0, MessageFromPe::Ticket(ticket), Vec::new());
        coordinator.on_message(0, MessageFromPe::Opened, Vec::new());
        let handed = "1: Ticket(CrossingTicket { link: 0, receiver: 0, bytes: [7] })";
        assert_eq!(told(&mut coordinator), [handed]);
        coordinator.on_message(1, MessageFromPe::Opened, Vec::new());
        assert_eq!(told(&mut coordinator), ["0: Accept", "1: Accept"]);
        coordinator.stop();
        coordinator.on_message(1, MessageFromPe::Ready, Vec::new());
        assert_eq!(told(&mut coordinator), [""; 0]);
        coordinator.on_message(0, MessageFromPe::Ready, Vec::new());
        assert_eq!(
            told(&mut coordinator),
            ["0: Go", "1: Go", "0: Stop", "1: Stop"]
        );
    }

    #[test]
    fn a_shutdown_in_one_pe_stops_all_once() {
        let mut coordinator = running();
        coordinator.on_message(1, MessageFromPe::Stopping, Vec::new());
        coordinator.on_message(0, MessageFromPe::Stopping, Vec::new());
        coordinator.stop();
        assert_eq!(told(&mut coordinator), ["0: Stop", "1: Stop"]);
        assert_eq!(coordinator.deadline(), None, "it may take its time");
        ended(&mut coordinator, 0, &[]);
        ended(&mut coordinator, 1, &[]);
        assert!(coordinator.is_over());
        let outcome = coordinator.into_outcome();
        outcome.into_result(&[]).unwrap();
    }

    #[test]
    fn a_death_is_the_cause_and_what_follows_from_it_is_not() {
        for is_first in [true, false] {
            let mut coordinator = running();
            if is_first {
                coordinator.on_exit(1, ProcessExit::Signal(9));
            }
            let lost = ("Send: receiver 0 is gone", true);
            ended(&mut coordinator, 0, &[lost]);
            coordinator.on_exit(1, ProcessExit::Signal(9));
            assert_eq!(fails(coordinator), "pe 1 (B): killed by signal 9 (SIGKILL)");
        }
    }

    #[test]
    fn a_failure_of_an_operator_is_the_cause_and_lost_edges_are_not() {
        let mut coordinator = running();
        ended(&mut coordinator, 0, &[("receiver 0 is gone", true)]);
        ended(
            &mut coordinator,
            1,
            &[("Main.spl:1:2: Bad: division by zero", false)],
        );
        assert_eq!(
            fails(coordinator),
            "pe 1: Main.spl:1:2: Bad: division by zero"
        );
    }

    #[test]
    fn a_lost_edge_is_the_cause_if_there_is_no_other() {
        let mut coordinator = running();
        ended(&mut coordinator, 0, &[("connection reset", true)]);
        ended(&mut coordinator, 1, &[]);
        assert_eq!(fails(coordinator), "pe 0: connection reset");
    }

    #[test]
    fn who_does_not_end_after_a_failure_is_killed() {
        let mut coordinator = running();
        coordinator.on_exit(0, ProcessExit::Status(101));
        assert_eq!(told(&mut coordinator), ["1: Stop"]);
        let deadline = coordinator.deadline().unwrap();
        let actions = coordinator.take_actions(deadline);
        assert!(
            matches!(actions[..], [CoordinatorAction::Kill(1)]),
            "{actions:?}"
        );
        assert_eq!(coordinator.deadline(), None);
        coordinator.on_exit(1, ProcessExit::Signal(9));
        let message = "pe 0 (A): ended with status 101 and without a word";
        assert_eq!(fails(coordinator), message);
    }

    #[test]
    fn whoever_makes_no_sense_is_killed() {
        let wrong = CrossingTicket {
            link: 0,
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
            coordinator.on_message(0, MessageFromPe::Ended(PeEnding::default()), Vec::new());
            coordinator.on_message(0, message, Vec::new());
            assert_eq!(told(&mut coordinator), ["0: kill"]);
        }
    }

    #[test]
    fn a_pe_that_ends_before_the_job_has_begun_fails_it() {
        let mut coordinator = JobCoordinator::new(&plan());
        ended(&mut coordinator, 0, &[]);
        assert_eq!(told(&mut coordinator), ["1: Stop"]);
        ended(&mut coordinator, 1, &[]);
        assert!(fails(coordinator).starts_with("internal error: pe 0"));
    }
}
