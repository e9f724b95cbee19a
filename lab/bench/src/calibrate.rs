//! `thalweg calibrate`: measures the media once, and writes the file that plans are made with.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use planner::{Calibration, MediumReach, default_calibration_file};
use suite::{BenchSettings, CalibratedHosts, CalibrationOptions, CalibrationResult, RunLength};
use transport::{IdleStrategy, media};

use crate::commands::{own_binary, thalweg_binary};
use crate::failure::BenchFailure;
use crate::output::{write_stderr, write_stdout};
use crate::paths::folders;
use crate::text_columns::TextColumns;

/// Measure once what tuples cost on each medium of this machine, or of a pair of hosts, for plans
#[derive(Debug, Parser)]
#[command(
    name = "thalweg-bench",
    bin_name = "thalweg calibrate",
    max_term_width = 100
)]
pub struct CalibrationArgs {
    /// The file to write [default: `thalweg/calibration` in the user's cache folder, where plans
    /// look for it]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// A host, as in `thalweg run`; given twice, the media between the two are measured too
    #[arg(long, value_name = "NAME=ADDRESS[,COMMAND...]")]
    pub host: Vec<String>,

    /// Folders with libraries that are media, separated by colons; can be repeated
    #[arg(long, value_name = "DIRS", env = "THALWEG_MEDIA_PATH")]
    pub media_path: Vec<String>,

    /// How threads wait: spin, yield, park or adaptive [default: adaptive]
    #[arg(long, value_name = "STRATEGY", value_parser = str::parse::<IdleStrategy>)]
    pub idle: Option<IdleStrategy>,

    /// How often each medium is measured at each size; the median counts [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub turns: Option<u32>,

    /// Fewer sizes, one short turn: a trial, not a result
    #[arg(long)]
    pub quick: bool,
}

/// Seconds of a run. A socket holds some megabytes, which a shorter run would only fill.
const SECONDS: f64 = 0.2;

/// Seconds of a run of a quick calibration.
const QUICK_SECONDS: f64 = 0.05;

/// Turns of a calibration, unless the user says otherwise.
const TURNS: u32 = 5;

/// Measures the media, prints their costs and writes the file.
///
/// # Errors
/// The hosts are not two, a run fails, or the file cannot be written.
pub fn calibrate(args: &CalibrationArgs) -> Result<(), BenchFailure> {
    let hosts = hosts(&args.host)?;
    let out = out_file(args.out.clone())?;
    prepare(&out)?;
    media::search(&folders(&args.media_path));
    if cfg!(debug_assertions) {
        write_stderr("note: this is a build for debugging; a release build is what counts\n");
    }
    let settings = BenchSettings {
        thalweg: thalweg_binary()?,
        binary: own_binary()?,
        runs: 1,
        length: RunLength::Seconds(SECONDS),
        idle: args.idle,
        media_path: args.media_path.clone(),
        options: String::new(),
    };
    let options = CalibrationOptions {
        hosts,
        sizes: match args.quick {
            true => CalibrationOptions::QUICK_SIZES.to_vec(),
            false => CalibrationOptions::SIZES.to_vec(),
        },
        turns: args.turns.unwrap_or(if args.quick { 1 } else { TURNS }),
        seconds: if args.quick { QUICK_SECONDS } else { SECONDS },
    };
    let mut progress = |step: &str| write_stderr(&format!("{step}\n"));
    let CalibrationResult {
        calibration,
        passed_over,
    } = suite::calibrate(&settings, &options, &mut progress)?;
    write(&out, &calibration.to_text())?;
    let passed_over = passed_over
        .iter()
        .map(|why| format!("passed over: {why}\n"));
    let passed_over: String = passed_over.collect();
    write_stdout(&(table(&calibration) + &passed_over))?;
    write_stderr(&format!("wrote {}\n", out.display()));
    Ok(())
}

/// The pair of hosts, if hosts are given.
fn hosts(given: &[String]) -> Result<Option<CalibratedHosts>, BenchFailure> {
    let is_host = |text: &String| matches!(text.split_once('='), Some((name, rest)) if !name.is_empty() && !rest.is_empty());
    if let Some(wrong) = given.iter().find(|text| !is_host(text)) {
        let sentence =
            format!("--host {wrong} must have the form NAME=ADDRESS or NAME=ADDRESS,COMMAND,...");
        return Err(BenchFailure::Usage(sentence));
    }
    match given {
        [] => Ok(None),
        [near, far] => Ok(Some(CalibratedHosts {
            near: near.clone(),
            far: far.clone(),
        })),
        _ => Err(BenchFailure::Usage(format!(
            "a calibration is of one machine or of a pair of hosts: --host is given twice or not \
             at all, not {} times",
            given.len()
        ))),
    }
}

/// The file to write.
fn out_file(given: Option<PathBuf>) -> Result<PathBuf, BenchFailure> {
    let variable = std::env::var_os;
    let usual = || {
        let (cache, home) = (variable("XDG_CACHE_HOME"), variable("HOME"));
        default_calibration_file(cache.as_deref(), home.as_deref())
    };
    given.or_else(usual).ok_or_else(|| {
        let sentence = "neither XDG_CACHE_HOME nor HOME says where the cache folder is; --out FILE \
                        names a file";
        BenchFailure::Usage(sentence.to_owned())
    })
}

/// Creates the folder of the file, before minutes of measuring.
fn prepare(out: &Path) -> Result<(), BenchFailure> {
    let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(|error| {
        BenchFailure::Failed(format!(
            "cannot make the folder {}: {error}",
            folder.display()
        ))
    })
}

/// Writes the file whole or not at all: a plan may be made at the same time.
fn write(out: &Path, text: &str) -> Result<(), BenchFailure> {
    let failed = |error| BenchFailure::Failed(format!("cannot write {}: {error}", out.display()));
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let draft = out.with_file_name(name);
    let written = fs::File::create(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, out)
    });
    if written.is_err() {
        // The error of writing is the one to report.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(failed)
}

/// The costs as a table.
fn table(calibration: &Calibration) -> String {
    let mut table = TextColumns::new(&[
        "medium",
        "joins",
        " ns a tuple",
        " ns a byte",
        " latency ns",
        " error %",
        " noise %",
    ]);
    for cost in &calibration.media {
        let joins = match cost.reach {
            MediumReach::WithinHost => "one host",
            MediumReach::BetweenHosts => "two hosts",
        };
        table.add_row(vec![
            [&*cost.medium, &*cost.settings].join(" "),
            joins.to_owned(),
            cost.fit.tuple_ns.to_string(),
            cost.fit.byte_ns.to_string(),
            cost.latency_ns.to_string(),
            format!("{:.0}", cost.fit.error_percent),
            cost.noise_percent
                .map_or("-".to_owned(), |noise| format!("{noise:.0}")),
        ]);
    }
    table.to_text()
}
