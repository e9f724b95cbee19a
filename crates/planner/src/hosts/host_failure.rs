//! Errors of placements that the hosts cannot keep, with all places that take part.

use graph::Program;

use super::host_pool::HostPool;
use super::host_rules::GroupPlacement;
use super::host_search::NoHosts;
use crate::choice::{PlanError, PlanHost};

/// Places that an error shows at most.
const PLACES_MAX: usize = 8;

/// A program whose placements its hosts cannot keep.
pub(super) struct HostFailure<'a> {
    /// The program, whose operators are named.
    pub program: &'a Program,
    /// The hosts that there are.
    pub hosts: &'a [PlanHost<'a>],
    /// Pools of the program.
    pub pools: &'a [HostPool],
    /// Placements of each group.
    pub said: &'a [Vec<GroupPlacement<'a>>],
}

impl HostFailure<'_> {
    /// The error that a placement names a host that is not there.
    pub fn wrong_host(&self, (at, value): GroupPlacement<'_>, why: &str) -> PlanError {
        let name = &self.program.operators[at].name;
        let message = format!("`{name}` is placed on {}, but {why}", value.value);
        let error = PlanError::new(message).with_pos(value.pos);
        let pool = self.pools.iter().find(|pool| {
            let rest = value
                .value
                .strip_prefix("host(")
                .and_then(|v| v.strip_prefix(&*pool.name));
            rest.is_some_and(|rest| rest.starts_with([')', '[']))
        });
        let error = match pool {
            Some(pool) => error.with_label(pool.pos, "the pool is defined here"),
            None => error,
        };
        error.with_help(self.hosts_help())
    }

    /// The error that groups have no hosts.
    pub fn error(&self, why: &NoHosts) -> PlanError {
        match why {
            NoHosts::TooFew(found) => {
                let hosts: Vec<&str> = found.hosts.iter().map(|&at| self.hosts[at].name).collect();
                let message = match (&found.items[..], &hosts[..]) {
                    ([group], []) => {
                        let said = &self.said[*group];
                        let name = said.first().map_or("?", |(at, _)| self.name(*at));
                        format!("`{name}`, with all that shares its host, can be on no host")
                    }
                    (groups, hosts) => format!(
                        "{} groups of operators need a host each, but may only be on {}: {}",
                        groups.len(),
                        match hosts.len() {
                            1 => "one".to_owned(),
                            count => count.to_string(),
                        },
                        hosts.join(", ")
                    ),
                };
                self.with_places(message, &found.items)
            }
            NoHosts::Together(groups) => {
                let names: Vec<&str> = self.hosts.iter().map(|host| host.name).collect();
                let message = format!(
                    "these placements cannot all be kept on the hosts {}, though without any one \
                     of them the others could",
                    names.join(", ")
                );
                self.with_places(message, groups)
            }
            NoHosts::NotFound => {
                let all: Vec<usize> = (0..self.said.len()).collect();
                let message = "no hosts were found that keep all placements; there may be some, \
                               but the search has ended before it was complete";
                self.with_places(message.to_owned(), &all)
            }
        }
    }

    /// An error with the placements of some groups as its places.
    fn with_places(&self, message: String, groups: &[usize]) -> PlanError {
        let places = groups.iter().flat_map(|&group| {
            // Where a group has several placements, each may be the one to blame.
            self.said[group].iter()
        });
        let places: Vec<&GroupPlacement<'_>> = places.collect();
        let mut error = PlanError::new(message);
        for (number, (at, value)) in places.iter().take(PLACES_MAX).enumerate() {
            let text = format!("`{}` has {} here", self.name(*at), value.value);
            error = match number {
                0 => error.with_pos(value.pos).with_label(value.pos, text),
                _ => error.with_label(value.pos, text),
            };
        }
        let more = places.len().saturating_sub(PLACES_MAX);
        let free = groups.iter().any(|&group| self.said[group].is_empty());
        let mut help = self.hosts_help();
        if more > 0 {
            help = format!("{more} more placements take part; {help}");
        }
        if free {
            help = format!("operators without a placement need a host, too; {help}");
        }
        error.with_help(help)
    }

    fn name(&self, at: usize) -> &str {
        &self.program.operators[at].name
    }

    /// The hosts that there are with their tags, in words.
    fn hosts_help(&self) -> String {
        let host = |host: &PlanHost<'_>| match host.tags {
            [] => host.name.to_owned(),
            tags => format!("{} (tags {})", host.name, tags.join(", ")),
        };
        let hosts: Vec<String> = self.hosts.iter().map(host).collect();
        format!("the hosts are {}", hosts.join(", "))
    }
}
