//! The command line of `thalweg bench vwap` as data.

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use suite::{VwapOptions, VwapPlan};

use crate::args::CommonArgs;

/// Copies of a measured run: 800,000 tuples.
const COPIES: u32 = 200;

/// Copies of a quick run.
const QUICK_COPIES: u32 = 5;

/// Arguments of `thalweg bench vwap`
#[derive(Debug, ClapArgs)]
pub struct VwapArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// Which plans beside all operators in one process [default: all of these]
    #[arg(long, value_name = "PLAN", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(VwapPlan::ALL.map(VwapPlan::name)))]
    pub plan: Vec<String>,

    /// Media of streams between processes [default: shm,rum,tcp; of quick runs shm]
    #[arg(long, value_name = "MEDIUM", value_delimiter = ',')]
    pub path: Vec<String>,

    /// Tickers for each ticker of the input [default: 200; of quick runs 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub copies: Option<u32>,
}

impl VwapArgs {
    /// The cases that these arguments ask for.
    pub fn to_options(&self) -> VwapOptions {
        let quick = self.common.quick;
        let usual: &[&str] = if quick {
            &["shm"]
        } else {
            &["shm", "rum", "tcp"]
        };
        let is_asked = |plan: &VwapPlan| {
            self.plan.is_empty() || self.plan.iter().any(|name| name == plan.name())
        };
        VwapOptions {
            copies: self
                .copies
                .unwrap_or(if quick { QUICK_COPIES } else { COPIES }),
            plans: VwapPlan::ALL.into_iter().filter(is_asked).collect(),
            media: match self.path.is_empty() {
                true => usual.iter().map(|&medium| medium.to_owned()).collect(),
                false => self.path.clone(),
            },
        }
    }
}
