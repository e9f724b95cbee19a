//! A host that plans may put processes on.

/// A host that the optimiser may put processes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanHost<'a> {
    /// Name of the host in plans and in config.
    pub name: &'a str,
    /// Tags of the host, which pools of config `hostPool` ask for.
    pub tags: &'a [String],
    /// Number of cores that the host has.
    pub cores: u32,
}
