//! The metric `nCurrentPartitions`.

use runtime::Outlet;

/// The last value of the metric.
#[derive(Default)]
pub struct PartitionCountMetric(usize);

impl PartitionCountMetric {
    /// Updates the metric; most tuples change nothing.
    #[inline]
    pub fn set(&mut self, partitions: usize, out: &mut dyn Outlet) {
        if partitions != self.0 {
            let more = partitions as i64 - self.0 as i64;
            out.services().add_to_metric("nCurrentPartitions", more);
            self.0 = partitions;
        }
    }
}
