//! The choices that user and machine make before a plan is made.

use graph::{CrossingCodec, Plan};

use super::host_fabrics::HostFabrics;
use super::plan_host::PlanHost;
use crate::calibration::Calibration;
use crate::profile::Profile;

/// The choices for a job. The default puts everything into one process.
///
/// ```
/// use thalweg_planner::{FusionPolicy, PlanOptions, ThreadingPolicy, plan};
/// let options = PlanOptions {
///     fusion: FusionPolicy::None,
///     threading: ThreadingPolicy::Automatic,
///     cores: 8,
///     ..PlanOptions::default()
/// };
/// let empty = graph::Program::default();
/// assert!(plan(&empty, &options).is_ok_and(|plan| plan.pes.is_empty()));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOptions<'a> {
    /// The operators that share a process.
    pub fusion: FusionPolicy<'a>,
    /// The media of streams between processes.
    pub transport: TransportPolicy<'a>,
    /// The form in which tuples cross, unless a plan's text says otherwise.
    pub codec: CrossingCodec,
    /// The input ports that have threads, where the program does not decide it.
    pub threading: ThreadingPolicy,
    /// Number of cores that the machine has, for automatic threading and for pools; 0 if it is not
    /// known.
    pub cores: u32,
    /// The media that streams may cross on.
    pub media: &'a [MediumCapabilities<'a>],
    /// Name of a medium, and the settings of the crossings by it that have none of their own. The
    /// settings of `rdma` are those of `rum-rdma` too, which is one of its modes.
    pub medium_settings: Option<(&'a str, &'a str)>,
    /// Measured costs of the media, from which `auto` takes the least.
    pub calibration: Option<&'a Calibration>,
    /// The fabrics that join hosts; `None`: none are known.
    pub fabrics: Option<&'a dyn HostFabrics>,
    /// The hosts that the optimiser may put processes on; without any, all are on the launcher's.
    pub hosts: &'a [PlanHost<'a>],
}

impl<'a> PlanOptions<'a> {
    /// The settings of the job for crossings by a medium that have none of their own; empty: none.
    pub(crate) fn settings_of(&self, medium: &str) -> &'a str {
        match self.medium_settings {
            Some((of, settings)) if of == medium || (of, medium) == ("rdma", "rum-rdma") => {
                settings
            }
            _ => "",
        }
    }
}

/// The operators that share a process.
#[derive(Clone, Copy, Debug, Default)]
pub enum FusionPolicy<'a> {
    /// All operators share one process.
    #[default]
    All,
    /// Only the operators of a loop share one: a circle of bounded queues could wait for itself.
    None,
    /// The operators' config `placement` decides.
    Spl,
    /// A plan from a text decides ([`parse_plan`](crate::parse_plan)); the planner chooses what the
    /// text leaves out.
    Text(&'a Plan),
    /// The plan that the cost model predicts most of, among those that the optimiser finds.
    Cola(Optimisation<'a>),
}

/// The aim of the optimiser, and what it knows of earlier runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Optimisation<'a> {
    /// The number that is to be best.
    pub goal: PlanGoal,
    /// A profile of earlier runs; without one, costs of operators are estimated.
    pub profile: Option<&'a Profile>,
    /// A complete plan of the program that is scored, too, and that the search begins with.
    pub start: Option<&'a Plan>,
}

/// The number of a plan that is to be best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanGoal {
    /// The most tuples a second.
    #[default]
    Throughput,
    /// The least time from a source to the last operator, at the rate of the profile.
    Latency,
    /// The least processor time, as long as the plan carries the rate of the profile.
    Cores,
}

/// The input ports that have a queue, and who runs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadingPolicy {
    /// Only ports that config `threadedPort` names.
    #[default]
    Manual,
    /// All ports, but for those that a loop comes back to; each has a thread of its own.
    Dedicated,
    /// `Manual` where a PE has threads enough for its operators or cores, else `Dynamic`.
    Automatic,
    /// The ports that `Dedicated` gives threads to, with one pool of threads for all of them.
    Dynamic,
}

/// The medium of streams between processes, where the program names none.
#[derive(Clone, Copy, Debug, Default)]
pub enum TransportPolicy<'a> {
    /// The medium of the least calibrated cost, else the fastest one that reaches the receivers.
    #[default]
    Auto,
    /// The medium of this name.
    Medium(&'a str),
}

/// The properties of a medium that matter to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumCapabilities<'a> {
    /// The medium's name in plans.
    pub name: &'a str,
    /// Whether the medium works between processes, and not only between threads of one.
    pub crosses_processes: bool,
    /// Whether the medium works between hosts, and not only between processes of one.
    pub crosses_hosts: bool,
    /// Whether one write serves several receivers.
    pub is_one_to_many: bool,
    /// Whether the medium follows a plan's settings of batches.
    pub batches: bool,
    /// Receivers that a crossing on the medium has at most.
    pub receivers_max: u32,
    /// Rails over which a crossing on the medium can be striped at most, without settings of its
    /// own; 1: `auto` does not take it for a crossing with rails.
    pub rails_max: u32,
    /// Whether the medium is for tests only: found by its name, but never chosen and in no list for
    /// users.
    pub is_for_tests: bool,
    /// Whether only its name selects the medium, unless a calibration has its cost: a user's
    /// library, whose speed nobody has compared with that of the others.
    pub is_by_name_only: bool,
    /// Whether `auto` takes the medium only between hosts that a fabric joins.
    pub needs_fabric: bool,
    /// The medium's rank by speed; the fastest has the least.
    pub rank: u32,
}
