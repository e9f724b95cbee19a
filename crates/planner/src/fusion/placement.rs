//! Placement constraints of a program: config `placement`, `restartable`, `relocatable`.
//!
//! | placement | operators |
//! | --- | --- |
//! | `partitionColocation(id)` | of one id share a process, of different ids do not |
//! | `partitionExlocation(id)` | of one id are in different processes |
//! | `partitionIsolation` | have a process of their own |
//! | `hostColocation(id)` | of one id are on one host |
//! | `hostExlocation(id)` | of one id are on different hosts, so in different processes |
//! | `host(h)` | are on this host; those of different hosts are in different processes |
//! | `hostIsolation` | have a host of their own: operators that must be there share their process |

use graph::{OperatorNode, Pos, Program};

/// The placement of an operator. Each value is as config has it: `partitionColocation("a")`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperatorPlacement<'a> {
    pub colocation: Option<PlacementValue<'a>>,
    pub exlocation: Option<PlacementValue<'a>>,
    pub isolation: Option<PlacementValue<'a>>,
    pub host_colocation: Option<PlacementValue<'a>>,
    pub host_exlocation: Option<PlacementValue<'a>>,
    pub host_isolation: Option<PlacementValue<'a>>,
    pub host: Option<PlacementValue<'a>>,
    /// The text `true` or `false`.
    pub restartable: Option<PlacementValue<'a>>,
    pub relocatable: Option<PlacementValue<'a>>,
}

/// A value of a config entry, and its place in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacementValue<'a> {
    pub value: &'a str,
    pub pos: Pos,
}

impl<'a> OperatorPlacement<'a> {
    /// The placement that an operator's config asks for.
    pub fn new(operator: &'a OperatorNode) -> OperatorPlacement<'a> {
        OperatorPlacement::with_positions(operator, operator.config.iter().map(|entry| entry.pos))
    }

    /// The placement of an operator whose config entries have other positions than it holds.
    pub fn with_positions(
        operator: &'a OperatorNode,
        positions: impl Iterator<Item = Pos>,
    ) -> OperatorPlacement<'a> {
        let mut placement = OperatorPlacement::default();
        for (entry, pos) in operator.config.iter().zip(positions) {
            for value in &entry.values {
                let constraint = PlacementValue { value, pos };
                let word = value.split('(').next().unwrap_or_default();
                let field = match (&*entry.name, word) {
                    ("placement", "partitionColocation") => &mut placement.colocation,
                    ("placement", "partitionExlocation") => &mut placement.exlocation,
                    ("placement", "partitionIsolation") => &mut placement.isolation,
                    ("placement", "hostColocation") => &mut placement.host_colocation,
                    ("placement", "hostExlocation") => &mut placement.host_exlocation,
                    ("placement", "hostIsolation") => &mut placement.host_isolation,
                    ("placement", "host") => &mut placement.host,
                    ("restartable", _) => &mut placement.restartable,
                    ("relocatable", _) => &mut placement.relocatable,
                    _ => continue,
                };
                *field = Some(constraint);
            }
        }
        placement
    }

    /// The placements of all operators of a program, in order.
    pub fn all(program: &'a Program) -> Vec<OperatorPlacement<'a>> {
        program
            .operators
            .iter()
            .map(OperatorPlacement::new)
            .collect()
    }

    /// Whether the placement keeps the operator away from others.
    pub fn is_constrained(&self) -> bool {
        let bounds = [
            self.exlocation,
            self.isolation,
            self.host_exlocation,
            self.host,
        ];
        bounds.iter().any(Option::is_some)
    }

    /// The value that concerns hosts, if there is one: a host's name before all others.
    pub fn host_value(&self) -> Option<PlacementValue<'a>> {
        let first = self.host.or(self.host_colocation);
        first.or(self.host_exlocation).or(self.host_isolation)
    }
}

/// Whether two values mean different hosts: two names, or two places of one pool. A name and a
/// place of a pool may be the same host.
pub(super) fn are_different_hosts(one: &str, other: &str) -> bool {
    let is_name = |value: &str| value.starts_with("host(\"");
    let place = |value: &str| Some(value.split_once('[')?.0.to_owned());
    let names = is_name(one) && is_name(other);
    let places = place(one).is_some() && place(one) == place(other) && !is_name(one);
    one != other && (names || places)
}

#[cfg(test)]
mod tests {
    use super::are_different_hosts;

    #[test]
    fn hosts_are_told_apart_as_far_as_their_names_say() {
        assert!(are_different_hosts("host(\"a\")", "host(\"b\")"));
        assert!(are_different_hosts("host(Pool[0])", "host(Pool[1])"));
        assert!(!are_different_hosts("host(\"a\")", "host(\"a\")"));
        assert!(!are_different_hosts("host(\"a\")", "host(Pool[1])"));
        assert!(!are_different_hosts("host(Pool)", "host(Pool[1])"));
        assert!(!are_different_hosts("host(Pool[0])", "host(Others[1])"));
        assert!(are_different_hosts("host(\"a[0]\")", "host(\"b[0]\")"));
    }
}
