//! What is chosen from outside before a plan is made.

use graph::{CrossingCodec, Plan};

/// How a program is to run. The default: everything in one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOptions<'a> {
    /// Which operators share a process.
    pub fusion: FusionPolicy<'a>,
    /// How streams cross between processes.
    pub transport: TransportPolicy<'a>,
    /// How their tuples are written.
    pub codec: CrossingCodec,
    /// Which input ports have threads, where the program does not say it.
    pub threading: ThreadingPolicy,
    /// Cores that the machine has; 0: not known. Automatic threading looks at it.
    pub cores: u32,
    /// The media that there are.
    pub media: &'a [MediumCapabilities<'a>],
}

/// Which operators share a process.
#[derive(Clone, Copy, Debug, Default)]
pub enum FusionPolicy<'a> {
    /// All of them.
    #[default]
    All,
    /// None, but for those of a loop: a circle of bounded queues could wait for itself.
    None,
    /// As config `placement` of the operators says.
    Spl,
    /// As a text says: [`Plan::parse`]. What it leaves out is chosen.
    Text(&'a Plan),
}

/// Which input ports have a thread of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadingPolicy {
    /// Those that config `threadedPort` names.
    #[default]
    Manual,
    /// All that are not in a loop.
    Dedicated,
    /// As `Manual` or as `Dynamic`, by how many threads and cores there are.
    Automatic,
    /// A shared scheduler. There is none yet: as `Dedicated`.
    Dynamic,
}

/// How streams cross between processes, unless the program says something else for an edge.
#[derive(Clone, Copy, Debug, Default)]
pub enum TransportPolicy<'a> {
    /// By the fastest medium that gets there.
    #[default]
    Auto,
    /// By this medium.
    Medium(&'a str),
}

/// What a plan has to know of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumCapabilities<'a> {
    /// The word for it in plans.
    pub name: &'a str,
    /// Between processes; else only between threads of one.
    pub crosses_processes: bool,
    /// Between hosts; else only between processes of one.
    pub crosses_hosts: bool,
    /// One write serves several receivers.
    pub is_one_to_many: bool,
    /// What a plan says of batches counts.
    pub batches: bool,
    /// A crossing by it has at most so many receivers.
    pub receivers_max: u32,
    /// For tests only: found by its name, but never chosen and not in any list for users.
    pub is_for_tests: bool,
    /// Its place among all, the fastest having the least.
    pub rank: u32,
}
