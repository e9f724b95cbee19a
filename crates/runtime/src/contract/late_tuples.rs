//! The metric of tuples that come too late for windows over event time.

use crate::Outlet;

/// The metric that counts tuples older than the watermark by more than the discard age of the
/// operator's windows over event time. They are in no window.
pub(crate) const LATE_METRIC: &str = "nLateTuples";

/// Counts a tuple that is too late. The metric exists from the first one on.
#[cold]
pub fn count_late_tuple(out: &mut dyn Outlet) {
    out.services().add_to_metric(LATE_METRIC, 1);
}
