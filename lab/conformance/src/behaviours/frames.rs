//! Order, boundaries, lengths.

use std::thread;

use crate::child::TestOutcome;
use crate::ensure;
use crate::rig::Rig;
use crate::script::Script;

pub fn frames_arrive_once_and_in_order(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(64))?;
    for count in (1..150).chain([1000, 5000]) {
        edge.pass(count)?;
    }
    edge.drain()?;
    edge.ends()
}

pub fn boundaries_are_kept(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(700))?;
    edge.pass(5000)?;
    edge.drain()?;
    edge.ends()
}

pub fn the_largest_frame_passes(rig: Rig) -> TestOutcome {
    let largest = largest(rig)?;
    let mut edge = rig.edge(1, Script::of(largest))?;
    (0..20).try_for_each(|_| edge.pass(1))?;
    edge.pass(20)?;
    edge.drain()
}

/// Wherever the end of a ring is, the largest frame has its room once everything is given back.
pub fn the_largest_frame_passes_at_any_place(rig: Rig) -> TestOutcome {
    let largest = largest(rig)?;
    for small in [0, 8, 56, 1000, largest / 2, largest - 9] {
        let mut edge = rig.edge(1, Script::turns(small.min(largest), largest))?;
        for _ in 0..40 {
            edge.pass(1)?;
            edge.drain()?;
        }
    }
    Ok(())
}

pub fn an_empty_frame_passes(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(0))?;
    edge.pass(1)?;
    edge.pass(2000)?;
    edge.drain()?;
    edge.ends()
}

pub fn every_length_around_8_and_64_passes(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::rising(136))?;
    (0..3 * 137).try_for_each(|_| edge.pass(1))?;
    edge.pass(10 * 137)?;
    edge.drain()?;
    edge.ends()
}

/// The script goes through all kinds but padding's, and through all flags.
pub fn kinds_and_flags_are_kept(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::of(12))?;
    edge.pass(3 * 256)?;
    edge.drain()?;
    edge.ends()
}

/// Lengths that no ring is a multiple of, until each place of the ring was a frame's beginning.
pub fn frames_wrap_round_the_end(rig: Rig) -> TestOutcome {
    for len in [1, 24, 41, 1000, 3001] {
        let mut edge = rig.edge(1, Script::of(len))?;
        let around = edge.sender.out.payload_bytes_max().max(64 * 1024) / (len + 8);
        (0..4).try_for_each(|_| edge.pass(around as u64))?;
        edge.drain()?;
    }
    Ok(())
}

pub fn two_threads_at_full_speed(rig: Rig) -> TestOutcome {
    const FRAMES: u64 = 30_000;
    for script in [Script::of(8), Script::mixed(300), Script::turns(0, 5000)] {
        let edge = rig.edge(1, script)?;
        let mut sender = edge.sender;
        let sends = thread::spawn(move || -> TestOutcome {
            sender.put(FRAMES)?;
            sender.drained(&mut [])
        });
        let mut receivers = edge.receivers;
        let received = (receivers[0].take_until(FRAMES)).and_then(|()| receivers[0].until_lost());
        let sent = sends.join().map_err(|_| "the sender panicked")?;
        received.and(sent)?;
        ensure!(receivers[0].got == FRAMES, "a frame too many");
    }
    Ok(())
}

/// Two jobs may have edges of the same name and number at once.
pub fn edges_do_not_mix(rig: Rig) -> TestOutcome {
    let spec = rig.spec(1);
    let (left, right) = (Script::of(24), Script::of(40));
    let (mut one, left_tickets) = rig.open(&spec, left)?;
    let (mut two, right_tickets) = rig.open(&spec, right)?;
    let mut first = None;
    for ticket in left_tickets {
        first = Some(rig.accept(&spec, ticket, left)?);
    }
    let mut second = None;
    for ticket in right_tickets {
        second = Some(rig.accept(&spec, ticket, right)?);
    }
    let (mut first, mut second) = first.zip(second).ok_or("no tickets")?;
    for count in 1..50 {
        one.put(1)?;
        two.put(1)?;
        one.flush()?;
        two.flush()?;
        first.take_until(count)?;
        second.take_until(count)?;
    }
    Ok(())
}

fn largest(rig: Rig) -> Result<usize, crate::child::TestFailure> {
    let edge = rig.edge(1, Script::of(0))?;
    let largest = edge.sender.out.payload_bytes_max();
    ensure!(largest >= 1024, "{largest} bytes are not much for a frame");
    Ok(largest)
}
