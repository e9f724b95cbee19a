//! The groups of windows that are summed up again and again: those of each partition stay with it.

use runtime::window::Partition;
use rustc_hash::FxHashMap;

use super::grouping::Grouping;
use super::groups::Groups;
use super::operator::Kept;

/// Groups by partition.
#[derive(Default)]
pub struct Followed {
    /// By [`Partition::serial`].
    groups: FxHashMap<u64, Groups>,
    /// Those of partitions that are gone, as memory.
    spare: Vec<Groups>,
}

impl Followed {
    /// The groups of a partition as it is now.
    pub fn of(&mut self, partition: &Partition<Kept>, grouping: &mut Grouping) -> &mut Groups {
        let groups = self.groups.entry(partition.serial());
        let groups = groups.or_insert_with(|| self.spare.pop().unwrap_or_default());
        groups.follow(partition, grouping);
        groups
    }

    /// The partition is no more.
    pub fn forget(&mut self, partition: &Partition<Kept>) {
        if let Some(mut groups) = self.groups.remove(&partition.serial()) {
            groups.clear();
            self.spare.push(groups);
        }
    }
}
