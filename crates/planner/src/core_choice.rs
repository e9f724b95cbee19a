//! Cores for the threads of a plan: those that exchange most bytes get cores that share a cache.
//!
//! ```text
//!   cores that share a cache        0 1        2 3
//!   threads                       A -> B     C -> D        B -> C carries least
//! ```
//! Threads are put into groups of cores by their heaviest streams first, and then moved or
//! exchanged as long as fewer bytes go from one group to another.
//!
//! # Cost
//! Each step looks at all pairs of threads; there are no more threads than cores.

use graph::{
    EdgeMedium, InPortId, Merge, OperatorId, OutPortId, PeAssignment, PeId, PePlan, Pin,
    PinnedThread, Plan, Program, ThreadStartPoint, ThreadedPort,
};

use crate::cost_model::ProgramLoads;
use crate::cut::ProgramCuts;
use crate::derived::{check, derive};
use crate::pe_threads::pe_threads;
use crate::profile::Profile;
use crate::streams::StreamConsumers;

/// A thread of a PE that runs operators.
struct CoreThread {
    pe: PeId,
    /// Operators of the program that the thread may enter.
    operators: Vec<OperatorId>,
    /// The place in the plan that names the core of the thread; `None` if there is none.
    place: Option<CorePlace>,
}

/// The place in a plan that names the core of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CorePlace {
    /// A line `source` or `receiver`.
    Pin(PinnedThread),
    /// A line `queue` of an input port.
    Queue(InPortId),
}

/// Gives each thread of a complete plan a core of its own, so that threads which exchange most
/// bytes share a cache. `domains` has the cores that may be used, in groups that share a cache.
/// Threads whose core no line of a plan names (operators with own threads, merges of streams of
/// their PE) may run on all cores of their PE.
///
/// Returns whether it has done so. The plan stays as it is if there is no choice: with a single
/// group of cores, a single thread, more threads than cores, a pool of threads, hosts, or cores
/// that the plan has already.
pub fn choose_cores(
    program: &Program,
    profile: Option<&Profile>,
    plan: &mut Plan,
    domains: &[Vec<u32>],
) -> bool {
    let cores: usize = domains.iter().map(Vec::len).sum();
    if domains.len() < 2 || has_choices(plan) || check(plan, program).is_err() {
        return false;
    }
    let threads = threads(program, plan);
    if threads.len() < 2 || threads.len() > cores {
        return false;
    }
    let traffic = traffic(program, profile, plan, &threads);
    let sizes: Vec<usize> = domains.iter().map(Vec::len).collect();
    let domain_of = group_by_traffic(&traffic, &sizes);
    let mut free: Vec<_> = domains.iter().map(|cores| cores.iter().copied()).collect();
    let chosen = domain_of.iter().map(|&domain| free[domain].next());
    let chosen: Option<Vec<u32>> = chosen.collect();
    let Some(chosen) = chosen else { return false };
    let mut pinned = plan.clone();
    for (thread, core) in threads.iter().zip(&chosen) {
        pinned.pes[thread.pe.0 as usize].cores.push(*core);
        set_core(&mut pinned, thread, *core);
    }
    for pe in &mut pinned.pes {
        pe.cores.sort_unstable();
        pe.pins.sort_unstable_by_key(|pin| pin.thread);
    }
    derive(&mut pinned, program);
    let is_right = check(&pinned, program).is_ok();
    if is_right {
        *plan = pinned;
    }
    is_right
}

/// Whether a plan says something of cores, pools or hosts itself.
fn has_choices(plan: &Plan) -> bool {
    plan.pes.iter().any(|pe| {
        let mut queues = pe.threaded_ports.iter();
        pe.host.is_some()
            || pe.pool.is_some()
            || !pe.cores.is_empty()
            || !pe.pins.is_empty()
            || queues.any(|queue| queue.core.is_some() || queue.is_pooled)
    })
}

/// The threads of all PEs, without those of timers, which hardly run.
fn threads(program: &Program, plan: &Plan) -> Vec<CoreThread> {
    let cuts = ProgramCuts::new(program, plan);
    let assignment = PeAssignment::new(plan, program.operators.len());
    let mut threads = Vec::new();
    for (id, pe) in plan.pe_ids().zip(&plan.pes) {
        let part = cuts.cut(id);
        for thread in pe_threads(&part.program, &part.pins).threads {
            let name = |at: OperatorId| &*part.program.operators[at.0 as usize].name;
            let place = match thread.start {
                ThreadStartPoint::Timers(_) => continue,
                ThreadStartPoint::Operator(_) => None,
                ThreadStartPoint::Source(at) => {
                    let source = part.operator_ids[at.0 as usize];
                    source.map(|source| CorePlace::Pin(PinnedThread::Source(source)))
                }
                ThreadStartPoint::Queue(at) => {
                    let mut queues = pe.threaded_ports.iter();
                    let queue = queues.find(|queue| program.queue_name(queue) == name(at));
                    queue.map(|queue| CorePlace::Queue(queue.in_port()))
                }
                ThreadStartPoint::Receiver(at) => {
                    let mut receivers = pe.receivers.iter();
                    let receiver = receivers.find(|receiver| {
                        program.receiver_name(plan, &assignment, receiver) == name(at)
                    });
                    let first = receiver.and_then(|receiver| receiver.crossings.first());
                    let from = first.map(|crossing| plan.crossing(*crossing).from);
                    let pin = from.map(|from| CorePlace::Pin(PinnedThread::Receiver(from)));
                    let mut merges = pe.merges.iter();
                    let merge = merges.find(|merge| program.merge_name(merge) == name(at));
                    pin.or_else(|| merge_place(pe, merge?))
                }
            };
            let entered = thread.operators.iter();
            threads.push(CoreThread {
                pe: id,
                operators: entered
                    .filter_map(|at| part.operator_ids[at.0 as usize])
                    .collect(),
                place,
            });
        }
    }
    threads
}

/// The place of a merge's core: that of a queue or a receiver that the merge replaces.
fn merge_place(pe: &PePlan, merge: &Merge) -> Option<CorePlace> {
    let mut queues = pe.threaded_ports.iter().map(ThreadedPort::in_port);
    let queue = queues.find(|port| merge.feeds(*port)).map(CorePlace::Queue);
    queue.or_else(|| {
        let mut inputs = merge.inputs.iter();
        let crossing = inputs.find(|input| input.crossing.is_some())?;
        Some(CorePlace::Pin(PinnedThread::Receiver(crossing.from)))
    })
}

/// Bytes that each two threads exchange for a tuple of the sources: those of all streams that do
/// not go by a call, in even parts if several threads take part.
fn traffic(
    program: &Program,
    profile: Option<&Profile>,
    plan: &Plan,
    threads: &[CoreThread],
) -> Vec<Vec<f64>> {
    let loads = ProgramLoads::new(program, &StreamConsumers::new(program), profile);
    let entering = |operator: OperatorId| {
        let all = threads.iter().enumerate();
        let entering = all.filter(move |(_, thread)| thread.operators.contains(&operator));
        entering.map(|(at, _)| at).collect::<Vec<usize>>()
    };
    let mut traffic = vec![vec![0.0; threads.len()]; threads.len()];
    let edges = plan.pes.iter().flat_map(|pe| &pe.edges);
    for edge in edges.filter(|edge| edge.medium != EdgeMedium::Fused) {
        let (from, to) = (entering(edge.from.operator), entering(edge.operator));
        let bytes = stream_bytes(&loads, edge.from) / (from.len() * to.len()).max(1) as f64;
        for &one in &from {
            for &other in to.iter().filter(|other| **other != one) {
                traffic[one][other] += bytes;
                traffic[other][one] += bytes;
            }
        }
    }
    traffic
}

fn stream_bytes(loads: &ProgramLoads, stream: OutPortId) -> f64 {
    let load = loads.stream(stream);
    load.tuples * load.bytes
}

/// A group for each thread, within the sizes of groups, with little traffic between groups.
fn group_by_traffic(traffic: &[Vec<f64>], sizes: &[usize]) -> Vec<usize> {
    let count = traffic.len();
    let mut group_of: Vec<Option<usize>> = vec![None; count];
    let mut room = sizes.to_vec();
    // The thread with most traffic to those that are placed is next, in the group that it has most
    // traffic with; of equal groups the one with most room.
    for _ in 0..count {
        let to_placed = |at: usize| {
            let others = (0..count).filter(|&other| group_of[other].is_some());
            others.map(|other| traffic[at][other]).sum::<f64>()
        };
        let all = |at: usize| traffic[at].iter().sum::<f64>();
        let open = (0..count).filter(|&at| group_of[at].is_none());
        let next = open.max_by(|&a, &b| {
            let by_placed = to_placed(a).total_cmp(&to_placed(b));
            by_placed.then(all(a).total_cmp(&all(b))).then(b.cmp(&a))
        });
        let Some(next) = next else { break };
        let within = |group: usize| {
            let others = (0..count).filter(|&other| group_of[other] == Some(group));
            others.map(|other| traffic[next][other]).sum::<f64>()
        };
        let groups = (0..room.len()).filter(|&group| room[group] > 0);
        let best = groups.max_by(|&a, &b| {
            let by_traffic = within(a).total_cmp(&within(b));
            by_traffic.then(room[a].cmp(&room[b])).then(b.cmp(&a))
        });
        let group = best.unwrap_or_default();
        room[group] = room[group].saturating_sub(1);
        group_of[next] = Some(group);
    }
    let group_of = group_of.into_iter().map(Option::unwrap_or_default);
    improved(traffic, group_of.collect(), &mut room)
}

/// Groups after moves and exchanges, each of which leaves less traffic between groups.
fn improved(traffic: &[Vec<f64>], mut group_of: Vec<usize>, room: &mut [usize]) -> Vec<usize> {
    let count = traffic.len();
    let between = |group_of: &[usize]| {
        let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
        let apart = pairs.filter(|&(a, b)| group_of[a] != group_of[b]);
        apart.map(|(a, b)| traffic[a][b]).sum::<f64>()
    };
    let mut least = between(&group_of);
    loop {
        let mut best: Option<(f64, Vec<usize>)> = None;
        let mut try_groups = |changed: Vec<usize>| {
            let now = between(&changed);
            let limit = best.as_ref().map_or(least, |(now, _)| *now);
            if now < limit * (1.0 - 1e-9) {
                best = Some((now, changed));
            }
        };
        for a in 0..count {
            for group in (0..room.len()).filter(|&group| room[group] > 0) {
                let mut moved = group_of.clone();
                moved[a] = group;
                try_groups(moved);
            }
            for b in (0..a).filter(|&b| group_of[b] != group_of[a]) {
                let mut swapped = group_of.clone();
                swapped.swap(a, b);
                try_groups(swapped);
            }
        }
        let Some((now, changed)) = best else {
            return group_of;
        };
        group_of.iter().for_each(|&before| room[before] += 1);
        changed.iter().for_each(|&after| room[after] -= 1);
        (least, group_of) = (now, changed);
    }
}

/// Writes the core of a thread to its place in the plan, if there is one.
fn set_core(plan: &mut Plan, thread: &CoreThread, core: u32) {
    let pe = &mut plan.pes[thread.pe.0 as usize];
    match thread.place {
        Some(CorePlace::Pin(thread)) => pe.pins.push(Pin { thread, core }),
        Some(CorePlace::Queue(port)) => {
            let mut queues = pe.threaded_ports.iter_mut();
            if let Some(queue) = queues.find(|queue| queue.in_port() == port) {
                queue.core = Some(core);
            }
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::group_by_traffic;

    /// Traffic between threads of some pairs.
    fn traffic(count: usize, pairs: &[(usize, usize, f64)]) -> Vec<Vec<f64>> {
        let mut traffic = vec![vec![0.0; count]; count];
        for &(a, b, bytes) in pairs {
            traffic[a][b] += bytes;
            traffic[b][a] += bytes;
        }
        traffic
    }

    fn between(traffic: &[Vec<f64>], group_of: &[usize]) -> f64 {
        let count = traffic.len();
        let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
        let apart = pairs.filter(|&(a, b)| group_of[a] != group_of[b]);
        apart.map(|(a, b)| traffic[a][b]).sum()
    }

    #[test]
    fn a_chain_is_divided_at_its_thinnest_stream() {
        let chain = traffic(4, &[(0, 1, 10.0), (1, 2, 1.0), (2, 3, 10.0)]);
        let groups = group_by_traffic(&chain, &[2, 2]);
        assert_eq!(groups[0], groups[1]);
        assert_eq!(groups[2], groups[3]);
        assert_ne!(groups[0], groups[2]);
        // Where one cache has room for all, all share it.
        assert_eq!(group_by_traffic(&chain, &[2, 4]), [1, 1, 1, 1]);
    }

    #[test]
    fn groups_are_near_the_best_of_all() {
        let mut state = 7_u64;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(11);
            (state >> 33) % below
        };
        let (mut found_all, mut best_all) = (0.0, 0.0);
        for _ in 0..60 {
            let count = 2 + next(5) as usize;
            let sizes = [3, 1 + next(3) as usize, 2];
            let pairs: Vec<(usize, usize, f64)> = (0..count)
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .map(|(a, b)| (a, b, next(4) as f64 * next(9) as f64))
                .collect();
            let traffic = traffic(count, &pairs);
            if count > sizes.iter().sum() {
                continue;
            }
            let fits = |groups: &[usize]| {
                (0..3).all(|group| groups.iter().filter(|g| **g == group).count() <= sizes[group])
            };
            let all = (0..3_usize.pow(count as u32)).map(|number| {
                let group = |at: usize| number / 3_usize.pow(at as u32) % 3;
                (0..count).map(group).collect::<Vec<usize>>()
            });
            let all = all.filter(|groups| fits(groups));
            let best = all.map(|groups| between(&traffic, &groups));
            let best = best.fold(f64::INFINITY, f64::min);
            let groups = group_by_traffic(&traffic, &sizes);
            assert!(fits(&groups), "{groups:?} of {sizes:?}");
            found_all += between(&traffic, &groups);
            best_all += best;
        }
        assert!(found_all <= 1.1 * best_all, "{found_all} and {best_all}");
    }
}
