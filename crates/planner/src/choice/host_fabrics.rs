//! Fabrics that join hosts: networks over which one host writes into the memory of another.

use std::fmt;

/// Tells which fabric joins two hosts, for media that need one
/// ([`MediumCapabilities::needs_fabric`](crate::MediumCapabilities::needs_fabric)). The planner
/// asks nothing of the machine itself.
pub trait HostFabrics: fmt::Debug {
    /// The fabric on which both hosts of a plan have a port.
    ///
    /// # Errors
    /// Why no fabric joins them, as far as the hosts tell, in a few words.
    fn shared_fabric(&self, near: &str, far: &str) -> Result<SharedFabric, String>;
}

/// A fabric on which two hosts have a port, and the medium that uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFabric {
    /// Name of the fabric.
    pub name: String,
    /// Name of the medium.
    pub medium: String,
    /// Settings by which the medium uses the fabric: words `key=value` with a blank between them.
    pub settings: String,
}
