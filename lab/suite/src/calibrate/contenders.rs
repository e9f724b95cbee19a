//! The media that a calibration measures, each with its reach.

use std::fmt;

use planner::MediumReach;
use transport::media::{self, rdma};

use crate::StreamPath;

/// The hosts, sizes and times of a calibration.
#[derive(Clone, Debug)]
pub struct CalibrationOptions {
    /// Two hosts, between which media are measured too.
    pub hosts: Option<CalibratedHosts>,
    /// Bytes of a tuple's attributes.
    pub sizes: Vec<u64>,
    /// Number of turns; each measures every medium at every size.
    pub turns: u32,
    /// Seconds of a run.
    pub seconds: f64,
}

/// A pair of hosts, as values of `--host`: `NAME=ADDRESS[,COMMAND...]`.
#[derive(Clone, Debug)]
pub struct CalibratedHosts {
    /// The host of sources.
    pub near: String,
    /// The host of sinks.
    pub far: String,
}

impl CalibrationOptions {
    /// Sizes that show both the cost of a tuple and that of its bytes.
    pub const SIZES: [u64; 6] = [16, 64, 256, 1024, 4096, 16384];

    /// Sizes of a quick calibration.
    pub const QUICK_SIZES: [u64; 3] = [16, 1024, 16384];
}

/// A medium with settings, over one reach.
pub(super) struct CalibratedMedium {
    pub reach: MediumReach,
    /// Name of the medium in a calibration.
    pub medium: String,
    pub settings: String,
    pub path: StreamPath,
    /// Whether the medium needs more than Thalweg: a library may fail on a machine that has it.
    pub may_fail: bool,
}

impl fmt::Display for CalibratedMedium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.medium)?;
        if !self.settings.is_empty() {
            write!(f, " {}", self.settings)?;
        }
        match self.reach {
            MediumReach::WithinHost => Ok(()),
            MediumReach::BetweenHosts => f.write_str(" between hosts"),
        }
    }
}

/// The name that a mode of `rdma` has besides: it is measured as that mode.
const RDMA_MODE: &str = "rum-rdma";

/// All media that can be measured, and a sentence for each that cannot. Libraries are those that
/// [`media::search`] has found.
pub(super) fn contenders(options: &CalibrationOptions) -> (Vec<CalibratedMedium>, Vec<String>) {
    let mut passed_over = Vec::new();
    let mut all = vec![
        own(MediumReach::WithinHost, "fused", StreamPath::Fused),
        own(MediumReach::WithinHost, "ring", StreamPath::Threaded),
    ];
    let reaches = match options.hosts {
        None => &[MediumReach::WithinHost][..],
        Some(_) => &[MediumReach::WithinHost, MediumReach::BetweenHosts],
    };
    for &reach in reaches {
        for medium in media::all() {
            let caps = medium.caps();
            let reaches = caps.crosses_hosts || reach == MediumReach::WithinHost;
            let is_mode = medium.name() == RDMA_MODE;
            if !caps.crosses_processes || caps.is_for_tests || is_mode || !reaches {
                continue;
            }
            match medium.check_available() {
                Ok(()) => add(&mut all, reach, medium.name(), medium.library().is_some()),
                Err(error) => passed_over.push(format!("{}: {error}", medium.name())),
            }
        }
    }
    passed_over.dedup();
    all.retain(|contender| {
        let missing = contender.path.missing_reason();
        passed_over.extend(missing.iter().map(|why| format!("{contender}: {why}")));
        missing.is_none()
    });
    (all, passed_over)
}

/// A medium that needs nothing but Thalweg.
fn own(reach: MediumReach, medium: &str, path: StreamPath) -> CalibratedMedium {
    CalibratedMedium {
        reach,
        medium: medium.to_owned(),
        settings: String::new(),
        path,
        may_fail: false,
    }
}

/// Adds a medium, once for each of its modes.
fn add(all: &mut Vec<CalibratedMedium>, reach: MediumReach, medium: &str, is_library: bool) {
    let settings = match medium {
        "rdma" => rdma_settings(),
        _ => vec![String::new()],
    };
    all.extend(settings.into_iter().map(|settings| CalibratedMedium {
        reach,
        medium: medium.to_owned(),
        path: StreamPath::on_medium(medium, medium, &settings),
        may_fail: is_library || medium == "rdma",
        settings,
    }));
}

/// The settings of `rdma` that are measured: every mode that there is, over sockets and over each
/// provider that has an adapter here.
fn rdma_settings() -> Vec<String> {
    let ports = rdma::adapter_ports().unwrap_or_default();
    let mut providers: Vec<_> = ports.into_iter().map(|port| port.provider).collect();
    providers.dedup();
    let providers = ["tcp".to_owned()].into_iter().chain(providers);
    let settings = providers.flat_map(|provider| {
        let modes = ["write", "channel", "batch"];
        modes.map(|mode| format!("provider={provider} mode={mode}"))
    });
    let settings = settings.filter(|settings| media::find_with("rdma", settings).is_ok());
    settings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(hosts: Option<CalibratedHosts>) -> CalibrationOptions {
        CalibrationOptions {
            hosts,
            sizes: Vec::new(),
            turns: 1,
            seconds: 1.0,
        }
    }

    fn names(contenders: &[CalibratedMedium]) -> Vec<String> {
        contenders.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_medium_is_measured_or_passed_over() {
        let (all, passed_over) = contenders(&options(None));
        let names = names(&all);
        for name in ["fused", "ring", "shm", "rum", "tcp", "rdma"] {
            let is_measured = names.iter().any(|one| one.split(' ').next() == Some(name));
            let is_passed_over = passed_over.iter().any(|why| why.starts_with(name));
            assert!(
                is_measured != is_passed_over,
                "{name}: {names:?} {passed_over:?}"
            );
        }
        assert!(!names.iter().any(|name| name.contains("sim")), "{names:?}");
        let mut both = names.iter().chain(&passed_over);
        assert!(!both.any(|name| name.contains("rum-rdma")), "{names:?}");
        let is_batch = |name: &&String| name.contains("provider=tcp mode=batch");
        let batches = names.iter().filter(is_batch).count();
        let is_passed_over = passed_over.iter().any(|why| why.starts_with("rdma"));
        assert_eq!(batches, usize::from(!is_passed_over), "{names:?}");
    }

    #[test]
    fn between_hosts_only_media_that_get_there_are_measured() {
        let host = |name: &str| format!("{name}=127.0.0.1");
        let hosts = CalibratedHosts {
            near: host("near"),
            far: host("far"),
        };
        let (all, _) = contenders(&options(Some(hosts)));
        let names = names(&all);
        let far = names
            .iter()
            .filter_map(|name| name.strip_suffix(" between hosts"));
        let far: Vec<_> = far.filter(|name| !name.contains("rdma")).collect();
        match control::cores::missing_reason() {
            None => assert_eq!(far, ["rum", "tcp"]),
            Some(_) => assert!(far.is_empty(), "{far:?}"),
        }
    }
}
