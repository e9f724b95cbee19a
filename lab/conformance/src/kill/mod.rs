//! Kill tests: SIGKILL at 50 points of the steps of a sender and a receiver, several times each,
//! and at any time while they work at full speed. Committed frames (of some media: flushed frames)
//! arrive, whole and in order, and no others. The survivor notices the death, awake or asleep, by
//! itself, and nothing is left behind.
//!
//! The child counts its own steps and kills itself before the chosen one, so that both sides know
//! exactly how far it came. Kills at full speed hit the inside of the calls; where a ring's memory
//! is changed there, debug builds kill at each point between two changes, too.

#[cfg(debug_assertions)]
mod inside;
mod receiver;
mod sender;

use std::fs;

use rustix::process::{Signal, getpid, kill_process};
use transport::EdgeSpec;

use crate::child::{TestFailure, TestOutcome};
use crate::ensure;
use crate::play::Role;
use crate::rig::{MediumTest, Rig};
use crate::script::Script;

/// Times that the child is killed at each point.
const TIMES: u32 = 20;

/// Times that a child is killed at each point whose medium loads a library first, which takes
/// longer than all that the child does.
const TIMES_BY_LIBRARY: u32 = 2;

/// Points of which one is taken for media over an adapter that a guest emulates: each takes
/// seconds.
const EVERY_ON_ADAPTER: usize = 12;

/// Number of kills at full speed, for each time at a point.
const KILLS_PER_TIME: u32 = 5;

/// A small ring: it is full or wraps at most of the points.
const RING_BYTES: usize = 8192;

/// Steps before which the child is killed: each of the first ones, then further apart.
const POINTS: [u32; 50] = {
    let mut points = [0; 50];
    let mut point = 1;
    while point < 50 {
        let pace = if point < 30 { 1 } else { 13 };
        points[point] = points[point - 1] + pace;
        point += 1;
    }
    points
};

/// Promises of the media whose processes are killed.
pub const MEDIA: &[Promise] = &[
    Promise {
        medium: "shm",
        outlives: Outlives::Committed,
        notices_tickets: true,
        times: TIMES,
        every: 1,
    },
    Promise {
        medium: "tcp",
        outlives: Outlives::Committed,
        notices_tickets: false,
        times: TIMES,
        every: 1,
    },
    Promise {
        medium: "single",
        outlives: Outlives::Committed,
        notices_tickets: false,
        times: TIMES,
        every: 1,
    },
    Promise {
        medium: "rum",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES,
        every: 1,
    },
    Promise {
        medium: "rails",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES,
        every: 1,
    },
    Promise {
        medium: "tcp_rails",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES,
        every: 1,
    },
    Promise {
        medium: "rdma",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES_BY_LIBRARY,
        every: 1,
    },
    Promise {
        medium: "rdma_channel",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES_BY_LIBRARY,
        every: 1,
    },
    Promise {
        medium: "rdma_shm",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES_BY_LIBRARY,
        every: 1,
    },
    Promise {
        medium: "rdma_verbs",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: 1,
        every: EVERY_ON_ADAPTER,
    },
    Promise {
        medium: "rdma_verbs_channel",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: 1,
        every: EVERY_ON_ADAPTER,
    },
    Promise {
        medium: "rum-rdma",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES_BY_LIBRARY,
        every: 1,
    },
    Promise {
        medium: "rdma_rails",
        outlives: Outlives::Flushed,
        notices_tickets: false,
        times: TIMES_BY_LIBRARY,
        every: 1,
    },
];

/// Promise of a medium about deaths.
#[derive(Clone, Copy)]
pub struct Promise {
    /// Name of the medium in plans.
    pub medium: &'static str,
    outlives: Outlives,
    /// Whether it notices that a receiver dies with a ticket from which it has made no end.
    notices_tickets: bool,
    /// Times that the child is killed at each point.
    times: u32,
    /// One point in so many is one.
    every: usize,
}

/// Frames that arrive although their sender is dead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outlives {
    /// Every committed frame arrives.
    Committed,
    /// Every flushed frame arrives, and perhaps later committed ones.
    Flushed,
}

/// Promise of every medium that is not in [`MEDIA`], the least that there is.
const LEAST: Promise = Promise {
    medium: "",
    outlives: Outlives::Flushed,
    notices_tickets: false,
    times: TIMES_BY_LIBRARY,
    every: 1,
};

/// Promise of the medium under test.
fn promise(rig: Rig) -> Promise {
    let mut promises = MEDIA.iter().copied();
    let promise = promises.find(|promise| promise.medium == rig.medium.name());
    // A library may have any name.
    let promise = promise.filter(|_| rig.medium.library().is_none());
    promise.unwrap_or(LEAST)
}

/// Kill tests between the calls of an edge.
pub fn all() -> [MediumTest; 5] {
    [
        ("a_sender_is_killed_at_each_point", sender::at_each_point),
        ("a_sender_is_killed_at_full_speed", sender::at_full_speed),
        (
            "a_receiver_is_killed_at_each_point",
            receiver::at_each_point,
        ),
        (
            "a_receiver_is_killed_at_full_speed",
            receiver::at_full_speed,
        ),
        ("nothing_of_the_killed_is_left", nothing_is_left),
    ]
}

/// Kill tests inside of a ring's calls, where only debug builds have points.
pub fn inside_of(medium: &str) -> Vec<MediumTest> {
    match medium {
        #[cfg(debug_assertions)]
        "shm" => inside::all().to_vec(),
        _ => Vec::new(),
    }
}

/// Role of a child by its name.
pub fn role(name: &str) -> Option<Role> {
    let role: Role = match name {
        "kill_sender" => sender::steps,
        "kill_sender_at_full_speed" => sender::flood,
        "kill_receiver" => receiver::steps,
        "kill_receiver_at_full_speed" => receiver::drain,
        "kill_and_look" => |rig, _, _| kill_and_look(rig),
        #[cfg(debug_assertions)]
        _ => return inside::role(name),
        #[cfg(not(debug_assertions))]
        _ => return None,
    };
    Some(role)
}

fn small(spec: &EdgeSpec) -> EdgeSpec {
    EdgeSpec {
        ring_bytes: RING_BYTES,
        ..spec.clone()
    }
}

fn script() -> Script {
    Script::mixed(2000)
}

/// Counts steps, and ends the process before the chosen one.
struct Steps {
    left: u32,
}

impl Steps {
    /// Steps that end before this point.
    fn until(point: u8) -> Steps {
        Steps {
            left: POINTS[point as usize],
        }
    }

    /// Counts a step; kills the process if it is the chosen one.
    fn step(&mut self) -> TestOutcome {
        if self.left == 0 {
            kill_process(getpid(), Signal::KILL)?;
        }
        self.left = self.left.saturating_sub(1);
        Ok(())
    }
}

/// Kills at each point several times; on every other one the survivor sleeps when it has nothing to
/// do.
fn each_point(rig: Rig, mut kill: impl FnMut(u8, bool) -> TestOutcome) -> TestOutcome {
    for point in (0..POINTS.len() as u8).step_by(promise(rig).every) {
        for time in 0..promise(rig).times {
            let killed = kill(point, time % 2 == 1);
            killed.map_err(|failure| format!("point {point}, time {time}: {failure}"))?;
        }
    }
    Ok(())
}

/// Checks descriptors, mappings and names, in a process of its own, so that no other test makes
/// any.
fn nothing_is_left(rig: Rig) -> TestOutcome {
    crate::play::run_alone(rig, "kill_and_look")
}

fn kill_and_look(rig: Rig) -> TestOutcome {
    // What a process has once for all of its ends stays.
    sender::at_point(rig, 10, false)?;
    receiver::at_point(rig, 10, false)?;
    let before = left()?;
    for point in [0, 3, 17, 40] {
        sender::at_point(rig, point, true)?;
        receiver::at_point(rig, point, false)?;
    }
    // Media with a thread of their own may take a while.
    rig.until("as few descriptors, rings and names as before", || {
        let after = left()?;
        let is_as_before = after.0 <= before.0 && after.1 <= before.1 && after.2 <= before.2;
        Ok(is_as_before.then_some(()))
    })
}

/// Numbers of this process's descriptors, mapped rings and children; and names in shared memory.
fn left() -> Result<(usize, usize, usize), TestFailure> {
    let fds = fs::read_dir("/proc/self/fd")?.count();
    let maps = fs::read_to_string("/proc/self/maps")?;
    let rings = maps.lines().filter(|line| line.contains("memfd")).count();
    let children = fs::read_to_string("/proc/self/task/self/children").unwrap_or_default();
    ensure!(children.trim().is_empty(), "children are left: {children}");
    let names = fs::read_dir("/dev/shm").map_or(0, |names| {
        let names = names.flatten().map(|name| name.file_name());
        names
            .filter(|name| name.to_string_lossy().contains("thalweg"))
            .count()
    });
    Ok((fds, rings, names))
}
