//! Sleeping and waking.

use std::thread;
use std::time::Duration;

use transport::{Error, Waitable};

use crate::child::{TestFailure, TestOutcome};
use crate::ensure;
use crate::rig::{Receiver, Rig, RigEdge, Sender, is_ready};
use crate::script::Script;

const FRAMES: u64 = 3000;

/// Time that is long enough for a thread to fall asleep, and short enough to try again.
const NAP: Duration = Duration::from_millis(3);

/// Naps that an end without work takes one behind the other: together longer than the times at
/// which IO threads look after ends.
const NAPS: u32 = 5;

pub fn a_frame_wakes_the_receiver(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(100))?;
    edge.pass(1)?;
    for _ in 0..200 {
        edge.drain()?;
        let receiver = &mut edge.receivers[0];
        let is_armed = receiver.end.arm()?;
        edge.sender.put(1)?;
        let is_awake = !is_armed || is_ready(&*receiver.end, rig.patience)?;
        receiver.end.disarm();
        ensure!(is_awake, "a frame came and nobody woke the receiver");
        receiver.take_asleep_until(edge.sender.sent)?;
    }
    Ok(())
}

pub fn room_wakes_the_sender(rig: Rig) -> TestOutcome {
    for len in [16, 1000, 5000] {
        let mut edge = rig.edge(1, Script::of(len))?;
        for _ in 0..20 {
            edge.sender.fill()?;
            let is_armed = edge.sender.out.arm()?;
            let mut receiver = edge.receivers.remove(0);
            let sent = edge.sender.sent;
            let takes = thread::spawn(move || receiver.take_until(sent).map(|()| receiver));
            let is_awake = !is_armed || is_ready(&*edge.sender.out, rig.patience)?;
            edge.sender.out.disarm();
            ensure!(is_awake, "there is room and nobody woke the sender");
            edge.sender.put_asleep(1)?;
            let receiver = takes.join().map_err(|_| "the receiver panicked")?;
            edge.receivers.push(receiver?);
            edge.drain()?;
        }
    }
    Ok(())
}

pub fn the_senders_end_wakes_the_receiver(rig: Rig) -> TestOutcome {
    for _ in 0..20 {
        let mut edge = rig.edge(1, Script::of(64))?;
        edge.pass(3)?;
        edge.drain()?;
        let mut receiver = edge.receivers.remove(0);
        let is_armed = receiver.end.arm()?;
        drop(edge.sender);
        let is_awake = !is_armed || is_ready(&*receiver.end, rig.patience)?;
        receiver.end.disarm();
        ensure!(is_awake, "the sender went and nobody woke the receiver");
        rig.asleep_until(
            "word of the sender's end",
            &mut *receiver.end,
            |end| match end.poll() {
                Err(Error::PeerLost(_)) => Ok(true),
                polled => Ok(polled.map(|_| false)?),
            },
        )?;
    }
    Ok(())
}

pub fn the_receivers_end_wakes_the_sender(rig: Rig) -> TestOutcome {
    for _ in 0..10 {
        let mut edge = rig.edge(1, Script::of(2000))?;
        edge.pass(3)?;
        edge.sender.fill()?;
        let mut out = edge.sender.out;
        let is_armed = out.arm()?;
        edge.receivers.clear();
        let is_awake = !is_armed || is_ready(&*out, rig.patience)?;
        out.disarm();
        ensure!(is_awake, "the receiver went and nobody woke the sender");
        rig.asleep_until("word of the receiver's end", &mut *out, |out| {
            match out.try_write(1, 0, &[0; 2000]) {
                Err(Error::PeerLost(_)) => Ok(true),
                put => Ok(put.map(|_| false)?),
            }
        })?;
    }
    Ok(())
}

/// With work, `arm` returns `false`, or a polled descriptor is ready at once.
pub fn work_keeps_an_end_awake(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(100))?;
    for _ in 0..100 {
        edge.pass(1)?;
        edge.sender.put(3)?;
        edge.sender.flush()?;
        rig.sleep(&mut *edge.receivers[0].end)?;
        ensure!(!edge.sender.out.arm()?, "room, and the sender sleeps");
        edge.sender.out.disarm();
        let receiver = &mut edge.receivers[0];
        receiver.take_until(edge.sender.sent)?;
    }
    Ok(())
}

/// A wakeup does not keep an end awake afterwards, and nothing else wakes an end without work.
pub fn an_end_without_work_sleeps(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(700))?;
    for _ in 0..5 {
        edge.receivers[0].end.arm()?;
        edge.sender.put(1)?;
        edge.receivers[0].end.disarm();
        edge.drain()?;
        rig.until("a receiver without frames asleep", || {
            sleeps(&mut *edge.receivers[0].end)
        })?;
        edge.sender.fill()?;
        edge.sender.out.arm()?;
        edge.receivers[0].take()?;
        edge.sender.out.disarm();
        rig.until("a sender without room asleep", || {
            // Credit may come late, but no more of it than the receiver has released.
            edge.sender.fill()?;
            sleeps(&mut *edge.sender.out)
        })?;
        edge.drain()?;
    }
    Ok(())
}

/// Whether an end has no work now, and nothing wakes it for [`NAPS`].
fn sleeps<E: Waitable + ?Sized>(end: &mut E) -> Result<Option<()>, TestFailure> {
    let mut is_asleep = end.arm()?;
    for _ in 0..NAPS {
        is_asleep = is_asleep && !is_ready(end, NAP)?;
    }
    end.disarm();
    Ok(is_asleep.then_some(()))
}

/// Both sides sleep whenever they can, on an edge that is full or empty most of the time and on two
/// with one frame that goes to and fro.
pub fn no_wake_up_is_lost(rig: Rig) -> TestOutcome {
    let RigEdge {
        mut sender,
        mut receivers,
    } = rig.edge(1, Script::of(6000))?;
    in_two_threads(
        move || {
            sender
                .put_asleep(FRAMES)
                .and_then(|()| sender.drained(&mut []))
        },
        || {
            receivers[0].take_asleep_until(FRAMES)?;
            receivers[0].until_lost()
        },
    )?;
    let (there, back) = (rig.edge(1, Script::of(32))?, rig.edge(1, Script::of(32))?);
    in_two_threads(
        move || to_and_fro(there.sender, back.receivers),
        move || fro_and_to(there.receivers, back.sender),
    )
}

fn in_two_threads(
    one: impl FnOnce() -> TestOutcome + Send + 'static,
    two: impl FnOnce() -> TestOutcome,
) -> TestOutcome {
    let one = thread::spawn(one);
    let two = two();
    let one = one.join().map_err(|_| "a thread panicked")?;
    one.and(two)
}

fn to_and_fro(mut there: Sender, mut back: Vec<Receiver>) -> TestOutcome {
    (1..=FRAMES).try_for_each(|count| {
        there.put_asleep(1)?;
        back[0].take_asleep_until(count)
    })
}

fn fro_and_to(mut there: Vec<Receiver>, mut back: Sender) -> TestOutcome {
    (1..=FRAMES).try_for_each(|count| {
        there[0].take_asleep_until(count)?;
        back.put_asleep(1)
    })?;
    back.drained(&mut [])
}
