//! Frames that compiled code writes in place, on media that grant room for it.

use std::thread;

use crate::child::{TestFailure, TestOutcome};
use crate::compiled::{Compiled, addresses};
use crate::ensure;
use crate::rig::{RING_BYTES, Receiver, Rig, RigEdge, is_ready, lost};
use crate::script::Script;

const FRAMES: u64 = 3000;

/// An edge whose sending end compiled code uses too, and on which there is room at hand.
fn edge(
    rig: Rig,
    receivers: u32,
    script: Script,
) -> Result<(Compiled, Vec<Receiver>), TestFailure> {
    compiled(rig.edge(receivers, script.without_flags())?)
}

/// An edge for tests that count the frames written in place. Batches wait as long as any step may
/// take: otherwise each frame of a slow machine would be late, be sent by a call, and leave no room
/// behind.
fn patient_edge(rig: Rig, script: Script) -> Result<(Compiled, Vec<Receiver>), TestFailure> {
    let mut spec = rig.spec(1);
    (spec.batching.time_min, spec.batching.time_max) = (rig.patience, rig.patience);
    compiled(rig.edge_of(&spec, script.without_flags())?)
}

fn compiled(mut edge: RigEdge) -> Result<(Compiled, Vec<Receiver>), TestFailure> {
    edge.pass(1)?;
    edge.drain()?;
    let RigEdge { sender, receivers } = edge;
    Ok((Compiled::new(sender)?, receivers))
}

/// Whether there is room at hand when there is nothing else under way. A medium that batches may
/// want to be called then.
pub fn grants_lone_frames(rig: Rig) -> bool {
    edge(rig, 1, Script::of(48)).is_ok_and(|(mut compiled, _receivers)| compiled.put())
}

/// Everything that was sent gets to all receivers.
fn take_all(compiled: &mut Compiled, receivers: &mut [Receiver]) -> TestOutcome {
    compiled.sender.flush()?;
    let sent = compiled.sender.sent;
    receivers
        .iter_mut()
        .try_for_each(|receiver| receiver.take_until(sent))
}

/// Writes in place until there is room neither for that nor for a claim.
fn fill_up(compiled: &mut Compiled) -> TestOutcome {
    let first = compiled.sender.sent;
    while compiled.put_or_claim()? {
        ensure!(
            compiled.sender.sent - first <= RING_BYTES as u64,
            "it never runs full"
        );
    }
    Ok(())
}

/// With claims in between, round and round, whatever the lengths.
pub fn granted_frames_arrive_once_and_in_order(rig: Rig) -> TestOutcome {
    for script in [Script::of(64), Script::mixed(700), Script::rising(80)] {
        let (mut compiled, mut receivers) = patient_edge(rig, script)?;
        for turn in 0..5 * FRAMES {
            let is_put = if turn % 10 < 2 {
                compiled.sender.try_put()?
            } else {
                compiled.put_or_claim()?
            };
            if !is_put || turn % 100 == 0 {
                receivers[0].take()?;
            }
        }
        take_all(&mut compiled, &mut receivers)?;
        let granted = compiled.granted;
        ensure!(
            granted > FRAMES,
            "only {granted} frames are written in place"
        );
        let sender = compiled.sender;
        RigEdge { sender, receivers }.ends()?;
    }
    Ok(())
}

/// Frames that are not released are not overwritten.
pub fn a_grant_ends_where_the_room_ends(rig: Rig) -> TestOutcome {
    for len in [0, 8, 40, 64, 1000] {
        let (mut compiled, mut receivers) = edge(rig, 1, Script::of(len))?;
        for turn in 0..20 {
            // Not always from the same place on.
            for _ in 0..turn % 7 * (RING_BYTES / 8 / (len + 8)) {
                ensure!(compiled.put_or_claim()?, "an empty edge has room");
            }
            take_all(&mut compiled, &mut receivers)?;
            compiled.sender.drained(&mut receivers)?;
            fill_up(&mut compiled)?;
            let queued = compiled.sender.out.queued_bytes();
            ensure!(queued <= RING_BYTES, "{queued} bytes are under way");
            ensure!(!compiled.put(), "room that no claim finds");
            take_all(&mut compiled, &mut receivers)?;
            compiled.sender.drained(&mut receivers)?;
        }
    }
    Ok(())
}

pub fn granted_frames_hold_their_room_until_release(rig: Rig) -> TestOutcome {
    let (mut compiled, mut receivers) = edge(rig, 1, Script::of(100))?;
    for _ in 0..100 {
        let sent = compiled.sender.sent;
        // The first may be a call's.
        for _ in 0..4 {
            ensure!(compiled.put_or_claim()?, "an empty edge has room");
        }
        let queued = compiled.sender.out.queued_bytes();
        ensure!(queued >= 400, "{queued} bytes of 4 frames");
        while receivers[0].got < sent + 4 {
            receivers[0].poll()?;
            ensure!(!compiled.sender.out.is_drained()?, "nothing is released");
        }
        receivers[0].end.release();
        compiled.sender.drained(&mut receivers)?;
        let queued = compiled.sender.out.queued_bytes();
        ensure!(queued == 0, "{queued} bytes of no frames");
    }
    Ok(())
}

pub fn a_granted_frame_wakes_the_receiver(rig: Rig) -> TestOutcome {
    let (mut compiled, mut receivers) = edge(rig, 1, Script::of(48))?;
    let mut woken = 0;
    for _ in 0..200 {
        let receiver = &mut receivers[0];
        let is_armed = receiver.end.arm()?;
        let in_place = compiled.put();
        ensure!(in_place || compiled.sender.try_put()?, "no room");
        let is_awake = !is_armed || is_ready(&*receiver.end, rig.patience)?;
        receiver.end.disarm();
        ensure!(is_awake, "a frame was written and nobody woke the receiver");
        receiver.take_asleep_until(compiled.sender.sent)?;
        woken += u32::from(is_armed && in_place);
    }
    ensure!(woken > 0, "no frame was written for somebody asleep");
    Ok(())
}

/// Code that writes in place learns by one look whether a receiver sleeps, and only then tells the
/// sending end.
pub fn a_sleeper_is_seen_by_compiled_code(rig: Rig) -> TestOutcome {
    let (mut compiled, mut receivers) = edge(rig, 1, Script::of(48))?;
    let awake = compiled.put_silently();
    ensure!(awake == Some(false), "{awake:?}: nobody sleeps");
    receivers[0].take_until(compiled.sender.sent)?;
    ensure!(receivers[0].end.arm()?, "there is no work");
    let asleep = compiled.put_silently();
    ensure!(asleep == Some(true), "{asleep:?}: somebody sleeps");
    compiled.sender.out.wake_receivers();
    ensure!(
        is_ready(&*receivers[0].end, rig.patience)?,
        "nobody is woken"
    );
    receivers[0].end.disarm();
    receivers[0].take_until(compiled.sender.sent)
}

/// Both sides sleep whenever they can: on an edge that is full most of the time, and on one with
/// lone frames.
pub fn no_wake_up_is_lost_by_grants(rig: Rig) -> TestOutcome {
    asleep(rig, 6000, |compiled| compiled.put_asleep(5 * FRAMES))?;
    asleep(rig, 32, |compiled| {
        (0..5 * FRAMES).try_for_each(|_| {
            compiled.put_asleep(1)?;
            compiled.sender.drained(&mut [])
        })
    })
}

fn asleep(rig: Rig, len: usize, put: fn(&mut Compiled) -> TestOutcome) -> TestOutcome {
    let edge = rig.edge(1, Script::of(len).without_flags())?;
    let (sender, mut receivers) = (edge.sender, edge.receivers);
    let sends = thread::spawn(move || {
        let mut compiled = Compiled::new(sender)?;
        put(&mut compiled)?;
        compiled.sender.drained(&mut [])
    });
    let taken = receivers[0].take_asleep_until(5 * FRAMES);
    // The sending code stops when no receiver is left.
    drop(receivers);
    let sent = sends.join().map_err(|_| "the sender panicked")?;
    taken.and(sent)
}

/// The addresses of a grant are constants in compiled code.
pub fn a_grant_stays_where_it_is(rig: Rig) -> TestOutcome {
    let (mut compiled, mut receivers) = edge(rig, 1, Script::of(200))?;
    for _ in 0..3 {
        fill_up(&mut compiled)?;
        take_all(&mut compiled, &mut receivers)?;
        compiled.sender.drained(&mut receivers)?;
        let grant = compiled.sender.out.grant().ok_or("there is no grant")?;
        ensure!(addresses(grant) == compiled.addresses(), "it has moved");
    }
    Ok(())
}

pub fn a_sender_that_is_dropped_loses_no_granted_tail(rig: Rig) -> TestOutcome {
    let mut in_place = 0;
    for count in 1..50 {
        let (mut compiled, receivers) = patient_edge(rig, Script::of(56))?;
        for _ in 0..count {
            ensure!(compiled.put_or_claim()?, "no room");
        }
        in_place += compiled.granted;
        let sender = compiled.sender;
        RigEdge { sender, receivers }.ends()?;
    }
    ensure!(in_place > 0, "no room at hand");
    Ok(())
}

/// The end is not called as long as the grant has room; when it has none, the end reports the loss.
pub fn the_receivers_end_ends_the_grant(rig: Rig) -> TestOutcome {
    let (mut compiled, receivers) = edge(rig, 1, Script::of(300))?;
    drop(receivers);
    rig.until("word of the receiver's end", || {
        while compiled.put() {}
        match compiled.sender.try_put() {
            Ok(_) => Ok(None),
            Err(failure) => lost(failure).map(Some),
        }
    })
}

/// Sleeping receivers are woken, and slow ones are not overtaken.
pub fn every_receiver_gets_granted_frames(rig: Rig) -> TestOutcome {
    let (mut compiled, mut receivers) = edge(rig, 3, Script::mixed(300))?;
    for turn in 0..200 {
        let sleeper = turn % 3;
        let sent = compiled.sender.sent;
        let is_armed = receivers[sleeper].end.arm()?;
        for _ in 0..turn {
            ensure!(compiled.put_or_claim()?, "no room");
        }
        ensure!(compiled.put_or_claim()?, "no room");
        let end = &*receivers[sleeper].end;
        let is_awake = !is_armed || is_ready(end, rig.patience)?;
        ensure!(is_awake, "receiver {sleeper} is not woken");
        receivers[sleeper].end.disarm();
        ensure!(compiled.sender.sent > sent, "nothing was sent");
        take_all(&mut compiled, &mut receivers)?;
        // The receiver's credit may take a while, and the next turn wants most of the room.
        compiled.sender.drained(&mut receivers)?;
    }
    fill_up(&mut compiled)?;
    receivers[0].take_until(compiled.sender.sent)?;
    receivers[2].take_until(compiled.sender.sent)?;
    ensure!(!compiled.put_or_claim()?, "the slow one has taken nothing");
    take_all(&mut compiled, &mut receivers)?;
    let sender = compiled.sender;
    RigEdge { sender, receivers }.ends()
}
