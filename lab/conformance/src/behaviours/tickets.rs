//! Tickets: which are refused, and that the edge goes on.

use std::os::fd::OwnedFd;

use transport::{EdgeSpec, EdgeTicket, Error, ReceivingEnd};

use crate::child::{TestFailure, TestOutcome};
use crate::rig::{Rig, RigEdge};
use crate::script::Script;

/// A ticket with other bytes and the same descriptors.
fn copy(ticket: &EdgeTicket, bytes: &[u8]) -> Result<EdgeTicket, TestFailure> {
    let fds: Result<Vec<OwnedFd>, _> = ticket.fds.iter().map(OwnedFd::try_clone).collect();
    let bytes = bytes.to_vec();
    Ok(EdgeTicket { bytes, fds: fds? })
}

/// The receiver that the ticket makes never gets a frame and is told so, while the edge goes on.
fn gets_nothing(
    rig: Rig,
    what: &str,
    accepted: Result<Box<dyn ReceivingEnd>, Error>,
    mut go_on: impl FnMut() -> TestOutcome,
) -> TestOutcome {
    let Ok(mut end) = accepted else {
        return Ok(());
    };
    rig.until(&format!("{what} is refused"), || {
        go_on()?;
        match end.poll() {
            Err(Error::Refused(_) | Error::PeerLost(_)) => Ok(Some(())),
            Err(error) => Err(error.into()),
            Ok(batch) if batch.is_empty() => Ok(None),
            Ok(_) => Err(format!("{what} gets frames").into()),
        }
    })
}

/// Every way in which a ticket may be broken.
fn garbled(ticket: &EdgeTicket) -> Result<Vec<(String, EdgeTicket)>, TestFailure> {
    let bytes = &ticket.bytes;
    let mut all = Vec::new();
    for at in 0..bytes.len() {
        all.push((format!("a ticket cut at {at}"), copy(ticket, &bytes[..at])?));
        let mut changed = copy(ticket, bytes)?;
        changed.bytes[at] ^= 0x41;
        all.push((format!("a ticket with byte {at} changed"), changed));
    }
    let more = [bytes, &b"?"[..]].concat();
    all.push(("a ticket with more to it".to_owned(), copy(ticket, &more)?));
    if !ticket.fds.is_empty() {
        let mut bare = copy(ticket, bytes)?;
        bare.fds.clear();
        all.push(("a ticket without its descriptors".to_owned(), bare));
    }
    Ok(all)
}

pub fn a_garbled_ticket_is_refused(rig: Rig) -> TestOutcome {
    let (spec, script) = (rig.spec(1), Script::of(64));
    let (sender, mut tickets) = rig.open(&spec, script)?;
    for (what, ticket) in garbled(&tickets[0])? {
        match rig.medium.accept(&spec, ticket) {
            Err(Error::Refused(_)) => {}
            Err(error) => return Err(format!("{what}: {error}").into()),
            Ok(_) => return Err(format!("{what} is accepted").into()),
        }
    }
    let receivers = vec![rig.accept(&spec, tickets.remove(0), script)?];
    RigEdge { sender, receivers }.pass(100)
}

pub fn a_ticket_works_once(rig: Rig) -> TestOutcome {
    let (spec, script) = (rig.spec(1), Script::of(64));
    let (sender, mut tickets) = rig.open(&spec, script)?;
    let ticket = tickets.remove(0);
    let (early, late) = (copy(&ticket, &ticket.bytes)?, copy(&ticket, &ticket.bytes)?);
    let receivers = vec![rig.accept(&spec, ticket, script)?];
    let mut edge = RigEdge { sender, receivers };
    for again in [early, late] {
        let accepted = rig.medium.accept(&spec, again);
        gets_nothing(rig, "a used ticket", accepted, || edge.pass(3))?;
        edge.pass(3)?;
    }
    Ok(())
}

pub fn another_jobs_ticket_is_refused(rig: Rig) -> TestOutcome {
    let (spec, script) = (rig.spec(1), Script::of(64));
    let (mut sender, tickets) = rig.open(&spec, script)?;
    let token = *b"another job's 16";
    let others = EdgeSpec {
        token,
        ..spec.clone()
    };
    let accepted = rig
        .medium
        .accept(&others, copy(&tickets[0], &tickets[0].bytes)?);
    gets_nothing(rig, "another job's ticket", accepted, || {
        sender.out.flush()?;
        Ok(())
    })
}
