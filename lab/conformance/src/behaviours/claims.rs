//! Claims and commits.

use transport::Error;

use crate::child::{TestFailure, TestOutcome};
use crate::ensure;
use crate::rig::{Rig, RigEdge};
use crate::script::Script;

/// A claim of `len` bytes, all of them overwritten.
fn scribble(rig: Rig, edge: &mut RigEdge, len: usize) -> TestOutcome {
    rig.until("room", || {
        let room = edge.sender.out.claim(len)?;
        Ok(room.map(|room| room.fill(0xdd)))
    })
}

/// The payload of the next frame.
fn next(rig: Rig, edge: &mut RigEdge) -> Result<Vec<u8>, TestFailure> {
    edge.sender.flush()?;
    let end = &mut edge.receivers[0].end;
    rig.until("the frame", || {
        let payload = end.poll()?.next().map(|frame| frame.bytes.to_vec());
        end.release();
        Ok(payload)
    })
}

pub fn a_second_claim_replaces_the_first(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(200))?;
    for forgotten in [0, 1, 64, 500] {
        scribble(rig, &mut edge, forgotten)?;
        scribble(rig, &mut edge, forgotten / 2)?;
        edge.pass(10)?;
    }
    edge.drain()?;
    edge.ends()
}

pub fn a_frame_may_be_shorter_than_its_claim(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(0))?;
    for (claimed, len) in [(100, 99), (100, 1), (64, 8), (1000, 0), (9, 8), (200, 200)] {
        scribble(rig, &mut edge, claimed)?;
        edge.sender.out.commit(1, 0, len);
        let payload = next(rig, &mut edge)?;
        let expected = vec![0xdd; len];
        ensure!(payload == expected, "{len} of {claimed} bytes: {payload:?}");
    }
    Ok(())
}

/// The edge goes on.
pub fn an_oversized_claim_is_refused(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(64))?;
    let largest = edge.sender.out.payload_bytes_max();
    for len in [largest + 1, largest * 2, u32::MAX as usize, usize::MAX] {
        edge.pass(1)?;
        match edge.sender.out.claim(len) {
            Err(Error::Refused(_)) => {}
            Err(error) => return Err(format!("{len} bytes: {error}").into()),
            Ok(_) => return Err(format!("{len} bytes are claimed, {largest} are allowed").into()),
        }
    }
    edge.pass(10)
}

pub fn what_is_not_committed_is_never_seen(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(48))?;
    edge.pass(20)?;
    edge.drain()?;
    scribble(rig, &mut edge, 32)?;
    edge.receivers[0].take()?;
    edge.sender.flush()?;
    edge.receivers[0].take()?;
    edge.ends()
}

pub fn put_is_claim_copy_and_commit(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(0))?;
    for len in [0, 1, 8, 100, 1000] {
        let payload: Vec<u8> = (0..len).map(|at| at as u8).collect();
        rig.until("room", || {
            let is_put = edge.sender.out.try_write(7, 9, &payload)?;
            Ok(is_put.then_some(()))
        })?;
        ensure!(next(rig, &mut edge)? == payload, "{len} bytes differ");
    }
    Ok(())
}
