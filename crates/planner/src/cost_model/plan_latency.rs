//! Latency of a plan at a given rate: the longest way through the program.
//!
//! A tuple takes the time of each operator on its way, that of each crossing and queue, and a wait
//! for the thread behind each. A thread of load *ρ* (its busy time over all time) that takes *S* a
//! tuple is a queue with one server and even service, which makes a tuple wait, by Pollaczek and
//! Khinchine for M/D/1,
//!
//! ```text
//!   W = S × ρ / (2 × (1 - ρ))
//! ```

use super::load_graph::{LoadGraph, StreamCosts};
use super::plan_sketch::PlanSketch;
use super::thread_loads::{LoadedThread, ThreadLoads};

/// Predicted time in nanoseconds from a source to the last operator, for `rate` tuples of the
/// sources in a nanosecond; infinite if a thread cannot carry the rate.
pub fn latency_ns(
    graph: &LoadGraph,
    costs: &StreamCosts,
    sketch: &PlanSketch,
    loads: &ThreadLoads,
    rate: f64,
) -> f64 {
    let waits: Vec<f64> = loads
        .threads
        .iter()
        .map(|thread| wait_ns(thread, rate))
        .collect();
    let mut until: Vec<f64> = Vec::with_capacity(graph.units.len());
    for (at, unit) in graph.units.iter().enumerate() {
        let own = loads.shares[at].parts().into_iter();
        let wait = own.map(|(thread, _)| waits[thread]).fold(0.0, f64::max);
        let arrivals = unit.inputs.iter().map(|input| {
            let (from, to) = (sketch.pe_of[input.from], sketch.pe_of[at]);
            let crossing = match from == to {
                true => None,
                false if sketch.host(from) == sketch.host(to) => Some(&costs.within),
                false => Some(&costs.between),
            };
            let is_queued = sketch.is_queued[input.port];
            let mut way = crossing.map_or(0.0, |costs| costs[input.stream].latency_ns);
            if is_queued || crossing.is_none() && loads.has_merge[at] {
                way += costs.ring[input.stream].latency_ns;
            }
            match crossing.is_some() || is_queued || loads.has_merge[at] {
                true => until[input.from] + way + wait,
                false => until[input.from],
            }
        });
        let arrival = arrivals.fold(0.0, f64::max);
        until.push(arrival + unit.tuple_ns);
    }
    let overloaded = waits.iter().any(|wait| wait.is_infinite());
    match overloaded {
        true => f64::INFINITY,
        false => until.into_iter().fold(0.0, f64::max),
    }
}

/// Mean wait of a tuple for a thread.
fn wait_ns(thread: &LoadedThread, rate: f64) -> f64 {
    let load = thread.ns * rate;
    if load >= 1.0 {
        return f64::INFINITY;
    }
    let service_ns = match thread.arrivals > 0.0 {
        true => thread.ns / thread.arrivals,
        false => 0.0,
    };
    service_ns * load / (2.0 * (1.0 - load))
}
