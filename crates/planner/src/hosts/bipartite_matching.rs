//! Bipartite matching by augmenting paths: a host of its own for each of some items.
//!
//! Items and hosts are tried in order, so the result is always the same. An item for which no path
//! is found shows a set of items that has fewer hosts than members (P. Hall, "On representatives
//! of subsets", 1935): those that the search has reached.

/// The items that have too few hosts together, and these hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnmatchedItems {
    /// Items that have too few hosts, in order.
    pub items: Vec<usize>,
    /// All hosts that the items may have, in order: fewer than items.
    pub hosts: Vec<usize>,
}

/// Gives each of `items` items a host of its own, out of `hosts` hosts, that it may have.
///
/// # Errors
/// The items that have too few hosts together.
pub(super) fn match_hosts(
    items: usize,
    hosts: usize,
    may_have: impl Fn(usize, usize) -> bool,
) -> Result<Vec<usize>, UnmatchedItems> {
    let mut item_of: Vec<Option<usize>> = vec![None; hosts];
    for item in 0..items {
        let mut reached = vec![false; hosts];
        if !augment(item, &may_have, &mut item_of, &mut reached) {
            let of_host = (0..hosts).filter(|&host| reached[host]);
            let mut all: Vec<usize> = of_host.filter_map(|host| item_of[host]).collect();
            all.push(item);
            all.sort_unstable();
            return Err(UnmatchedItems {
                items: all,
                hosts: (0..hosts).filter(|&host| reached[host]).collect(),
            });
        }
    }
    let mut host_of = vec![0; items];
    for (host, item) in item_of.into_iter().enumerate() {
        if let Some(item) = item {
            host_of[item] = host;
        }
    }
    Ok(host_of)
}

/// Finds a host for an item, and other hosts for items that give theirs up.
fn augment(
    item: usize,
    may_have: &impl Fn(usize, usize) -> bool,
    item_of: &mut [Option<usize>],
    reached: &mut [bool],
) -> bool {
    for host in 0..item_of.len() {
        if !may_have(item, host) || std::mem::replace(&mut reached[host], true) {
            continue;
        }
        let is_free = match item_of[host] {
            Some(other) => augment(other, may_have, item_of, reached),
            None => true,
        };
        if is_free {
            item_of[host] = Some(item);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{UnmatchedItems, match_hosts};

    fn matched(lists: &[&[usize]], hosts: usize) -> Result<Vec<usize>, UnmatchedItems> {
        match_hosts(lists.len(), hosts, |item, host| lists[item].contains(&host))
    }

    #[test]
    fn items_give_up_hosts_for_others() {
        assert_eq!(matched(&[&[0, 1], &[0]], 2), Ok(vec![1, 0]));
        assert_eq!(matched(&[&[0, 1], &[0, 1], &[1, 2]], 3), Ok(vec![1, 0, 2]));
        assert_eq!(matched(&[], 0), Ok(Vec::new()));
    }

    #[test]
    fn items_that_are_not_matched_have_fewer_hosts() {
        let found = matched(&[&[3], &[0, 1], &[0, 1], &[0, 1]], 4);
        let expected = UnmatchedItems {
            items: vec![1, 2, 3],
            hosts: vec![0, 1],
        };
        assert_eq!(found, Err(expected));
        let nowhere = UnmatchedItems {
            items: vec![1],
            hosts: Vec::new(),
        };
        assert_eq!(matched(&[&[0], &[]], 2), Err(nowhere));
    }
}
