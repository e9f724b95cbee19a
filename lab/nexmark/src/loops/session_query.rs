//! Query 11: bids of a person until a pause.

use std::collections::{BTreeMap, HashMap};
use std::io;

use super::fields::EventLine;
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;
use super::time::LAG_MS;

/// Milliseconds without a bid that end a session.
const PAUSE_MS: i64 = 10_000;

/// Seconds that are over: those from which no event is expected any more.
#[derive(Default)]
pub struct PassedSeconds {
    latest: Option<i64>,
    /// The second that passes next.
    next: i64,
}

impl PassedSeconds {
    /// Takes note of an event; false if its second is over, so that it comes too late.
    pub fn accept(&mut self, time: i64) -> bool {
        match self.latest {
            None => {
                self.latest = Some(time);
                self.next = (time - LAG_MS).div_euclid(1000);
            }
            Some(latest) => self.latest = Some(latest.max(time)),
        }
        time.div_euclid(1000) >= self.next
    }

    /// The next second that is over and was not passed yet.
    pub fn pass(&mut self) -> Option<i64> {
        let reached = (self.latest? - LAG_MS).div_euclid(1000);
        (self.next < reached).then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// Sessions that are not over.
#[derive(Default)]
pub struct Sessions {
    seconds: PassedSeconds,
    /// Sessions of a person by their first bid.
    open: HashMap<i64, Vec<BidSession>>,
    /// Persons by the second in which one of their sessions may end.
    ends: BTreeMap<i64, Vec<i64>>,
}

/// Bids without a pause between them.
#[derive(Clone, Copy)]
struct BidSession {
    first: i64,
    last: i64,
    bids: i64,
}

impl BidSession {
    fn end_second(&self) -> i64 {
        (self.last + PAUSE_MS).div_euclid(1000)
    }
}

impl QueryLoop for Sessions {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        if self.seconds.accept(bid.date_time) {
            self.add(bid.bidder, bid.date_time);
        }
        while let Some(second) = self.seconds.pass() {
            for person in self.ends.remove(&second).unwrap_or_default() {
                self.end_sessions(person, second, out)?;
            }
        }
        Ok(())
    }
}

impl Sessions {
    fn add(&mut self, person: i64, time: i64) {
        let sessions = self.open.entry(person).or_default();
        let mut session = BidSession {
            first: time,
            last: time,
            bids: 1,
        };
        if sessions.is_empty() {
            let ends = self.ends.entry(session.end_second()).or_default();
            ends.push(person);
        }
        sessions.retain(|other| {
            let is_apart = time - other.last >= PAUSE_MS || other.first - time >= PAUSE_MS;
            if !is_apart {
                session.first = session.first.min(other.first);
                session.last = session.last.max(other.last);
                session.bids += other.bids;
            }
            is_apart
        });
        sessions.push(session);
    }

    /// Writes the sessions of a person that are over with this second.
    fn end_sessions(&mut self, person: i64, second: i64, out: &mut ResultLines) -> io::Result<()> {
        let Some(sessions) = self.open.get_mut(&person) else {
            return Ok(());
        };
        for session in sessions.iter().filter(|one| one.end_second() <= second) {
            out.number(person).number(session.bids);
            out.number(session.first);
            out.number(session.last + PAUSE_MS).end()?;
        }
        sessions.retain(|one| one.end_second() > second);
        match sessions.iter().map(BidSession::end_second).min() {
            Some(end) => self.ends.entry(end).or_default().push(person),
            None => {
                self.open.remove(&person);
            }
        }
        Ok(())
    }
}
