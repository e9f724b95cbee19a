//! The sender is killed: its committed frames arrive, then its end is reported.

use std::time::{Duration, Instant};

use transport::EdgeSpec;

use super::{KILLS_PER_TIME, Outlives, POINTS, Steps, each_point, promise, script, small};
use crate::child::{Child, ControlSocket, TestFailure, TestOutcome};
use crate::ensure;
use crate::play::start;
use crate::rig::{Receiver, Rig, Sender, lost};
use crate::script::fill;

/// A step of a sender.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Claim,
    Half,
    Rest,
    Commit,
    Flush,
    Arm,
    Disarm,
}

/// Steps for the frame of this number.
fn steps_of(number: u64) -> &'static [Step] {
    use Step::{Arm, Claim, Commit, Disarm, Flush, Half, Rest};
    match number % 4 {
        0 => &[Claim, Half, Rest, Commit, Flush],
        1 => &[Claim, Half, Rest, Commit, Arm, Disarm],
        _ => &[Claim, Half, Rest, Commit],
    }
}

/// Number of flushed and of committed frames when the child is killed at a point.
fn sent(point: u8) -> (u64, u64) {
    let (mut flushed, mut committed) = (0, 0);
    let steps = (0..).flat_map(steps_of);
    for step in steps.take(POINTS[point as usize] as usize) {
        match step {
            Step::Commit => committed += 1,
            Step::Flush => flushed = committed,
            _ => {}
        }
    }
    (flushed, committed)
}

/// Role of a child: goes from step to step until it is killed.
pub fn steps(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let mut steps = Steps::until(control.listen()?);
    let mut sender = open(rig, spec, control)?;
    for number in 0.. {
        for step in steps_of(number) {
            steps.step()?;
            take_step(rig, &mut sender, *step)?;
        }
    }
    Ok(())
}

fn open(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> Result<Sender, TestFailure> {
    let spec = small(spec);
    let (sender, tickets) = rig.open(&spec, script())?;
    control.give(&tickets[0])?;
    Ok(sender)
}

fn take_step(rig: Rig, sender: &mut Sender, step: Step) -> TestOutcome {
    let (number, len) = (sender.sent, script().len(sender.sent));
    match step {
        Step::Claim => rig.until("room", || {
            Ok(sender.out.claim(len)?.map(|room| room.fill(0xdd)))
        }),
        Step::Half => write(sender, len / 2),
        Step::Rest => write(sender, len),
        Step::Commit => {
            let (kind, flags) = (script().kind(number), script().flags(number));
            sender.out.commit(kind, flags, len);
            sender.sent += 1;
            Ok(())
        }
        Step::Flush => sender.flush(),
        Step::Arm => {
            sender.out.arm()?;
            Ok(())
        }
        Step::Disarm => {
            sender.out.disarm();
            Ok(())
        }
    }
}

/// Writes the beginning of the frame into a claim of its whole length.
fn write(sender: &mut Sender, until: usize) -> TestOutcome {
    let (number, len) = (sender.sent, script().len(sender.sent));
    let mut payload = vec![0; len];
    fill(number, &mut payload);
    let room = sender.out.claim(len)?.ok_or("the claim is gone")?;
    room[..until].copy_from_slice(&payload[..until]);
    Ok(())
}

pub fn at_each_point(rig: Rig) -> TestOutcome {
    each_point(rig, |point, sleeps| at_point(rig, point, sleeps))
}

/// Kills one child at a point.
pub fn at_point(rig: Rig, point: u8, sleeps: bool) -> TestOutcome {
    let (_child, receiver) = receive_from(rig, "kill_sender", point)?;
    let got = match receiver {
        Some(receiver) => survive(rig, receiver, sleeps)?,
        None => 0,
    };
    let (flushed, committed) = sent(point);
    let is_right = match promise(rig).outlives {
        Outlives::Committed => got == committed,
        Outlives::Flushed => (flushed..=committed).contains(&got),
    };
    ensure!(
        is_right,
        "{got} frames came, {committed} were committed and {flushed} flushed"
    );
    Ok(())
}

/// Starts the child, and accepts its edge unless it was dead before that.
fn receive_from(rig: Rig, role: &str, word: u8) -> Result<(Child, Option<Receiver>), TestFailure> {
    let spec = rig.spec(1);
    let mut child = start(rig, role, &spec)?;
    child.control.say(word)?;
    let ticket = child.control.take()?;
    let receiver = match rig.accept(&small(&spec), ticket, script()) {
        Ok(receiver) => Some(receiver),
        Err(failure) => {
            lost(failure)?;
            None
        }
    };
    Ok((child, receiver))
}

/// Takes whole frames in order until the sender is lost, and returns their number.
pub fn survive(rig: Rig, mut receiver: Receiver, sleeps: bool) -> Result<u64, TestFailure> {
    rig.until("word of the sender's death", || match receiver.take() {
        Ok(0) if sleeps => rig.sleep(&mut *receiver.end).map(|()| None),
        Ok(_) => Ok(None),
        Err(failure) => lost(failure).map(Some),
    })?;
    Ok(receiver.got)
}

/// Role of a child: sends for ever, and reports every hundred frames that will arrive.
pub fn flood(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    control.listen()?;
    let mut sender = open(rig, spec, control)?;
    loop {
        sender.put(100)?;
        if promise(rig).outlives == Outlives::Flushed {
            sender.flush()?;
        }
        control.say(b'h')?;
    }
}

/// Number of reports of the child.
fn words(control: &ControlSocket) -> Result<u64, TestFailure> {
    let (mut words, mut count) = ([0; 4096], 0);
    loop {
        match rustix::io::read(control, &mut words)? {
            0 => return Ok(count),
            more => count += more as u64,
        }
    }
}

pub fn at_full_speed(rig: Rig) -> TestOutcome {
    for kill in 0..KILLS_PER_TIME * promise(rig).times {
        let (mut child, receiver) = receive_from(rig, "kill_sender_at_full_speed", 0)?;
        let mut receiver = receiver.ok_or("the sender is dead before it is killed")?;
        let start = Instant::now();
        let time = Duration::from_micros(u64::from(kill) * 37);
        while start.elapsed() < time {
            receiver.take()?;
        }
        child.kill()?;
        let got = survive(rig, receiver, kill % 2 == 1)?;
        let said = 100 * words(&child.control)?;
        ensure!(got >= said, "{got} frames came, {said} were sent for good");
    }
    Ok(())
}
