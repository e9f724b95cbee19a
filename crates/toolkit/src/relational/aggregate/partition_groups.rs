//! The groups of sliding windows, which are kept for each partition from one firing to the next.

use runtime::window::WindowPartition;
use rustc_hash::FxHashMap;

use super::aggregate_item::AggregateItem;
use super::grouping::Grouping;
use super::window_groups::WindowGroups;

/// The groups of sliding windows, for each partition.
#[derive(Default)]
pub struct PartitionGroups {
    /// Groups of each partition, by [`WindowPartition::serial`].
    groups: FxHashMap<u64, WindowGroups>,
    /// Groups of removed partitions, whose memory further ones use.
    spare: Vec<WindowGroups>,
}

impl PartitionGroups {
    /// The groups of a partition as it is now.
    pub fn update(
        &mut self,
        partition: &WindowPartition<AggregateItem>,
        grouping: &mut Grouping,
    ) -> &mut WindowGroups {
        let groups = self.groups.entry(partition.serial());
        let groups = groups.or_insert_with(|| self.spare.pop().unwrap_or_default());
        groups.update(partition, grouping);
        groups
    }

    /// Removes the groups of a partition.
    pub fn remove(&mut self, partition: &WindowPartition<AggregateItem>) {
        if let Some(mut groups) = self.groups.remove(&partition.serial()) {
            groups.clear();
            self.spare.push(groups);
        }
    }
}
