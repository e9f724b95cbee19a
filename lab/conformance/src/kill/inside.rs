//! Kills inside of a ring's calls: at each point where its memory has just been changed, as the
//! other process then finds it for ever.
//!
//! The two processes take turns, so that every point is reached, whichever is faster. A sender
//! fills the ring and sleeps; a receiver takes all of it and sleeps:
//!
//! ```text
//!   child sends      parent: takes all, sleeps, GO    child: fills, sleeps, DONE
//!   child receives   parent: sends one frame          child: wakes, DONE
//!                    parent: fills, sleeps, GO        child: takes all, sleeps, DONE
//! ```
//! A process that is killed at a point reports that before, with the number of frames that it has
//! committed.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use ring::failpoints::{self, Failpoint, RECEIVER_POINTS, SENDER_POINTS};
use rustix::process::{Signal, getpid, kill_process};
use transport::{EdgeSpec, Waitable};

use super::{receiver, sender, small};
use crate::child::{Child, ControlSocket, TestFailure, TestOutcome};
use crate::compiled::Compiled;
use crate::ensure;
use crate::play::{Role, start};
use crate::rig::{MediumTest, Receiver, Rig, RigEdge, Sender, is_ready};
use crate::script::Script;

/// Times that a point is passed before it kills: none, and some in later laps of the ring.
const PASSED: [u8; 4] = [0, 1, 6, 40];

/// Byte of the parent: it is the child's turn.
const GO: u8 = b'g';

/// Byte of the child: it is the parent's turn.
const DONE: u8 = b'd';

/// Byte of the child: it is at its point; 8 bytes follow, the number of frames that it has
/// committed.
const KILLED: u8 = b'k';

/// Point at which this process kills itself, once it was told.
static FATE: OnceLock<Fate> = OnceLock::new();

/// Number of frames that this process has committed.
static COMMITTED: AtomicU64 = AtomicU64::new(0);

/// A failpoint, and how often it is passed before it kills.
struct Fate {
    point: Failpoint,
    left: AtomicU32,
}

/// Kill tests inside of a ring's calls.
pub fn all() -> [MediumTest; 2] {
    [
        ("a_sender_is_killed_inside_of_its_calls", senders),
        ("a_receiver_is_killed_inside_of_its_calls", receivers),
    ]
}

/// Role of a child by its name.
pub fn role(name: &str) -> Option<Role> {
    let role: Role = match name {
        "kill_sender_inside" => send,
        "kill_receiver_inside" => receive,
        _ => return None,
    };
    Some(role)
}

/// Frames so short that many are committed by counting; without flags, as compiled code writes
/// them.
fn script() -> Script {
    Script::mixed(300).without_flags()
}

fn is_granted(point: Failpoint) -> bool {
    use Failpoint::{GrantCommitted, GrantHeadMoved, GrantHeaderWritten, GrantPayloadWritten};
    let granted = [
        GrantHeaderWritten,
        GrantPayloadWritten,
        GrantHeadMoved,
        GrantCommitted,
    ];
    granted.contains(&point)
}

/// Receives the point to die at from the parent.
fn meet_fate(points: &[Failpoint], control: &mut ControlSocket) -> Result<Failpoint, TestFailure> {
    let (number, passed) = (control.listen()?, control.listen()?);
    let point = *points.get(usize::from(number)).ok_or("no such point")?;
    let left = AtomicU32::new(passed.into());
    ensure!(FATE.set(Fate { point, left }).is_ok(), "two fates");
    ensure!(failpoints::set_hook(pass), "this build passes no points");
    Ok(point)
}

fn pass(point: Failpoint) {
    if let Failpoint::Committed | Failpoint::GrantCommitted = point {
        COMMITTED.fetch_add(1, Ordering::Relaxed);
    }
    let fate = FATE.get().filter(|fate| fate.point == point);
    if fate.is_some_and(|fate| fate.left.fetch_sub(1, Ordering::Relaxed) == 0) {
        die();
    }
}

/// Reports its death to the parent, which waits for it in vain if that fails.
fn die() -> ! {
    let committed = COMMITTED.load(Ordering::Relaxed).to_le_bytes();
    let words = [&[KILLED][..], &committed].concat();
    let _ = rustix::io::write(io::stdin(), &words);
    let _ = kill_process(getpid(), Signal::KILL);
    process::abort()
}

/// Waits for the child. `None`: it is the parent's turn; else the number of frames that the child
/// had committed when it was killed.
fn hear(control: &mut ControlSocket) -> Result<Option<u64>, TestFailure> {
    let word = control.listen()?;
    if word == DONE {
        return Ok(None);
    }
    ensure!(word == KILLED, "heard {word}");
    let mut committed = [0; 8];
    for byte in &mut committed {
        *byte = control.listen()?;
    }
    Ok(Some(u64::from_le_bytes(committed)))
}

/// Arms an end, which must have nothing to do.
fn arm<E: Waitable + ?Sized>(end: &mut E) -> TestOutcome {
    ensure!(end.arm()?, "there is work, although the other side waits");
    Ok(())
}

/// The child sleeps until the other side has changed something, and reports before that it does.
fn rest<E: Waitable + ?Sized>(rig: Rig, control: &mut ControlSocket, end: &mut E) -> TestOutcome {
    arm(end)?;
    control.say(DONE)?;
    ensure!(is_ready(end, rig.patience)?, "was never woken");
    end.disarm();
    Ok(())
}

/// The parent wakes up. A death wakes it, although the dead process may have woken no other.
fn wake<E: Waitable + ?Sized>(
    rig: Rig,
    child: &mut Child,
    end: &mut E,
    is_killed: bool,
) -> TestOutcome {
    if is_killed {
        was_killed(child)?;
        let is_woken = is_ready(end, rig.patience)?;
        ensure!(is_woken, "asleep for {:?} after the death", rig.patience);
    }
    end.disarm();
    Ok(())
}

fn was_killed(child: &mut Child) -> TestOutcome {
    let status = child.ends()?;
    let is_killed = status.signal() == Some(Signal::KILL.as_raw());
    ensure!(is_killed, "the child was not killed: {status}");
    Ok(())
}

/// Starts a child, and tells it the point at which it dies.
fn child(
    rig: Rig,
    role: &str,
    spec: &EdgeSpec,
    number: u8,
    passed: u8,
) -> Result<Child, TestFailure> {
    let mut child = start(rig, role, spec)?;
    child.control.say(number)?;
    child.control.say(passed)?;
    Ok(child)
}

/// Kills at every point, each several times; on every other one the survivor sleeps when it has
/// nothing to do.
fn each(points: &[Failpoint], mut kill: impl FnMut(u8, u8, bool) -> TestOutcome) -> TestOutcome {
    for (number, point) in (0..).zip(points) {
        for (time, passed) in PASSED.into_iter().enumerate() {
            let killed = kill(number, passed, time % 2 == 1);
            killed.map_err(|failure| format!("{point:?}, passed {passed} times: {failure}"))?;
        }
    }
    Ok(())
}

fn senders(rig: Rig) -> TestOutcome {
    let has_grant = rig.has_grant();
    each(&SENDER_POINTS, |number, passed, sleeps| {
        // Without a grant no frame is written in place.
        let is_passed = has_grant || !is_granted(SENDER_POINTS[usize::from(number)]);
        match is_passed {
            true => kill_sender(rig, number, passed, sleeps),
            false => Ok(()),
        }
    })
}

/// Every committed frame comes, whole and in order, and no other.
fn kill_sender(rig: Rig, number: u8, passed: u8, sleeps: bool) -> TestOutcome {
    let spec = small(&rig.spec(1));
    let mut child = child(rig, "kill_sender_inside", &spec, number, passed)?;
    let ticket = child.control.take()?;
    let mut receiver = rig.accept(&spec, ticket, script())?;
    let committed = loop {
        take_all(&mut receiver)?;
        arm(&mut *receiver.end)?;
        child.control.say(GO)?;
        let killed = hear(&mut child.control)?;
        wake(rig, &mut child, &mut *receiver.end, killed.is_some())?;
        if let Some(committed) = killed {
            break committed;
        }
    };
    let got = sender::survive(rig, receiver, sleeps)?;
    ensure!(
        got == committed,
        "{got} frames came, {committed} were committed"
    );
    Ok(())
}

fn take_all(receiver: &mut Receiver) -> TestOutcome {
    while receiver.take()? > 0 {}
    Ok(())
}

/// Role of the child that sends.
fn send(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let point = meet_fate(&SENDER_POINTS, control)?;
    let (sender, tickets) = rig.open(&small(spec), script())?;
    control.give(&tickets[0])?;
    drop(tickets);
    match is_granted(point) {
        true => send_granted(rig, control, Compiled::new(sender)?),
        false => send_claimed(rig, control, sender),
    }
}

fn send_claimed(rig: Rig, control: &mut ControlSocket, mut sender: Sender) -> TestOutcome {
    loop {
        control.hear(GO)?;
        while sender.try_put()? {}
        rest(rig, control, &mut *sender.out)?;
    }
}

fn send_granted(rig: Rig, control: &mut ControlSocket, mut compiled: Compiled) -> TestOutcome {
    loop {
        control.hear(GO)?;
        while compiled.put_or_claim()? {}
        rest(rig, control, &mut *compiled.sender.out)?;
    }
}

fn receivers(rig: Rig) -> TestOutcome {
    each(&RECEIVER_POINTS, |number, passed, sleeps| {
        kill_receiver(rig, number, passed, sleeps)
    })
}

/// The other receiver, in this process, gets every frame; and the sender goes on.
fn kill_receiver(rig: Rig, number: u8, passed: u8, sleeps: bool) -> TestOutcome {
    let spec = small(&rig.spec(2));
    let (sender, mut tickets) = rig.open(&spec, script())?;
    let mut child = child(rig, "kill_receiver_inside", &spec, number, passed)?;
    child.control.give(&tickets[0])?;
    let receivers = vec![rig.accept(&spec, tickets.remove(1), script())?];
    drop(tickets);
    let mut edge = RigEdge { sender, receivers };
    let mut is_killed = hear(&mut child.control)?.is_some();
    while !is_killed {
        is_killed = next(rig, &mut edge, &mut child)?;
    }
    receiver::survive(rig, &mut edge, sleeps)?;
    was_killed(&mut child)
}

/// Sends a frame while the child sleeps, and more while there is room. `true`: the child was killed
/// meanwhile.
fn next(rig: Rig, edge: &mut RigEdge, child: &mut Child) -> Result<bool, TestFailure> {
    put_and_take(edge)?;
    if hear(&mut child.control)?.is_some() {
        return Ok(true);
    }
    while put_and_take(edge)? {}
    arm(&mut *edge.sender.out)?;
    child.control.say(GO)?;
    let is_killed = hear(&mut child.control)?.is_some();
    wake(rig, child, &mut *edge.sender.out, is_killed)?;
    Ok(is_killed)
}

/// Sends a frame and takes it here. `false`: there is no room until the child releases some.
fn put_and_take(edge: &mut RigEdge) -> Result<bool, TestFailure> {
    let is_put = edge.sender.try_put()?;
    take_all(&mut edge.receivers[0])?;
    Ok(is_put)
}

/// Role of the child that receives.
fn receive(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    meet_fate(&RECEIVER_POINTS, control)?;
    let ticket = control.take()?;
    let mut receiver = rig.accept(&small(spec), ticket, script())?;
    loop {
        rest(rig, control, &mut *receiver.end)?;
        control.say(DONE)?;
        control.hear(GO)?;
        take_all(&mut receiver)?;
    }
}
