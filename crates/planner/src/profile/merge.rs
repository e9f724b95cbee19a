//! Merging profiles: sums of what was counted, maxima of peaks and sizes.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use super::{
    CrossingProfile, OperatorProfile, Profile, QueueProfile, StreamProfile, ThreadProfile,
};

/// The reason for which two profiles cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileMergeError {
    /// A sentence that says what differs.
    pub message: String,
}

impl fmt::Display for ProfileMergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProfileMergeError {}

impl Profile {
    /// Adds another profile of the program on the same machine. What only one of them has is kept.
    ///
    /// # Errors
    /// The other one is of another program or of another machine: its times do not add up with
    /// these.
    pub fn merge(&mut self, other: &Profile) -> Result<(), ProfileMergeError> {
        self.check_same(other)?;
        self.runs = self.runs.saturating_add(other.runs);
        self.seconds += other.seconds;
        add_all(
            &mut self.operators,
            &other.operators,
            |operator| operator.operator.clone(),
            OperatorProfile::add,
        );
        add_all(
            &mut self.streams,
            &other.streams,
            |stream| (stream.operator.clone(), stream.port),
            StreamProfile::add,
        );
        add_all(
            &mut self.crossings,
            &other.crossings,
            |crossing| {
                let CrossingProfile {
                    operator, medium, ..
                } = crossing;
                (operator.clone(), crossing.port, medium.clone())
            },
            CrossingProfile::add,
        );
        add_all(
            &mut self.queues,
            &other.queues,
            |queue| (queue.operator.clone(), queue.port),
            QueueProfile::add,
        );
        add_all(
            &mut self.threads,
            &other.threads,
            |thread| thread.thread.clone(),
            ThreadProfile::add,
        );
        Ok(())
    }

    fn check_same(&self, other: &Profile) -> Result<(), ProfileMergeError> {
        let machine = |profile: &Profile| (profile.processor.clone(), profile.cores);
        let message = if self.program != other.program {
            format!(
                "the profiles are of two programs, `{}` and `{}`",
                self.program, other.program
            )
        } else if machine(self) != machine(other) {
            format!(
                "the profiles are of two machines ({}, {} cores; {}, {} cores), whose times do not \
                 add up",
                self.processor, self.cores, other.processor, other.cores
            )
        } else {
            return Ok(());
        };
        Err(ProfileMergeError { message })
    }
}

/// Adds each of `more` to the one of its key, or behind all.
fn add_all<T: Clone, K: Eq + Hash>(
    to: &mut Vec<T>,
    more: &[T],
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, &T),
) {
    let mut places: HashMap<K, usize> = to.iter().map(&key).zip(0..).collect();
    for other in more {
        let at = *places.entry(key(other)).or_insert(to.len());
        match to.get_mut(at) {
            Some(same) => add(same, other),
            None => to.push(other.clone()),
        }
    }
}

fn add_to(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

impl OperatorProfile {
    pub(super) fn add(&mut self, other: &OperatorProfile) {
        add_to(&mut self.tuples, other.tuples);
        add_to(&mut self.cpu_ns, other.cpu_ns);
        self.state_bytes = self.state_bytes.max(other.state_bytes);
    }
}

impl StreamProfile {
    pub(super) fn add(&mut self, other: &StreamProfile) {
        add_to(&mut self.tuples, other.tuples);
        add_to(&mut self.bytes, other.bytes);
        self.peak_per_second = self.peak_per_second.max(other.peak_per_second);
    }
}

impl CrossingProfile {
    pub(super) fn add(&mut self, other: &CrossingProfile) {
        add_to(&mut self.frames, other.frames);
        add_to(&mut self.bytes, other.bytes);
        add_to(&mut self.send_ns, other.send_ns);
        add_to(&mut self.receive_ns, other.receive_ns);
    }
}

impl QueueProfile {
    pub(super) fn add(&mut self, other: &QueueProfile) {
        add_to(&mut self.tuples, other.tuples);
        add_to(&mut self.full_ns, other.full_ns);
        add_to(&mut self.empty_ns, other.empty_ns);
    }
}

impl ThreadProfile {
    pub(super) fn add(&mut self, other: &ThreadProfile) {
        add_to(&mut self.busy_ns, other.busy_ns);
        add_to(&mut self.polling_ns, other.polling_ns);
    }
}
