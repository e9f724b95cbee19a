//! Costs of tuples between threads and processes, by medium.
//!
//! A profile knows the processor time of sending and of receiving of each stream that has crossed
//! on a medium. A calibration knows the time *X* of a tuple from a source on one side to a sink on
//! the other, and the time *F* of both on one thread. Both sides work at once, so *X* is the time
//! of the slower one: its half of *F*, and the medium's work. The sides are taken to be equal:
//!
//! ```text
//!   send = receive = X - F / 2        and at least X / 4, since F is measured apart
//! ```
//! Without either, costs are those of [`DEFAULT_COSTS`], which `docs/optimiser.md` lists.

use std::collections::HashMap;

use graph::{OutPortId, Program};

use crate::calibration::{Calibration, MediumCost, MediumReach};
use crate::choice::{MediumCapabilities, PlanOptions, TransportPolicy, process_crossing_media};
use crate::profile::{CrossingProfile, Profile};

/// Name of the medium of threaded ports and merges, in calibrations and predictions.
pub const RING: &str = "ring";

/// The cost of a tuple on its way to another thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossingCost {
    /// Processor time of the sending thread in nanoseconds.
    pub send_ns: f64,
    /// Processor time of the receiving thread in nanoseconds.
    pub receive_ns: f64,
    /// Time from one thread to the other in nanoseconds, of tuples that come one by one.
    pub latency_ns: f64,
}

/// Default cost of a medium.
struct DefaultCost {
    medium: &'static str,
    /// Nanoseconds of each side for a tuple, and for each byte of it.
    side_ns: (f64, f64),
    latency_ns: f64,
}

/// Costs of media on a machine that is not calibrated: those of the two-core machine whose figures
/// are in `docs/performance.md`, rounded. A choice needs only their ratios, which differ less from
/// machine to machine than the times.
const DEFAULT_COSTS: [DefaultCost; 7] = [
    default_cost(RING, 4.5, 0.026, 30_000.0),
    default_cost("shm", 3.5, 0.027, 40_000.0),
    default_cost("rum", 10.0, 0.28, 60_000.0),
    default_cost("rdma", 50.0, 0.1, 10_000.0),
    default_cost("rum-rdma", 30.0, 0.1, 30_000.0),
    default_cost("mpi", 100.0, 0.3, 30_000.0),
    default_cost("tcp", 4500.0, 0.3, 60_000.0),
];

const fn default_cost(
    medium: &'static str,
    tuple_ns: f64,
    byte_ns: f64,
    latency_ns: f64,
) -> DefaultCost {
    DefaultCost {
        medium,
        side_ns: (tuple_ns, byte_ns),
        latency_ns,
    }
}

/// Nanoseconds of each side for a tuple on a medium that nobody has measured.
const UNKNOWN_MEDIUM_NS: f64 = 100.0;

/// Time to another host in nanoseconds that is added to a medium's latency within one.
const NETWORK_NS: f64 = 20_000.0;

/// The costs of crossings, from the measurements that a plan is made with.
pub struct CrossingCosts<'a> {
    calibration: Option<&'a Calibration>,
    media: &'a [MediumCapabilities<'a>],
    transport: TransportPolicy<'a>,
    /// Measured nanoseconds of a tuple, by operator, port and medium.
    profiled: HashMap<(&'a str, u32, &'a str), (f64, f64)>,
}

impl<'a> CrossingCosts<'a> {
    /// The costs that options and a profile tell.
    pub fn new(options: &PlanOptions<'a>, profile: Option<&'a Profile>) -> CrossingCosts<'a> {
        let crossings = profile.map_or(&[][..], |profile| &profile.crossings);
        let profiled = crossings.iter().filter_map(|line| {
            let tuples = profile?.stream(&line.operator, line.port)?.tuples;
            let CrossingProfile {
                send_ns,
                receive_ns,
                ..
            } = *line;
            let ns = |all: u64| all as f64 / tuples as f64;
            let key = (&*line.operator, line.port, &*line.medium);
            (tuples > 0).then(|| (key, (ns(send_ns), ns(receive_ns))))
        });
        CrossingCosts {
            calibration: options.calibration,
            media: options.media,
            transport: options.transport,
            profiled: profiled.collect(),
        }
    }

    /// A sentence if costs of media are defaults.
    pub fn note(&self) -> Option<String> {
        self.calibration.is_none().then(|| {
            "without a calibration the costs of media are defaults; `thalweg calibrate` measures \
             those of this machine"
                .to_owned()
        })
    }

    /// The cost of a tuple through the queue of a threaded port.
    pub fn ring(&self, bytes: f64) -> CrossingCost {
        self.of_medium(RING, "", MediumReach::WithinHost, bytes)
    }

    /// The cost of a stream's tuple on a medium.
    pub fn of_stream(
        &self,
        (program, stream): (&'a Program, OutPortId),
        (medium, settings): (&str, &str),
        reach: MediumReach,
        bytes: f64,
    ) -> CrossingCost {
        let mut cost = self.of_medium(medium, settings, reach, bytes);
        let operator = &program.operators[stream.operator.0 as usize];
        let key = (&*operator.name, stream.port.0, medium);
        if let Some((send_ns, receive_ns)) = self.profiled.get(&key) {
            (cost.send_ns, cost.receive_ns) = (*send_ns, *receive_ns);
        }
        cost
    }

    /// The medium that a stream without one of its own probably gets: the job's, else the cheapest
    /// calibrated one, else the fastest by rank.
    pub fn likely_medium(&self, reach: MediumReach, bytes: f64) -> &'a str {
        if let TransportPolicy::Medium(name) = self.transport {
            return name;
        }
        let is_far = reach == MediumReach::BetweenHosts;
        let media = process_crossing_media(self.media);
        let media = media.filter(|one| (one.crosses_hosts || !is_far) && !one.needs_fabric);
        let media: Vec<_> = media.collect();
        let measured = media.iter().filter_map(|one| {
            let cost = self.calibrated(one.name, "", reach)?;
            Some((one, cost.tuple_ns(bytes.round() as u64)))
        });
        let cheapest = measured.min_by(|(_, a), (_, b)| a.total_cmp(b));
        let ranked = media.iter().filter(|one| !one.is_by_name_only);
        let fastest = ranked.min_by_key(|one| one.rank);
        let default = if is_far { "rum" } else { "shm" };
        let chosen = cheapest.map(|(medium, _)| medium).or(fastest);
        chosen.map_or(default, |medium| medium.name)
    }

    /// Whether one write on a medium serves several receivers.
    pub fn is_one_to_many(&self, medium: &str) -> bool {
        let mut media = self.media.iter();
        media.any(|one| one.name == medium && one.is_one_to_many)
    }

    /// The calibrated cost of a medium, with these settings before others.
    fn calibrated(&self, medium: &str, settings: &str, reach: MediumReach) -> Option<&MediumCost> {
        let costs = self.calibration?.costs(reach);
        let costs: Vec<_> = costs.filter(|cost| cost.medium == medium).collect();
        let same = costs.iter().find(|cost| cost.settings == settings);
        same.or(costs.first()).copied()
    }

    fn of_medium(
        &self,
        medium: &str,
        settings: &str,
        reach: MediumReach,
        bytes: f64,
    ) -> CrossingCost {
        let near = MediumReach::WithinHost;
        if let Some(cost) = self.calibrated(medium, settings, reach) {
            let whole_bytes = bytes.round() as u64;
            let fused = self.calibrated("fused", "", near);
            let fused_ns = fused.map_or(0.0, |fused| fused.tuple_ns(whole_bytes));
            let whole_ns = cost.tuple_ns(whole_bytes);
            let side = (whole_ns - fused_ns / 2.0).max(whole_ns / 4.0);
            return CrossingCost {
                send_ns: side,
                receive_ns: side,
                latency_ns: cost.latency_ns,
            };
        }
        let known = DEFAULT_COSTS.iter().find(|cost| cost.medium == medium);
        let ((tuple_ns, byte_ns), latency_ns) = match known {
            Some(cost) => (cost.side_ns, cost.latency_ns),
            None => ((UNKNOWN_MEDIUM_NS, 0.3), 60_000.0),
        };
        let side = tuple_ns + byte_ns * bytes;
        CrossingCost {
            send_ns: side,
            receive_ns: side,
            latency_ns: match reach == near {
                true => latency_ns,
                false => latency_ns + NETWORK_NS,
            },
        }
    }
}
