//! The choices that a plan is made from, the media that there are, and errors in the user's words.

mod host_fabrics;
mod media;
mod plan_error;
mod plan_host;
mod plan_options;

pub use host_fabrics::{HostFabrics, SharedFabric};
pub use media::{check_medium, own_medium_name, streams_medium_names};
pub(crate) use media::{find_medium, process_crossing_media, stays_on_host};
pub use plan_error::PlanError;
pub(crate) use plan_error::position_text;
pub use plan_host::PlanHost;
pub use plan_options::{
    FusionPolicy, MediumCapabilities, Optimisation, PlanGoal, PlanOptions, ThreadingPolicy,
    TransportPolicy,
};
