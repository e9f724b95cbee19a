//! Edges between processes: the same rules, and SIGKILL.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use transport::{EdgeSpec, Error};

use crate::child::{Child, ControlSocket, TestFailure, TestOutcome};
use crate::compiled::Compiled;
use crate::ensure;
use crate::play::{Role, start};
use crate::rig::{Receiver, Rig, RigEdge, Sender};
use crate::script::Script;

const FRAMES: u64 = 20_000;

/// Byte on the control socket: the child is ready.
const READY: u8 = b'r';
const GO: u8 = b'g';
const DONE: u8 = b'd';

fn script() -> Script {
    Script::mixed(400)
}

/// Frames that compiled code can write.
fn plain() -> Script {
    script().without_flags()
}

/// Role of a child by its name.
pub fn role(name: &str) -> Option<Role> {
    let role: Role = match name {
        "receive" => receive,
        "receive_plain" => receive_plain,
        "receive_and_stay" => receive_and_stay,
        "send" => send,
        "send_and_stay" => send_and_stay,
        "echo" => echo,
        "a_warm_edge_allocates_nothing_alone" => {
            |rig, _, _| super::warm::a_warm_edge_allocates_nothing_alone(rig)
        }
        "nothing_is_left_behind_alone" => {
            |rig, _, _| super::ends::nothing_is_left_behind_alone(rig)
        }
        _ => return None,
    };
    Some(role)
}

/// Opens an edge and starts a child for each receiver.
fn to_children(
    rig: Rig,
    script: Script,
    roles: &[&str],
) -> Result<(Sender, Vec<Child>), TestFailure> {
    let spec = rig.spec(roles.len() as u32);
    let (sender, tickets) = rig.open(&spec, script)?;
    let children = roles.iter().zip(&tickets).map(|(role, ticket)| {
        let mut child = start(rig, role, &spec)?;
        child.control.give(ticket)?;
        Ok(child)
    });
    let children = children.collect::<Result<_, TestFailure>>()?;
    Ok((sender, children))
}

/// Starts a child that opens an edge.
fn from_child(rig: Rig, role: &str) -> Result<(Child, Receiver), TestFailure> {
    let spec = rig.spec(1);
    let mut child = start(rig, role, &spec)?;
    let ticket = child.control.take()?;
    let receiver = rig.accept(&spec, ticket, script())?;
    Ok((child, receiver))
}

/// Waits for a byte and keeps the sender going: some media have to be called to make progress.
fn hear_while_flushing(rig: Rig, sender: &mut Sender, child: &mut Child, word: u8) -> TestOutcome {
    rig.until("word from the child", || {
        sender.out.flush()?;
        Ok(has_word(&child.control)?.then_some(()))
    })?;
    child.control.hear(word)
}

/// Whether the other side has sent a byte, or is gone.
fn has_word(control: &ControlSocket) -> Result<bool, TestFailure> {
    let mut source = [PollFd::new(control, PollFlags::IN)];
    Ok(poll(&mut source, Some(&Timespec::default()))? > 0)
}

pub fn a_child_receives(rig: Rig) -> TestOutcome {
    let (mut sender, mut children) = to_children(rig, script(), &["receive"])?;
    sender.put(FRAMES)?;
    sender.drained(&mut [])?;
    drop(sender);
    children[0].ends_well()
}

fn receive(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let mut receiver = rig.accept(spec, control.take()?, script())?;
    receiver.take_until(FRAMES)?;
    receiver.until_lost()?;
    ensure!(
        receiver.got == FRAMES,
        "{} of {FRAMES} frames",
        receiver.got
    );
    Ok(())
}

/// A medium may take frames one by one while a receiver waits for them, so the scheduler decides
/// how many are written in place: more follow until there were enough.
pub fn a_child_receives_what_is_granted(rig: Rig) -> TestOutcome {
    let (sender, mut children) = to_children(rig, plain(), &["receive_plain"])?;
    let mut compiled = Compiled::new(sender)?;
    compiled.put_asleep(FRAMES)?;
    rig.until("frames written in place", || {
        let is_enough = compiled.granted > FRAMES / 2;
        if !is_enough {
            compiled.put_asleep(FRAMES / 10)?;
        }
        Ok(is_enough.then_some(()))
    })?;
    compiled.sender.drained(&mut [])?;
    drop(compiled);
    children[0].ends_well()
}

/// Takes every frame that comes; the sender knows at the end that none is missing.
fn receive_plain(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let mut receiver = rig.accept(spec, control.take()?, plain())?;
    receiver.take_until(FRAMES)?;
    receiver.until_lost()
}

pub fn a_child_sends(rig: Rig) -> TestOutcome {
    let (mut child, mut receiver) = from_child(rig, "send")?;
    receiver.take_until(FRAMES)?;
    receiver.until_lost()?;
    ensure!(receiver.got == FRAMES, "a frame too many");
    child.ends_well()
}

fn send(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let (mut sender, tickets) = rig.open(spec, script())?;
    control.give(&tickets[0])?;
    drop(tickets);
    sender.put(FRAMES)?;
    sender.drained(&mut [])
}

/// Frames go there and back, both processes asleep whenever they can.
pub fn a_child_is_woken_and_wakes(rig: Rig) -> TestOutcome {
    let spec = rig.spec(1);
    let (mut there, tickets) = rig.open(&spec, script())?;
    let mut child = start(rig, "echo", &spec)?;
    child.control.give(&tickets[0])?;
    drop(tickets);
    let mut back = rig.accept(&spec, child.control.take()?, script())?;
    for count in 1..=1000 {
        there.put(1)?;
        back.take_asleep_until(count)?;
    }
    there.drained(&mut [])?;
    drop(there);
    back.until_lost()?;
    child.ends_well()
}

fn echo(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let mut there = rig.accept(spec, control.take()?, script())?;
    let (mut back, tickets) = rig.open(spec, script())?;
    control.give(&tickets[0])?;
    drop(tickets);
    for count in 1..=1000 {
        there.take_asleep_until(count)?;
        back.put(1)?;
    }
    there.until_lost()?;
    back.drained(&mut [])
}

pub fn a_killed_sender_loses_no_tail(rig: Rig) -> TestOutcome {
    for _ in 0..5 {
        let (mut child, mut receiver) = from_child(rig, "send_and_stay")?;
        receiver.take_until(50)?;
        child.control.say(GO)?;
        child.control.hear(DONE)?;
        child.kill()?;
        receiver.until_lost()?;
        ensure!(receiver.got == 150, "{} of 150 frames", receiver.got);
    }
    Ok(())
}

/// Flushes some frames, leaves a claim half-written, and waits to be killed.
fn send_and_stay(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let (mut sender, tickets) = rig.open(spec, script())?;
    control.give(&tickets[0])?;
    drop(tickets);
    sender.put(50)?;
    sender.flush()?;
    control.hear(GO)?;
    sender.put(100)?;
    sender.flush()?;
    if let Some(room) = sender.out.claim(64)? {
        room.fill(0xdd);
    }
    control.say(DONE)?;
    control.hear(GO)
}

pub fn a_killed_receiver_is_noticed(rig: Rig) -> TestOutcome {
    let (mut sender, mut children) = to_children(rig, script(), &["receive_and_stay"])?;
    sender.put(150)?;
    hear_while_flushing(rig, &mut sender, &mut children[0], READY)?;
    children[0].kill()?;
    sender.until_lost()?;
    let is_lost = matches!(sender.out.claim(8), Err(Error::PeerLost(_)));
    ensure!(is_lost, "the killed receiver is there again");
    Ok(())
}

/// A sender that claims, but has nothing to commit, learns of the death of its only receiver.
pub fn claims_alone_tell_of_a_killed_receiver(rig: Rig) -> TestOutcome {
    let (mut sender, mut children) = to_children(rig, script(), &["receive_and_stay"])?;
    sender.put(150)?;
    hear_while_flushing(rig, &mut sender, &mut children[0], READY)?;
    children[0].kill()?;
    sender.until_claims_tell()
}

/// Takes some frames, holds others polled, and waits to be killed.
fn receive_and_stay(rig: Rig, spec: &EdgeSpec, control: &mut ControlSocket) -> TestOutcome {
    let mut receiver = rig.accept(spec, control.take()?, script())?;
    receiver.take_until(100)?;
    receiver.poll()?;
    control.say(READY)?;
    control.hear(GO)
}

pub fn one_of_two_children_is_killed(rig: Rig) -> TestOutcome {
    let (mut sender, mut children) = to_children(rig, script(), &["receive_and_stay", "receive"])?;
    sender.put(150)?;
    hear_while_flushing(rig, &mut sender, &mut children[0], READY)?;
    children[0].kill()?;
    sender.put(FRAMES - 150)?;
    let mut edge = RigEdge {
        sender,
        receivers: Vec::new(),
    };
    edge.drain()?;
    let lost = edge.sender.out.lost_receivers();
    ensure!(lost == [0], "{lost:?} are lost, it was 0");
    drop(edge);
    children[1].ends_well()
}
