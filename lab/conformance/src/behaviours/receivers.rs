//! Edges with several receivers.

use crate::child::TestOutcome;
use crate::ensure;
use crate::rig::{Rig, RigEdge, is_ready};
use crate::script::Script;

pub fn every_receiver_gets_every_frame(rig: Rig) -> TestOutcome {
    for receivers in [2, 3, 6] {
        let mut edge = rig.edge(receivers, Script::mixed(300))?;
        for count in (1..40).chain([3000]) {
            edge.pass(count)?;
        }
        edge.drain()?;
        edge.ends()?;
    }
    Ok(())
}

/// The fast receiver has released every frame when the edge is full of frames that the slow one has
/// not taken.
pub fn the_slowest_receiver_sets_the_pace(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(2, Script::of(400))?;
    edge.pass(10)?;
    for _ in 0..5 {
        edge.sender.put(5)?;
        edge.sender.flush()?;
        let sent = edge.sender.sent;
        edge.receivers[1].take_until(sent)?;
        let queued = edge.sender.out.queued_bytes();
        ensure!(
            queued >= 5 * 400,
            "{queued} bytes, the slow receiver has more"
        );
        ensure!(
            !edge.sender.out.is_drained()?,
            "the slow receiver has frames"
        );
        edge.sender.fill()?;
        let sent = edge.sender.sent;
        let (out, fast) = (&mut edge.sender.out, &mut edge.receivers[0]);
        rig.until("a frame that a slower receiver has not taken", || {
            out.flush()?;
            fast.take()?;
            Ok((fast.got == sent).then_some(()))
        })?;
        edge.drain()?;
    }
    edge.ends()
}

pub fn a_dead_receiver_is_not_waited_for(rig: Rig) -> TestOutcome {
    for dead in [0, 1, 2] {
        let mut edge = rig.edge(3, Script::mixed(900))?;
        edge.pass(50)?;
        edge.sender.put(3)?;
        edge.receivers.remove(dead);
        edge.pass(5000)?;
        edge.drain()?;
        let lost = edge.sender.out.lost_receivers();
        ensure!(lost == [dead as u32], "{lost:?} are lost, it was {dead}");
        edge.ends()?;
    }
    Ok(())
}

pub fn the_last_receivers_end_is_said(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(2, Script::of(600))?;
    edge.pass(50)?;
    edge.receivers.remove(0);
    edge.pass(2000)?;
    edge.receivers.clear();
    edge.sender.until_lost()?;
    let mut lost = edge.sender.out.lost_receivers().to_vec();
    lost.sort_unstable();
    ensure!(lost == [0, 1], "{lost:?} are lost, both are");
    Ok(())
}

pub fn every_sleeping_receiver_is_woken(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(3, Script::mixed(100))?;
    edge.pass(5)?;
    for _ in 0..100 {
        edge.drain()?;
        let mut armed = Vec::new();
        for receiver in &mut edge.receivers {
            armed.push(receiver.end.arm()?);
        }
        edge.sender.put(1)?;
        for (receiver, is_armed) in edge.receivers.iter_mut().zip(armed) {
            let is_awake = !is_armed || is_ready(&*receiver.end, rig.patience)?;
            receiver.end.disarm();
            ensure!(is_awake, "one of the sleeping receivers was not woken");
            receiver.take_asleep_until(edge.sender.sent)?;
        }
    }
    Ok(())
}

/// The fast receiver has released every frame; the sender sleeps until the slow one takes some, or
/// goes.
pub fn the_slowest_receiver_wakes_the_sender(rig: Rig) -> TestOutcome {
    for goes in [false, true] {
        for _ in 0..10 {
            let RigEdge {
                mut sender,
                mut receivers,
            } = rig.edge(2, Script::of(1000))?;
            sender.fill()?;
            let (sent, fast) = (sender.sent, &mut receivers[0]);
            rig.until("a frame that a slower receiver has not taken", || {
                sender.out.flush()?;
                fast.take()?;
                Ok((fast.got == sent).then_some(()))
            })?;
            sender.fill()?;
            let is_armed = sender.out.arm()?;
            match goes {
                true => drop(receivers.pop()),
                false => receivers[1].take_until(sent)?,
            }
            let is_awake = !is_armed || is_ready(&*sender.out, rig.patience)?;
            sender.out.disarm();
            ensure!(is_awake, "the last receiver made room and woke nobody");
            sender.put_asleep(1)?;
            let mut edge = RigEdge { sender, receivers };
            edge.drain()?;
        }
    }
    Ok(())
}
