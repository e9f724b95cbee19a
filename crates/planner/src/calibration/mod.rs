//! Calibrations: the costs of tuples on the media of a machine, as `thalweg calibrate` has measured
//! them.
//!
//! ```text
//!   thalweg calibrate ──measures──> Calibration ──to_text──> file ──parse──> Calibration ──> route
//! ```
//! Nothing is measured or read from files here. `docs/calibrate.md` says what each number means.

mod calibration_text;
mod cost_fit;
mod medium_cost;

use std::ffi::OsStr;
use std::path::PathBuf;

pub use cost_fit::CostFit;
pub use medium_cost::{MediumCost, MediumReach};

/// The measured costs of a machine's media.
///
/// # Example
/// ```
/// use thalweg_planner::{Calibration, MediumReach};
///
/// let text = "thalweg calibration 1
/// time 2026-11-24T15:04:05Z
/// processor Some CPU @ 3.60GHz
/// cores 2
/// within shm tuple_ns 12.5 byte_ns 0.25 latency_ns 9000 error_percent 7 noise_percent 3
/// ";
/// let calibration = Calibration::parse(text)?;
/// let cost = calibration.costs(MediumReach::WithinHost).next().expect("a medium");
/// assert_eq!(cost.tuple_ns(64), 12.5 + 64.0 * 0.25);
/// assert_eq!(Calibration::parse(&calibration.to_text())?, calibration);
/// # Ok::<(), thalweg_planner::MeasurementError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// When the machine was measured: `YYYY-MM-DDTHH:MM:SSZ`.
    pub time: String,
    /// The machine's processor, as [`processor_name`] has it.
    pub processor: String,
    /// Number of cores that the measuring process could use.
    pub cores: u32,
    /// Costs of media, each with its settings at most once for a reach.
    pub media: Vec<MediumCost>,
}

impl Calibration {
    /// The costs of the media that were measured over this reach.
    pub fn costs(&self, reach: MediumReach) -> impl Iterator<Item = &MediumCost> {
        self.media.iter().filter(move |cost| cost.reach == reach)
    }

    /// A note if the calibration is one of another machine than the one with this processor and
    /// number of cores.
    pub fn machine_note(&self, processor: &str, cores: u32) -> Option<String> {
        if self.processor == processor && self.cores == cores {
            return None;
        }
        let Calibration {
            processor: other,
            cores: others,
            time,
            ..
        } = self;
        Some(format!(
            "the calibration is of another machine ({other}, {others} cores, {time}), and this one \
             has {processor}, {cores} cores; `thalweg calibrate` measures it"
        ))
    }
}

/// The name of the processor in the text of `/proc/cpuinfo`; `unknown` if it has none.
///
/// # Example
/// ```
/// let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 3.60GHz\n";
/// assert_eq!(thalweg_planner::processor_name(cpuinfo), "Some CPU @ 3.60GHz");
/// ```
pub fn processor_name(cpuinfo: &str) -> String {
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let mut names = fields.filter(|(name, _)| name.trim() == "model name");
    let name = names.next().map(|(_, value)| value);
    let words: Vec<_> = name.unwrap_or_default().split_whitespace().collect();
    match words[..] {
        [] => "unknown".to_owned(),
        _ => words.join(" "),
    }
}

/// The file of a user's calibration, below the cache folder of the XDG base directories: the
/// variable `XDG_CACHE_HOME` if it is an absolute path, else `.cache` in the home directory. `None`
/// if neither is known.
///
/// # Example
/// ```
/// use thalweg_planner::default_calibration_file;
///
/// let file = default_calibration_file(None, Some("/users/ada".as_ref())).unwrap();
/// assert_eq!(file.to_str(), Some("/users/ada/.cache/thalweg/calibration"));
/// assert_eq!(default_calibration_file(Some("relative".as_ref()), None), None);
/// ```
pub fn default_calibration_file(
    xdg_cache_home: Option<&OsStr>,
    home: Option<&OsStr>,
) -> Option<PathBuf> {
    let absolute = |folder: Option<&OsStr>| {
        let folder = folder.map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let cache = match absolute(xdg_cache_home) {
        Some(folder) => folder,
        None => absolute(home)?.join(".cache"),
    };
    Some(cache.join("thalweg").join("calibration"))
}
