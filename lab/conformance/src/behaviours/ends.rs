//! How ends end.

use std::fs;

use transport::Error;

use crate::child::{TestFailure, TestOutcome};
use crate::ensure;
use crate::rig::Rig;
use crate::script::Script;

pub fn a_sender_that_is_drained_and_dropped_is_lost(rig: Rig) -> TestOutcome {
    for count in [0, 1, 500] {
        let mut edge = rig.edge(1, Script::mixed(100))?;
        edge.pass(count)?;
        edge.drain()?;
        edge.ends()?;
    }
    Ok(())
}

pub fn a_sender_that_is_dropped_loses_no_tail(rig: Rig) -> TestOutcome {
    for tail in [1, 7, 100] {
        let mut edge = rig.edge(1, Script::mixed(300))?;
        edge.pass(33)?;
        edge.sender.put(tail)?;
        edge.sender.flush()?;
        edge.ends()?;
    }
    Ok(())
}

pub fn a_lost_sender_stays_lost(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(64))?;
    edge.pass(10)?;
    edge.drain()?;
    drop(edge.sender);
    let receiver = &mut edge.receivers[0];
    receiver.until_lost()?;
    for _ in 0..10 {
        let is_lost = matches!(receiver.end.poll(), Err(Error::PeerLost(_)));
        ensure!(is_lost, "after its loss the sender is there again");
        receiver.end.release();
    }
    Ok(())
}

pub fn a_dropped_receiver_is_noticed(rig: Rig) -> TestOutcome {
    for before in [0, 1, 2000] {
        let mut edge = rig.edge(1, Script::of(500))?;
        edge.pass(before)?;
        edge.sender.put(3)?;
        edge.receivers.clear();
        edge.sender.until_lost()?;
        let lost = edge.sender.out.lost_receivers();
        ensure!(lost == [0], "receivers {lost:?} are lost, it was 0");
    }
    Ok(())
}

/// A sender that claims, but has nothing to commit, learns that no receiver is left.
pub fn claims_alone_tell_of_the_last_receivers_end(rig: Rig) -> TestOutcome {
    for before in [0, 20] {
        let mut edge = rig.edge(1, Script::of(64))?;
        edge.pass(before)?;
        edge.drain()?;
        let out = &mut edge.sender.out;
        rig.until("room in an empty edge", || Ok(out.claim(8)?.map(drop)))?;
        edge.receivers.clear();
        edge.sender.until_claims_tell()?;
        let lost = edge.sender.out.lost_receivers();
        ensure!(lost == [0], "receivers {lost:?} are lost, it was 0");
    }
    Ok(())
}

pub fn a_lost_receiver_stays_lost(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(64))?;
    edge.pass(10)?;
    edge.receivers.clear();
    edge.sender.until_lost()?;
    for _ in 0..10 {
        let is_lost = matches!(edge.sender.out.claim(8), Err(Error::PeerLost(_)));
        ensure!(is_lost, "after its loss the receiver is there again");
    }
    Ok(())
}

/// A sender that lingers until every frame is released must not wait when no receiver is left.
pub fn an_edge_without_receivers_is_drained(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(64))?;
    edge.pass(1)?;
    edge.sender.put(5)?;
    edge.receivers.clear();
    let out = &mut edge.sender.out;
    rig.until("drained, or word of the receiver's end", || {
        let is_over = match out.is_drained() {
            Err(Error::PeerLost(_)) => true,
            is_drained => is_drained?,
        };
        Ok(is_over.then_some(()))
    })
}

/// Descriptors and threads of this process; the test runs in one of its own.
pub fn nothing_is_left_behind(rig: Rig) -> TestOutcome {
    crate::play::run_alone(rig, "nothing_is_left_behind_alone")
}

/// In a process of its own.
pub fn nothing_is_left_behind_alone(rig: Rig) -> TestOutcome {
    use_an_edge(rig)?;
    let before = left()?;
    (0..20).try_for_each(|_| use_an_edge(rig))?;
    rig.until("everything given back", || {
        Ok((left()? <= before).then_some(()))
    })
}

fn use_an_edge(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(64))?;
    edge.pass(10)?;
    edge.sender.put(5)?;
    drop(edge.sender);
    edge.receivers.clear();
    let mut edge = rig.edge(1, Script::of(64))?;
    edge.sender.put(5)?;
    edge.receivers.clear();
    drop(edge.sender);
    let (_, unused) = rig.open(&rig.spec(1), Script::of(8))?;
    drop(unused);
    Ok(())
}

/// Threads and descriptors. Memory is mapped through descriptors, or not at all.
fn left() -> Result<(usize, usize), TestFailure> {
    let count = |of: &str| fs::read_dir(of).map(Iterator::count);
    Ok((count("/proc/self/task")?, count("/proc/self/fd")?))
}
