//! The command line of `thalweg bench plans` as data.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use suite::PlansOptions;

use crate::args::CommonArgs;
use crate::failure::BenchFailure;

/// Arguments of `thalweg bench plans`
#[derive(Debug, ClapArgs)]
pub struct PlansArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// Number of generated programs [default: 50; of quick runs 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub programs: Option<u32>,

    /// Seed of the first program; the others have those that follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Operators of the smallest program, without sinks
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub operators_min: u32,

    /// Operators of the largest program, without sinks
    #[arg(long, value_name = "N", default_value_t = 40,
          value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub operators_max: u32,

    /// Random plans of each program
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub random_plans: u32,

    /// Calibration for predictions and the optimiser, from `thalweg calibrate`
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

impl PlansArgs {
    /// The programs and plans that these arguments ask for.
    ///
    /// # Errors
    /// The smallest program is larger than the largest.
    pub fn to_options(&self) -> Result<PlansOptions, BenchFailure> {
        let (least, most) = (self.operators_min, self.operators_max);
        if least > most {
            return Err(BenchFailure::Usage(format!(
                "--operators-min {least} is above --operators-max {most}"
            )));
        }
        let quick = self.common.quick;
        let usual_seconds = if quick { 0.1 } else { 1.0 };
        Ok(PlansOptions {
            seed: self.seed,
            programs: self.programs.unwrap_or(if quick { 2 } else { 50 }),
            operators: (least, most),
            random_plans: self.random_plans,
            seconds: self.common.seconds.unwrap_or(usual_seconds),
            calibration: self.calibration.clone(),
        })
    }
}
