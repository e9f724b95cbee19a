//! Pools of config `hostPool`: named sets of hosts, or hosts that have some tags.
//!
//! ```text
//!   Pool = ["near", "far"]                                 these hosts
//!   Pool = createPool({size = 2, tags = ["a"]}, Sys.Shared)  two hosts at most, with the tag
//! ```

use graph::{Pos, Program};

use crate::choice::PlanHost;

/// A pool with the hosts that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPool {
    /// Name of the pool in the program.
    pub name: String,
    /// The hosts that are named or have the tags, by number. `None` in a list of names stands for
    /// one that no known host has.
    pub hosts: Vec<Option<usize>>,
    /// Whether the hosts are named in their order, so that an index means one of them.
    pub is_named: bool,
    /// Number of hosts that the pool has at most; `None` for all.
    pub size: Option<usize>,
    /// Whether hosts that the pool uses are for its operators alone.
    pub is_exclusive: bool,
    /// Definition of the pool, as config has it.
    pub text: String,
    /// Position of the config entry.
    pub pos: Pos,
}

impl HostPool {
    /// The pools of a program's main composite.
    pub fn all(program: &Program, hosts: &[PlanHost<'_>]) -> Vec<HostPool> {
        let entries = program.config.iter();
        let entries = entries.filter(|entry| &*entry.name == "hostPool");
        let pools = entries.flat_map(|entry| {
            let values = entry.values.iter();
            values.filter_map(|value| HostPool::parse(value, hosts, entry.pos))
        });
        pools.collect()
    }

    fn parse(value: &str, hosts: &[PlanHost<'_>], pos: Pos) -> Option<HostPool> {
        let (name, text) = value.split_once(" = ")?;
        let mut pool = HostPool {
            name: name.to_owned(),
            hosts: Vec::new(),
            is_named: !text.starts_with("createPool("),
            size: None,
            is_exclusive: text.ends_with("Sys.Exclusive)"),
            text: value.to_owned(),
            pos,
        };
        let words = quoted_words(text);
        if pool.is_named {
            let number = |name: &String| hosts.iter().position(|host| host.name == name);
            pool.hosts = words.iter().map(number).collect();
            return Some(pool);
        }
        let size = text.split_once("size = ").map(|(_, rest)| rest);
        let digits = size.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        pool.size = digits.and_then(|digits| digits.parse().ok());
        let has_tags = |host: &PlanHost<'_>| words.iter().all(|tag| host.tags.contains(tag));
        let tagged = (0..hosts.len()).filter(|&at| has_tags(&hosts[at]));
        pool.hosts = tagged.map(Some).collect();
        Some(pool)
    }

    /// Number of known hosts of the pool.
    pub fn known(&self) -> usize {
        self.hosts.iter().flatten().count()
    }
}

/// The words in quotes of a text, without their escapes.
pub(super) fn quoted_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, &mut word) {
            ('"', open @ Some(_)) => words.extend(open.take()),
            ('"', None) => word = Some(String::new()),
            ('\\', Some(word)) => match chars.next() {
                Some('n') => word.push('\n'),
                Some('t') => word.push('\t'),
                Some(c) => word.push(c),
                None => {}
            },
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(value: &str) -> HostPool {
        let tags = [
            ["a".to_owned(), "b".to_owned()],
            ["b".to_owned(), "c".to_owned()],
        ];
        let host = |name, at: usize| PlanHost {
            name,
            tags: &tags[at],
            cores: 1,
        };
        let hosts = [host("near", 0), host("far", 1)];
        HostPool::parse(value, &hosts, Pos::default()).expect("a pool")
    }

    #[test]
    fn pools_name_hosts_or_tags() {
        let named = parsed("P = [\"far\", \"moon\"]");
        assert_eq!((named.hosts, named.is_named), (vec![Some(1), None], true));
        let tagged = parsed("P = createPool({size = 12, tags = [\"b\", \"c\"]}, Sys.Exclusive)");
        assert_eq!(tagged.hosts, [Some(1)]);
        assert_eq!((tagged.size, tagged.is_exclusive), (Some(12), true));
        let any = parsed("P = createPool(Sys.Shared)");
        assert_eq!((any.known(), any.size, any.is_exclusive), (2, None, false));
        assert_eq!(
            parsed("P = createPool({tags = [\"a\"]}, Sys.Shared)").hosts,
            [Some(0)]
        );
    }

    #[test]
    fn quoted_words_lose_their_escapes() {
        assert_eq!(
            quoted_words("[\"a\\\"b\", \"c\\\\\", \"\"]"),
            ["a\"b", "c\\", ""]
        );
    }
}
