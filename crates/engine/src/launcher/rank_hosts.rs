//! The hosts of ranks, as their connections to the launcher show them.

use std::net::IpAddr;

use graph::{PeAssignment, PeId, Plan, Program};
use transport::media;

use crate::error::Error;
use crate::job::{HostSpec, RankOptions};

/// Addresses of a rank on another host, and of the launcher's side; `None`: a rank on this host.
pub type RankAddresses = Option<(IpAddr, IpAddr)>;

/// The hosts of ranks: that of rank 0 first. None if all ranks are on one host.
pub fn rank_hosts(addresses: &[RankAddresses], options: Option<&RankOptions>) -> Vec<HostSpec> {
    let Some((_, near)) = addresses.iter().flatten().next() else {
        return Vec::new();
    };
    let near = options
        .and_then(|options| options.control_address)
        .unwrap_or(*near);
    let host = |rank: usize, address: IpAddr| HostSpec {
        name: format!("rank{rank}"),
        address,
        prefix: Vec::new(),
    };
    let mut hosts = vec![host(0, near)];
    for (rank, far) in addresses.iter().enumerate() {
        let Some((far, _)) = far else {
            continue;
        };
        if hosts.iter().all(|known| known.address != *far) {
            hosts.push(host(rank, *far));
        }
    }
    hosts
}

/// Checks that each stream whose sender or receiver is not on the host of rank 0 is on a medium
/// that crosses hosts: descriptors of others do not reach that host's processes.
///
/// # Errors
/// [`Error::Plan`] with the stream and the medium.
pub fn check_crossings(
    plan: &Plan,
    program: &Program,
    addresses: &[RankAddresses],
) -> Result<(), Error> {
    let assignment = PeAssignment::new(plan, program.operators.len());
    let is_far = |pe: PeId| addresses.get(pe.0 as usize).is_some_and(Option::is_some);
    for crossing in &plan.crossings {
        let from = assignment.pe_of(crossing.from.operator);
        let mut pes = from.into_iter().chain(crossing.to.iter().copied());
        let crosses_hosts = media::find(&crossing.medium).is_some_and(|m| m.caps().crosses_hosts);
        let far = pes.find(|pe| is_far(*pe)).filter(|_| !crosses_hosts);
        if let Some(pe) = far {
            let operator = program.operators.get(crossing.from.operator.0 as usize);
            let name = operator.map_or("?", |operator| &*operator.name);
            return Err(Error::Plan(format!(
                "stream {name}.{} by {}: pe {pe} is not on the host of rank 0, and only media that \
                 cross hosts reach it, such as rum and tcp",
                crossing.from.port, crossing.medium
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn ranks_with_one_address_are_on_one_host() {
        assert!(rank_hosts(&[None, None], None).is_empty());
        let far = |address: &str| Some((ip(address), ip("10.0.0.1")));
        let ranks = [
            None,
            far("10.0.0.2"),
            None,
            far("10.0.0.3"),
            far("10.0.0.2"),
        ];
        let found = rank_hosts(&ranks, None);
        let found: Vec<_> = found.iter().map(|h| (&*h.name, h.address)).collect();
        let expected = [
            ("rank0", "10.0.0.1"),
            ("rank1", "10.0.0.2"),
            ("rank3", "10.0.0.3"),
        ];
        assert_eq!(found, expected.map(|(name, address)| (name, ip(address))));
    }
}
