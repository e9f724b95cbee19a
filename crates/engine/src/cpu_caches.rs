//! The caches of this machine: which cores share one, as the kernel says.
//!
//! ```text
//!   /sys/devices/system/cpu/cpu3/cache/index2/level             3
//!                                            /type              Unified
//!                                            /shared_cpu_list   0-3,8
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Folder in which the kernel describes the cores.
const CPU_FOLDER: &str = "/sys/devices/system/cpu";

/// Indices of caches that are looked at for each core; processors have four or five.
const CACHES_MAX: u32 = 16;

/// Some cores of this machine, those that share their last cache together.
///
/// # Example
/// ```
/// let domains = thalweg_engine::cache_domains(&[0, 1]);
/// assert_eq!(domains.concat().len(), 2);
/// ```
pub fn cache_domains(cores: &[u32]) -> Vec<Vec<u32>> {
    cache_domains_in(Path::new(CPU_FOLDER), cores)
}

/// Groups cores by the last cache that they share, as the folder describes them. Groups are in
/// order of their first cores. In a group, cores that share their first cache (threads of one core
/// of the processor) stand apart: each of these caches gives one core, then each a second one. If
/// the folder does not describe every core, all are one group.
fn cache_domains_in(folder: &Path, cores: &[u32]) -> Vec<Vec<u32>> {
    let mut domains: Vec<(BTreeSet<u32>, Vec<u32>)> = Vec::new();
    for &core in cores {
        let Some((_, last)) = caches(folder, core)
            .into_iter()
            .max_by_key(|(level, _)| *level)
        else {
            return one_group(cores);
        };
        match domains
            .iter_mut()
            .find(|(shared, _)| shared.contains(&core))
        {
            Some((_, members)) => members.push(core),
            None => domains.push((last, vec![core])),
        }
    }
    let spread = |(_, members): (BTreeSet<u32>, Vec<u32>)| {
        let mut firsts: Vec<BTreeSet<u32>> = Vec::new();
        let mut keyed: Vec<(usize, u32)> = Vec::new();
        for core in members {
            let first = caches(folder, core)
                .into_iter()
                .min_by_key(|(level, _)| *level);
            let first = first.map_or_else(|| BTreeSet::from([core]), |(_, shared)| shared);
            let before = firsts.iter().filter(|other| **other == first).count();
            firsts.push(first);
            keyed.push((before, core));
        }
        keyed.sort_by_key(|(before, _)| *before);
        keyed.into_iter().map(|(_, core)| core).collect()
    };
    domains.into_iter().map(spread).collect()
}

fn one_group(cores: &[u32]) -> Vec<Vec<u32>> {
    match cores {
        [] => Vec::new(),
        _ => vec![cores.to_vec()],
    }
}

/// The caches of a core for data, each with its level and the cores that share it.
fn caches(folder: &Path, core: u32) -> Vec<(u32, BTreeSet<u32>)> {
    let of_core = folder.join(format!("cpu{core}")).join("cache");
    let caches = (0..CACHES_MAX).filter_map(|index| {
        let of_cache = of_core.join(format!("index{index}"));
        let text = |name: &str| fs::read_to_string(of_cache.join(name)).ok();
        let is_for_data = text("type")?.trim() != "Instruction";
        let level = text("level")?.trim().parse().ok()?;
        let shared = parse_cores(text("shared_cpu_list")?.trim())?;
        (is_for_data && shared.contains(&core)).then_some((level, shared))
    });
    caches.collect()
}

/// Cores of a list such as `0-3,8`; `None` if it is garbled.
fn parse_cores(list: &str) -> Option<BTreeSet<u32>> {
    let mut cores = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // More cores than any machine has are no list of cores.
        if last < first || last - first > u32::from(u16::MAX) {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder that is removed at the end.
    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A folder that describes cores, each by its caches: level, type and cores that share it.
    fn folder(name: &str, cores: &[&[(u32, &str, &str)]]) -> Folder {
        let id = std::process::id();
        let root = Folder(std::env::temp_dir().join(format!("thalweg-caches-{name}-{id}")));
        for (core, caches) in cores.iter().enumerate() {
            for (index, (level, kind, shared)) in caches.iter().enumerate() {
                let of_cache = root.0.join(format!("cpu{core}/cache/index{index}"));
                fs::create_dir_all(&of_cache).expect("a folder");
                for (file, text) in [
                    ("level", level.to_string()),
                    ("type", (*kind).to_owned()),
                    ("shared_cpu_list", (*shared).to_owned()),
                ] {
                    fs::write(of_cache.join(file), text + "\n").expect("a file");
                }
            }
        }
        root
    }

    #[test]
    fn cores_are_grouped_by_their_last_cache() {
        // Two sockets of two cores with two threads each: 0 and 4 are threads of one core.
        let caches: Vec<Vec<(u32, &str, &str)>> = (0..8)
            .map(|core| {
                let own = ["0,4", "1,5", "2,6", "3,7"][core % 4];
                let socket = ["0-1,4-5", "2-3,6-7"][core % 4 / 2];
                vec![
                    (1, "Data", own),
                    (1, "Instruction", own),
                    (2, "Unified", own),
                    (3, "Unified", socket),
                ]
            })
            .collect();
        let caches: Vec<&[_]> = caches.iter().map(|caches| &caches[..]).collect();
        let root = folder("sockets", &caches);
        let domains = |cores: &[u32]| cache_domains_in(&root.0, cores);
        assert_eq!(domains(&[0, 4, 1, 5, 2, 3]), [vec![0, 1, 4, 5], vec![2, 3]]);
        assert_eq!(domains(&[6, 0]), [vec![6], vec![0]]);
        assert_eq!(domains(&[]), Vec::<Vec<u32>>::new());
        // A core that is not described: no choice.
        assert_eq!(domains(&[0, 2, 9]), [vec![0, 2, 9]]);
    }

    #[test]
    fn garbled_descriptions_are_no_choice() {
        let root = folder(
            "garbled",
            &[&[(3, "Unified", "0")], &[(3, "Unified", "1-x")]],
        );
        assert_eq!(cache_domains_in(&root.0, &[0, 1]), [vec![0, 1]]);
        assert_eq!(parse_cores("3-1"), None);
        assert_eq!(parse_cores("0-4294967295"), None);
        assert_eq!(parse_cores("0-1,8"), Some([0, 1, 8].into()));
    }
}
