//! What the launcher makes of what it hears: the life of a job of several PEs, without its sockets.
//!
//! ```text
//!   each PE:   Opening --Opened--> Opened --Ready--> Ready --Ended--> Over --process--> Gone
//!   the job:   all opened: Accept · all ready: Go · one fails: Stop, and after a while Kill
//! ```
//!
//! # Invariants
//! A PE is told nothing after it has ended. `Go` is said at most once, to all; `Stop` at most once to
//! each.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use graph::{Crossing, Plan};

use super::outcome::{Cause, Exit, Outcome};
use crate::control::{Ending, FromPe, Ticket, ToPe};

/// How long a PE may take to end after the job has failed, or to exit after it said that it is over.
pub const GRACE: Duration = Duration::from_secs(2);

/// The state of a job.
pub struct Conduct {
    /// The sending PE of each link, and its receivers.
    links: Vec<(u32, Vec<u32>)>,
    members: Vec<Member>,
    /// `Go` was said.
    is_running: bool,
    /// Somebody asked for an orderly shutdown.
    is_stopping: bool,
    outcome: Outcome,
    actions: Vec<Action>,
}

/// What is to be done.
#[derive(Debug)]
pub enum Action {
    /// A PE is to be told something, with descriptors.
    Tell(u32, ToPe, Vec<OwnedFd>),
    /// A PE is to be killed.
    Kill(u32),
}

struct Member {
    stage: Stage,
    /// It was told to stop.
    is_stopped: bool,
    /// It is killed if it is still there then.
    deadline: Option<Instant>,
    /// It was killed by the launcher.
    is_killed: bool,
    /// What happened to the connection to it.
    lost: Option<String>,
    /// What its sources have sent.
    counts: Vec<(String, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Opening,
    Opened,
    Ready,
    Over,
    Gone,
}

impl Conduct {
    /// A job whose PEs were just told to begin.
    pub fn new(plan: &Plan) -> Conduct {
        let sender = |crossing: &Crossing| {
            let from = crossing.from.operator;
            let pe = plan.pes.iter().position(|pe| pe.operators.contains(&from));
            pe.map_or(u32::MAX, |pe| pe as u32)
        };
        let links = plan.crossings.iter();
        let member = || Member {
            stage: Stage::Opening,
            is_stopped: false,
            deadline: None,
            is_killed: false,
            lost: None,
            counts: Vec::new(),
        };
        Conduct {
            links: links.map(|c| (sender(c), c.to.clone())).collect(),
            members: plan.pes.iter().map(|_| member()).collect(),
            is_running: false,
            is_stopping: false,
            outcome: Outcome::default(),
            actions: Vec::new(),
        }
    }

    /// A PE has said something.
    pub fn heard(&mut self, pe: u32, message: FromPe, fds: Vec<OwnedFd>) {
        match message {
            FromPe::Ticket(ticket) => self.hand_on(pe, ticket, fds),
            FromPe::Opened => self.advance(pe, Stage::Opened, ToPe::Accept),
            FromPe::Ready => self.advance(pe, Stage::Ready, ToPe::Go),
            FromPe::Stopping => self.stop(),
            FromPe::Counts(counts) => self.counted(pe, counts),
            FromPe::Ended(ending) => self.over(pe, ending),
        }
        if self.is_stopping && self.is_running {
            self.stop_all();
        }
    }

    /// A PE's sources have sent so much.
    pub fn counted(&mut self, pe: u32, counts: Vec<(String, u64)>) {
        self.member(pe).counts = counts;
    }

    /// What a PE has sent makes no sense.
    pub fn nonsense(&mut self, pe: u32, what: &str) {
        if self.member(pe).stage < Stage::Over {
            self.outcome.add(pe, Cause::Nonsense(what.to_owned()));
            self.fail();
        }
        self.kill(pe);
    }

    /// A PE has closed its connection: its process is about to end.
    pub fn closed(&mut self, pe: u32) {
        let deadline = Instant::now() + GRACE;
        self.member(pe).deadline.get_or_insert(deadline);
    }

    /// The connection to a PE is of no use any more: its process is about to end, and else is killed.
    pub fn lost(&mut self, pe: u32, how: String) {
        let deadline = Instant::now() + GRACE;
        let member = self.member(pe);
        if member.stage < Stage::Gone {
            member.lost.get_or_insert(how);
            member.deadline.get_or_insert(deadline);
        }
    }

    /// A PE's process has ended.
    pub fn gone(&mut self, pe: u32, exit: Exit) {
        let has_causes = self.outcome.has_causes();
        let member = self.member(pe);
        let is_consequence = member.is_killed && has_causes;
        let cause = match (member.lost.take(), exit) {
            (None, _) if member.is_killed => Cause::Unended,
            (None, _) => Cause::Death(exit),
            (Some(_), _) if !member.is_killed && exit.breaks_connection() => Cause::Death(exit),
            (Some(how), _) => Cause::Lost(how, exit),
        };
        let is_death = member.stage < Stage::Over && !is_consequence;
        member.stage = Stage::Gone;
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
    pub fn count(&mut self) {
        if self.is_running {
            self.tell_all(|| ToPe::Count, |_| true);
        }
    }

    /// What is to be done now.
    pub fn actions(&mut self, now: Instant) -> Vec<Action> {
        for pe in 0..self.members.len() as u32 {
            if self.member(pe).deadline.is_some_and(|at| at <= now) {
                self.kill(pe);
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// When to ask for actions again, even if nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.members.iter().filter_map(|m| m.deadline).min()
    }

    /// Whether `Go` was said.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether all processes have ended.
    pub fn is_over(&self) -> bool {
        self.members.iter().all(|m| m.stage == Stage::Gone)
    }

    /// How many tuples each source has sent.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let counts = self.members.iter().flat_map(|m| &m.counts);
        counts.cloned().collect()
    }

    /// How it ended.
    pub fn into_outcome(self) -> Outcome {
        self.outcome
    }

    fn member(&mut self, pe: u32) -> &mut Member {
        &mut self.members[pe as usize]
    }

    fn hand_on(&mut self, pe: u32, ticket: Ticket, fds: Vec<OwnedFd>) {
        let link = self.links.get(ticket.link as usize);
        let link = link.filter(|(sender, _)| *sender == pe);
        let to = link.and_then(|(_, to)| to.get(ticket.receiver as usize));
        match to.copied() {
            Some(to) => self.tell(to, ToPe::Ticket(ticket), fds),
            None => self.nonsense(pe, "a ticket for an edge that is not its own"),
        }
    }

    /// A PE has reached a stage; when all have, they are told what is next.
    fn advance(&mut self, pe: u32, stage: Stage, next: ToPe) {
        if self.member(pe).stage >= stage {
            return self.nonsense(pe, "the same step twice");
        }
        self.member(pe).stage = stage;
        if self.members.iter().all(|m| m.stage == stage) {
            self.is_running |= stage == Stage::Ready;
            for pe in 0..self.members.len() as u32 {
                let next = match next {
                    ToPe::Go => ToPe::Go,
                    _ => ToPe::Accept,
                };
                self.tell(pe, next, Vec::new());
            }
        }
    }

    fn over(&mut self, pe: u32, ending: Ending) {
        let is_early = !self.is_running && !self.member(pe).is_stopped;
        let member = self.member(pe);
        if member.stage >= Stage::Over {
            return self.nonsense(pe, "two endings");
        }
        member.stage = Stage::Over;
        member.deadline = Some(Instant::now() + GRACE);
        self.outcome.left_over(&ending.leftovers);
        if !ending.failures.is_empty() || ending.is_quiet {
            self.outcome.add(pe, Cause::Ending(ending));
            self.fail();
        } else if is_early {
            let what = "an ending before the job has begun".to_owned();
            self.outcome.add(pe, Cause::Nonsense(what));
            self.fail();
        }
    }

    /// The job has failed: nobody is to go on, and not for long.
    fn fail(&mut self) {
        self.stop_all();
        let deadline = Instant::now() + GRACE;
        for member in &mut self.members {
            if member.stage < Stage::Gone {
                member.deadline.get_or_insert(deadline);
            }
        }
    }

    fn stop_all(&mut self) {
        self.tell_all(
            || ToPe::Stop,
            |m| !std::mem::replace(&mut m.is_stopped, true),
        );
    }

    fn tell_all(&mut self, message: fn() -> ToPe, mut wanted: impl FnMut(&mut Member) -> bool) {
        for pe in 0..self.members.len() as u32 {
            if wanted(self.member(pe)) {
                self.tell(pe, message(), Vec::new());
            }
        }
    }

    fn tell(&mut self, pe: u32, message: ToPe, fds: Vec<OwnedFd>) {
        if self.member(pe).stage < Stage::Over {
            self.actions.push(Action::Tell(pe, message, fds));
        }
    }

    fn kill(&mut self, pe: u32) {
        let member = self.member(pe);
        member.deadline = None;
        if member.stage < Stage::Gone && !member.is_killed {
            member.is_killed = true;
            self.actions.push(Action::Kill(pe));
        }
    }
}

#[cfg(test)]
mod tests {
    use graph::{Codec, Edge, OperatorId, Pe};

    use super::*;
    use crate::Error;
    use crate::control::Failure;
    use crate::pe::CUT_OFF;

    /// Two PEs; operator 0 in the first, 1 in the second, a link between them.
    fn plan() -> Plan {
        let pe = |operator| Pe {
            operators: vec![OperatorId(operator)],
            ..Pe::default()
        };
        let from = Edge {
            operator: OperatorId(0),
            port: 0,
        };
        let crossing = Crossing {
            from,
            to: vec![1],
            medium: "shm".into(),
            codec: Codec::Facade,
            ring_bytes: None,
            batch: None,
        };
        Plan {
            pes: vec![pe(0), pe(1)],
            crossings: vec![crossing],
        }
    }

    fn told(conduct: &mut Conduct) -> Vec<String> {
        let actions = conduct.actions(Instant::now()).into_iter();
        let said = actions.map(|action| match action {
            Action::Tell(pe, message, _) => format!("{pe}: {message:?}"),
            Action::Kill(pe) => format!("{pe}: kill"),
        });
        said.collect()
    }

    fn running() -> Conduct {
        let mut conduct = Conduct::new(&plan());
        for step in [|| FromPe::Opened, || FromPe::Ready] {
            conduct.heard(1, step(), Vec::new());
            conduct.heard(0, step(), Vec::new());
        }
        assert!(conduct.is_running());
        told(&mut conduct);
        conduct
    }

    fn fails(conduct: Conduct) -> String {
        assert!(conduct.is_over());
        let labels = ["pe 0 (A)", "pe 1 (B)"].map(str::to_owned);
        match conduct.into_outcome().into_result(&labels) {
            Err(Error::Program(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pe_that_cannot_be_reached_is_killed_after_a_while_and_said_to_be() {
        let mut conduct = running();
        conduct.lost(1, "Broken pipe".to_owned());
        assert!(told(&mut conduct).is_empty(), "it may be about to die");
        let late = Instant::now() + GRACE;
        let actions = conduct.actions(late);
        assert!(matches!(actions[..], [Action::Kill(1)]), "{actions:?}");
        conduct.gone(1, Exit::Signal(9));
        ended(&mut conduct, 0, &[]);
        conduct.gone(0, Exit::Status(0));
        let why = fails(conduct);
        assert_eq!(why, "the connection to pe 1 (B) broke: Broken pipe");
    }

    #[test]
    fn a_death_explains_a_connection_that_is_lost() {
        let broken = "the connection to pe 1 (B) broke: Broken pipe";
        let cut_off = format!("{broken}; it ended with status 3");
        let cases = [
            (Exit::Signal(11), "pe 1 (B): killed by signal 11 (SIGSEGV)"),
            (
                Exit::Status(1),
                "pe 1 (B): ended with status 1 and without a word",
            ),
            (Exit::Status(0), broken),
            (Exit::Status(CUT_OFF), &cut_off),
        ];
        for (exit, sentence) in cases {
            let mut conduct = running();
            conduct.lost(1, "Broken pipe".to_owned());
            conduct.gone(1, exit);
            ended(&mut conduct, 0, &[]);
            assert_eq!(fails(conduct), sentence);
        }
    }

    #[test]
    fn a_pe_that_closes_its_connection_and_stays_is_killed() {
        let mut conduct = running();
        conduct.closed(1);
        let actions = conduct.actions(Instant::now() + GRACE);
        assert!(matches!(actions[..], [Action::Kill(1)]), "{actions:?}");
        conduct.gone(1, Exit::Signal(9));
        ended(&mut conduct, 0, &[]);
        let sentence = "pe 1 (B) has closed its connection, and did not end";
        assert_eq!(fails(conduct), sentence);
    }

    fn ended(conduct: &mut Conduct, pe: u32, failures: &[(&str, bool)]) {
        let failures = failures.iter().map(|&(line, is_crossing)| Failure {
            line: line.to_owned(),
            is_crossing,
        });
        let ending = Ending {
            failures: failures.collect(),
            ..Ending::default()
        };
        conduct.heard(pe, FromPe::Ended(ending), Vec::new());
        conduct.closed(pe);
        conduct.gone(pe, Exit::Status(0));
    }

    #[test]
    fn a_job_begins_when_all_are_ready_and_tickets_have_reached_their_receivers() {
        let mut conduct = Conduct::new(&plan());
        let ticket = Ticket {
            link: 0,
            receiver: 0,
            bytes: vec![7],
        };
        conduct.heard(0, FromPe::Ticket(ticket), Vec::new());
        conduct.heard(0, FromPe::Opened, Vec::new());
        let handed = "1: Ticket(Ticket { link: 0, receiver: 0, bytes: [7] })";
        assert_eq!(told(&mut conduct), [handed]);
        conduct.heard(1, FromPe::Opened, Vec::new());
        assert_eq!(told(&mut conduct), ["0: Accept", "1: Accept"]);
        conduct.stop();
        conduct.heard(1, FromPe::Ready, Vec::new());
        assert_eq!(told(&mut conduct), [""; 0]);
        conduct.heard(0, FromPe::Ready, Vec::new());
        assert_eq!(told(&mut conduct), ["0: Go", "1: Go", "0: Stop", "1: Stop"]);
    }

    #[test]
    fn a_shutdown_in_one_pe_stops_all_once() {
        let mut conduct = running();
        conduct.heard(1, FromPe::Stopping, Vec::new());
        conduct.heard(0, FromPe::Stopping, Vec::new());
        conduct.stop();
        assert_eq!(told(&mut conduct), ["0: Stop", "1: Stop"]);
        assert_eq!(conduct.deadline(), None, "it may take its time");
        ended(&mut conduct, 0, &[]);
        ended(&mut conduct, 1, &[]);
        assert!(conduct.is_over());
        let outcome = conduct.into_outcome();
        outcome.into_result(&[]).unwrap();
    }

    #[test]
    fn a_death_is_the_cause_and_what_follows_from_it_is_not() {
        for is_first in [true, false] {
            let mut conduct = running();
            if is_first {
                conduct.gone(1, Exit::Signal(9));
            }
            let lost = ("Send: receiver 0 is gone", true);
            ended(&mut conduct, 0, &[lost]);
            conduct.gone(1, Exit::Signal(9));
            assert_eq!(fails(conduct), "pe 1 (B): killed by signal 9 (SIGKILL)");
        }
    }

    #[test]
    fn a_failure_of_an_operator_is_the_cause_and_lost_edges_are_not() {
        let mut conduct = running();
        ended(&mut conduct, 0, &[("receiver 0 is gone", true)]);
        ended(
            &mut conduct,
            1,
            &[("Main.spl:1:2: Bad: division by zero", false)],
        );
        assert_eq!(fails(conduct), "pe 1: Main.spl:1:2: Bad: division by zero");
    }

    #[test]
    fn a_lost_edge_is_the_cause_if_there_is_no_other() {
        let mut conduct = running();
        ended(&mut conduct, 0, &[("connection reset", true)]);
        ended(&mut conduct, 1, &[]);
        assert_eq!(fails(conduct), "pe 0: connection reset");
    }

    #[test]
    fn who_does_not_end_after_a_failure_is_killed() {
        let mut conduct = running();
        conduct.gone(0, Exit::Status(101));
        assert_eq!(told(&mut conduct), ["1: Stop"]);
        let deadline = conduct.deadline().unwrap();
        let actions = conduct.actions(deadline);
        assert!(matches!(actions[..], [Action::Kill(1)]), "{actions:?}");
        assert_eq!(conduct.deadline(), None);
        conduct.gone(1, Exit::Signal(9));
        let message = "pe 0 (A): ended with status 101 and without a word";
        assert_eq!(fails(conduct), message);
    }

    #[test]
    fn whoever_makes_no_sense_is_killed() {
        let wrong = Ticket {
            link: 0,
            receiver: 1,
            bytes: Vec::new(),
        };
        let messages = [
            FromPe::Ticket(wrong),
            FromPe::Ready,
            FromPe::Ended(Ending::default()),
        ];
        for message in messages {
            let mut conduct = running();
            conduct.heard(0, FromPe::Ended(Ending::default()), Vec::new());
            conduct.heard(0, message, Vec::new());
            assert_eq!(told(&mut conduct), ["0: kill"]);
        }
    }

    #[test]
    fn a_pe_that_ends_before_the_job_has_begun_fails_it() {
        let mut conduct = Conduct::new(&plan());
        ended(&mut conduct, 0, &[]);
        assert_eq!(told(&mut conduct), ["1: Stop"]);
        ended(&mut conduct, 1, &[]);
        assert!(fails(conduct).starts_with("internal error: pe 0"));
    }
}
