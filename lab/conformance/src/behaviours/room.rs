//! Room, pace, and the time at which frames are seen.

use crate::child::TestOutcome;
use crate::ensure;
use crate::rig::Rig;
use crate::script::Script;

pub fn a_full_edge_says_so_and_has_room_again(rig: Rig) -> TestOutcome {
    for script in [Script::of(1000), Script::of(8), Script::mixed(5000)] {
        let mut edge = rig.edge(1, script)?;
        for _ in 0..3 {
            let before = edge.sender.sent;
            edge.sender.fill()?;
            ensure!(edge.sender.sent > before, "no room in an empty edge");
            edge.drain()?;
        }
        edge.ends()?;
    }
    Ok(())
}

/// A sender that waits for room cannot flush first: the room comes from the frames that it holds.
pub fn a_full_edge_drains_without_a_flush(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(120))?;
    for _ in 0..3 {
        while edge.sender.try_put()? && edge.sender.sent < 1_000_000 {}
        rig.until("room after a full edge", || {
            edge.receivers[0].take()?;
            Ok(edge.sender.try_put()?.then_some(()))
        })?;
    }
    edge.drain()
}

/// The receiver takes one frame for every few that are sent.
pub fn a_slow_receiver_gets_everything(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(2000))?;
    for turn in 0..4000 {
        edge.sender.try_put()?;
        if turn % 97 == 0 {
            edge.receivers[0].take()?;
        }
    }
    edge.drain()?;
    edge.ends()
}

pub fn what_is_polled_holds_its_room_until_release(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(200))?;
    edge.sender.put(20)?;
    edge.sender.flush()?;
    let Some(receiver) = edge.receivers.first_mut() else {
        return Err("no receiver".into());
    };
    rig.until("the frames", || {
        receiver.poll()?;
        Ok((receiver.got == 20).then_some(()))
    })?;
    for _ in 0..50 {
        ensure!(receiver.poll()? == 0, "a frame was polled twice");
        ensure!(!edge.sender.out.is_drained()?, "drained before a release");
    }
    let queued = edge.sender.out.queued_bytes();
    ensure!(queued >= 20 * 200, "{queued} bytes before a release");
    receiver.end.release();
    edge.sender.drained(&mut edge.receivers)
}

pub fn release_gives_back_only_what_was_polled(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(72))?;
    for _ in 0..50 {
        edge.sender.put(10)?;
        edge.sender.flush()?;
        edge.receivers[0].poll()?;
        edge.sender.put(10)?;
        edge.sender.flush()?;
        edge.receivers[0].end.release();
        edge.sender.put(1)?;
        edge.drain()?;
    }
    edge.receivers[0].end.release();
    edge.drain()?;
    edge.ends()
}

pub fn queued_bytes_grow_and_shrink(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(100))?;
    ensure!(edge.sender.out.queued_bytes() == 0, "bytes before a frame");
    for _ in 0..5 {
        for count in 1..=30 {
            edge.sender.put(1)?;
            let queued = edge.sender.out.queued_bytes();
            ensure!(
                queued >= count * 100,
                "{queued} bytes queued by {count} frames of 100"
            );
        }
        edge.drain()?;
        let queued = edge.sender.out.queued_bytes();
        ensure!(queued == 0, "{queued} bytes queued after the last release");
    }
    Ok(())
}

/// The sender does nothing more: it may be asleep, or in a long computation.
pub fn a_lone_frame_is_seen_without_a_flush(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(100))?;
    edge.pass(1)?;
    for _ in 0..200 {
        edge.drain()?;
        edge.sender.put(1)?;
        edge.receivers[0].take_until(edge.sender.sent)?;
    }
    Ok(())
}

pub fn a_flush_makes_everything_visible(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(200))?;
    for count in 1..100 {
        edge.sender.put(count)?;
        edge.sender.flush()?;
        edge.receivers[0].take_until(edge.sender.sent)?;
    }
    Ok(())
}
