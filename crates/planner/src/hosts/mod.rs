//! Hosts of processes: what placements and pools ask of them, and which processes each host gets.
//!
//! ```text
//!   Program, PlanHosts ──> HostRules ──groups of operators that share a host──> HostSearch
//!                             │  allow: whether the hosts of some processes keep all rules
//!                             └─ place: hosts for some processes, or why there are none
//! ```
//! Operators that have to be on one host are a *group*. Two groups may have to be on different
//! hosts, and each group has the hosts that it may be on. Groups that must all be apart are placed
//! by bipartite matching; a matching that is not possible names its groups and hosts, as Hall's
//! theorem has it.

mod bipartite_matching;
mod host_failure;
mod host_item;
mod host_pool;
mod host_rules;
mod host_search;

pub(crate) use host_rules::HostRules;
