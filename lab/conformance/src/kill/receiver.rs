//! A receiver is killed: the sender and the other receiver, if the medium serves another, go on.

use std::time::{Duration, Instant};

use transport::EdgeSpec;

use super::{KILLS_PER_TIME, Steps, each_point, promise, script, small};
use crate::child::{Child, ControlSocket, TestFailure, TestOutcome};
use crate::ensure;
use crate::play::start;
use crate::rig::{Receiver, Rig, RigEdge};

/// Byte of a child: it has made its end.
const READY: u8 = b'r';

/// Fewest frames that the survivor gets after the death.
const AFTER: u64 = 50;

/// Role of a child: polls, releases and arms, until it is killed.
pub fn steps(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let mut steps = Steps::until(control.listen()?);
    let mut receiver = accept(rig, spec, control)?;
    loop {
        steps.step()?;
        rig.until("a frame", || Ok((receiver.poll()? > 0).then_some(())))?;
        steps.step()?;
        receiver.end.release();
        steps.step()?;
        receiver.end.arm()?;
        steps.step()?;
        receiver.end.disarm();
    }
}

/// Role of a child: takes frames for ever.
pub fn drain(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    control.listen()?;
    let mut receiver = accept(rig, spec, control)?;
    if !promise(rig).notices_tickets {
        control.say(READY)?;
    }
    loop {
        receiver.take()?;
    }
}

fn accept(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> Result<Receiver, TestFailure> {
    let ticket = control.take()?;
    rig.accept(&small(spec), ticket, script())
}

pub fn at_each_point(rig: Rig) -> TestOutcome {
    each_point(rig, |point, sleeps| at_point(rig, point, sleeps))
}

/// Kills one child at a point.
pub fn at_point(rig: Rig, point: u8, sleeps: bool) -> TestOutcome {
    let (_child, mut edge) = send_to(rig, "kill_receiver", point)?;
    survive(rig, &mut edge, sleeps)
}

/// The child is receiver 0, and receiver 1 is here, if an edge may have two.
fn send_to(rig: Rig, role: &str, word: u8) -> Result<(Child, RigEdge), TestFailure> {
    let spec = small(&rig.spec(rig.medium.caps().receivers_max.min(2)));
    let (sender, mut tickets) = rig.open(&spec, script())?;
    let mut child = start(rig, role, &spec)?;
    child.control.say(word)?;
    child.control.give(&tickets[0])?;
    let others = tickets.drain(1..);
    let receivers = others.map(|ticket| rig.accept(&spec, ticket, script()));
    let receivers = receivers.collect::<Result<_, _>>()?;
    Ok((child, RigEdge { sender, receivers }))
}

/// Sends and receives until the death is noticed, and then some more; then the last receiver goes.
pub fn survive(rig: Rig, edge: &mut RigEdge, sleeps: bool) -> TestOutcome {
    rig.until("word of the receiver's death", || {
        if edge.sender.out.lost_receivers() == [0] {
            return Ok(Some(()));
        }
        let is_put = put(edge)?;
        let RigEdge { sender, receivers } = &mut *edge;
        receivers
            .iter_mut()
            .try_for_each(|other| other.take().map(drop))?;
        if !is_put && sleeps {
            match &mut receivers[..] {
                [] => rig.sleep(&mut *sender.out)?,
                // Frames that the survivor has not taken hold the sender up, too.
                [other, ..] => rig.sleep_on_both(&mut *sender.out, &mut *other.end)?,
            }
        }
        Ok(None)
    })?;
    if let [_] = edge.receivers[..] {
        edge.pass(AFTER)?;
        edge.drain()?;
        let (got, sent) = (edge.receivers[0].got, edge.sender.sent);
        ensure!(got == sent, "the survivor got {got} of {sent} frames");
        edge.receivers.clear();
    }
    edge.sender.until_lost()
}

/// Sends a frame if there is room; the loss of the only receiver is no failure.
fn put(edge: &mut RigEdge) -> Result<bool, TestFailure> {
    match edge.sender.try_put() {
        Err(_) if edge.sender.out.lost_receivers() == [0] && edge.receivers.is_empty() => Ok(true),
        put => put,
    }
}

pub fn at_full_speed(rig: Rig) -> TestOutcome {
    for kill in 0..KILLS_PER_TIME * promise(rig).times {
        let (mut child, mut edge) = send_to(rig, "kill_receiver_at_full_speed", 0)?;
        if !promise(rig).notices_tickets {
            child.control.hear(READY)?;
        }
        let start = Instant::now();
        let time = Duration::from_micros(u64::from(kill) * 37);
        while start.elapsed() < time {
            edge.sender.try_put()?;
            edge.receivers
                .iter_mut()
                .try_for_each(|other| other.take().map(drop))?;
        }
        child.kill()?;
        survive(rig, &mut edge, kill % 2 == 1)?;
    }
    Ok(())
}
