//! Assembly of a PE: the registry is asked for operators, expressions get code, threads are given
//! their operators.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use graph::{
    OperatorId, OperatorTimers, PeThreadId, PeThreads, PortIndex, Program, ThreadPool,
    inserted_operators,
};
use sampling::CpuSamples;
use tuple::Layout;

use crate::OperatorEntry;
use crate::abi::{Backend, OperatorCode, OperatorCodeRange};
use crate::assembly::compile_bodies;
use crate::assembly::operator_factory::{ConstructedOperator, OperatorFactory};
use crate::assembly::pe_topology::PeTopology;
use crate::blocking::loop_lock::LoopLock;
use crate::blocking::thread_waits::{RoomNotifier, ThreadWaits};
use crate::contract::build_context;
use crate::contract::flush_buffer::FlushBuffer;
use crate::edge::crossing_resources::CrossingResources;
use crate::edge::idle_policy::IdlePolicy;
use crate::execution::catch_policy::CatchPolicy;
use crate::execution::input_watermark::InputWatermark;
use crate::execution::operator_instance::{InputPortState, OperatorFlags, OperatorInstance};
use crate::execution::source_thread::SourceThread;
use crate::execution::tuple_history::TupleHistory;
use crate::execution::wiring::{OperatorLabel, SharedOperator, Wiring};
use crate::services::operator_services::OperatorServices;
use crate::services::pe_context::{PeContext, WiringOptions};
use crate::services::report::Failure;

/// A wired PE whose threads do not run yet.
pub(crate) struct PeAssembly {
    /// Parts that all threads share, the operators that several threads enter included.
    pub wiring: Wiring,
    /// By operator: the operator if at most one thread enters it, and that thread.
    pub exclusive: Vec<Option<(OperatorInstance, Option<PeThreadId>)>>,
    /// The source that each thread runs, in order of the threads.
    pub source_threads: Vec<SourceThread>,
    /// Operators with timers: periods in seconds, in order of the timer ids. The last thread of the
    /// PE runs all of them.
    pub timers: Vec<(u32, Vec<f64>)>,
    /// Buffers of bytes that operators hold back.
    pub flush_buffers: Vec<Arc<dyn FlushBuffer>>,
    pub thread_count: u32,
    /// The threads that run pooled sources.
    pub pool: Option<ThreadPool>,
    /// Cores that the threads run on; empty for any.
    pub cores: Vec<u32>,
    /// The addresses of the operators' code, if the backend keeps them.
    pub operator_code: Vec<OperatorCodeRange>,
    pub idle_policy: Arc<IdlePolicy>,
}

/// Makes the operators of a program, their code and their wiring.
pub(crate) fn assemble(
    (program, plan): (&Program, &PeThreads),
    registry: &[OperatorEntry],
    backend: &mut dyn Backend,
    pe_context: Arc<PeContext>,
    options: WiringOptions,
) -> Result<PeAssembly, Failure> {
    let waits = ThreadWaits::new(pe_context.stop_signal.clone());
    let services = operator_services(program, &pe_context);
    let idle_policy = IdlePolicy::new(options.idle_strategy, pe_context.failed.clone());
    let linger = pe_context.linger.clone();
    let mut factory = OperatorFactory {
        registry,
        backend: &mut *backend,
        stop_signal: pe_context.stop_signal.clone(),
        room_notifier: RoomNotifier(waits.clone()),
        crossing_resources: CrossingResources::new(options.crossing_ends, idle_policy, linger),
    };
    let mut constructed = factory.make_all(program, &services)?;
    let resources = factory.crossing_resources;
    let idle_policy = resources.idle_policy;
    idle_policy.set_loop_count(loop_count(&constructed, plan), core_count(&options.cores));
    let topology = PeTopology::new(program, plan, &constructed);
    // One more for the thread that closes the operators at the end.
    waits.set_thread_count(topology.thread_count + 1);
    waits.set_feeders(feeders(plan, &topology));
    let samples = new_samples(topology.thread_count + 1);
    let words = (&*pe_context, &samples[..]);
    let codes = compile_bodies::compile_all(backend, &constructed, (&topology, &services), words)?;
    let fed_operators = threads_feeding(&constructed, &topology);
    let source_threads = take_source_threads(&mut constructed, plan);
    let timers = take_timers(&mut constructed);
    let flush_buffers = take_flush_buffers(&mut constructed);
    let make = |(one, code)| operator_instance(program, one, code, &topology);
    let instances = constructed.into_iter().zip(codes).map(make).collect();
    let (exclusive, shared) = split_by_sharing(instances, &topology);
    Ok(PeAssembly {
        exclusive,
        source_threads,
        timers,
        flush_buffers,
        thread_count: topology.thread_count,
        pool: plan.pool,
        cores: options.cores,
        idle_policy,
        wiring: Wiring {
            context: pe_context,
            waits,
            services,
            crossing_counters: resources.crossing_counters,
            queue_counters: resources.queue_counters,
            operator_origins: resources.ends.operator_origins,
            labels: program.operators.iter().map(operator_label).collect(),
            loop_locks: loop_locks(&topology),
            outs: topology.outs,
            watermark_edges: topology.watermark_edges,
            processed: topology.processed,
            punctuation: topology.punctuation,
            threads: topology.threads,
            fed_operators,
            shared,
            thread_samples: samples,
            samples_per_second: options.samples_per_second,
        },
        operator_code: backend.operator_code(),
    })
}

/// Samples for so many threads.
fn new_samples(threads: u32) -> Vec<Arc<CpuSamples>> {
    (0..threads).map(|_| Arc::default()).collect()
}

/// Operators whose end another thread waits for, with the threads that feed them. The thread of the
/// timers is not among these, because it ends last.
fn threads_feeding(
    constructed: &[ConstructedOperator<'_>],
    topology: &PeTopology,
) -> Vec<(u32, Box<[PeThreadId]>)> {
    let source_thread_count = constructed
        .iter()
        .filter(|one| one.source_thread.is_some())
        .count();
    let ends = constructed
        .iter()
        .filter(|one| one.requirements.own_thread || one.requirements.always_finishes);
    let fed_operators = ends.map(|one| {
        let threads = topology.entering_threads[one.index as usize]
            .iter()
            .copied();
        (
            one.index,
            threads
                .filter(|&thread| thread.index() < source_thread_count)
                .collect(),
        )
    });
    fed_operators.collect()
}

/// By thread: the threads that enter the operator whose items it takes.
fn feeders(plan: &PeThreads, topology: &PeTopology) -> Vec<Box<[PeThreadId]>> {
    let threads = (0..).map(PeThreadId).zip(&plan.threads);
    threads
        .map(|(thread, planned)| {
            let starts = planned.start.operators();
            let entering = starts
                .iter()
                .flat_map(|id| &topology.entering_threads[id.0 as usize]);
            entering.copied().filter(|&other| other != thread).collect()
        })
        .collect()
}

fn take_timers(constructed: &mut [ConstructedOperator<'_>]) -> Vec<(u32, Vec<f64>)> {
    let timers = constructed.iter_mut();
    let timers = timers.map(|one| (one.index, std::mem::take(&mut one.requirements.timers)));
    timers.filter(|(_, timers)| !timers.is_empty()).collect()
}

fn take_flush_buffers(constructed: &mut [ConstructedOperator<'_>]) -> Vec<Arc<dyn FlushBuffer>> {
    let all = constructed.iter_mut();
    all.filter_map(|one| one.requirements.flush_buffer.take())
        .collect()
}

/// Number of threads that loop until their input has ended; those of the pool loop for all pooled
/// queues.
fn loop_count(constructed: &[ConstructedOperator<'_>], plan: &PeThreads) -> usize {
    let draining = constructed.iter().filter(|one| one.requirements.drains);
    let pooled = plan.threads.iter().filter(|thread| thread.is_pooled);
    let threads = plan.pool.map_or(0, |pool| pool.threads as usize);
    draining.count() - pooled.count() + threads
}

/// Number of cores that the PE's threads may run on.
fn core_count(cores: &[u32]) -> usize {
    if cores.is_empty() {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        cores.len()
    }
}

/// The source of each thread, with the thread's core if it has one of its own. In a loop with
/// threads `drains` is cleared: the input of such a thread may never end by itself.
fn take_source_threads(
    constructed: &mut [ConstructedOperator<'_>],
    plan: &PeThreads,
) -> Vec<SourceThread> {
    let source_threads = constructed
        .iter_mut()
        .filter_map(|one| one.source_thread.take());
    let is_looped = |operator| plan.looped_threads.contains(&OperatorId(operator));
    // The plan has them in the same order, the thread of the timers behind them.
    let source_threads = source_threads
        .zip(&plan.threads)
        .map(|(source_thread, planned)| SourceThread {
            drains: source_thread.drains && !is_looped(source_thread.operator),
            core: planned.core,
            is_pooled: planned.is_pooled,
            ..source_thread
        });
    source_threads.collect()
}

/// Whether only the operator's own Rust code sees its tuples: no logic clause and no tuple history.
fn sees_tuples_alone(constructed: &ConstructedOperator<'_>, code: &OperatorCode) -> bool {
    constructed.built.is_some()
        && !constructed.operator.keeps_history()
        && code.on_tuple.iter().all(Option::is_none)
}

fn operator_label(operator: &graph::OperatorNode) -> OperatorLabel {
    OperatorLabel {
        kind: operator.kind.clone(),
        pos: operator.pos,
    }
}

/// The services of each operator. A watermark generator shares its watermark with the operator that
/// it stands behind, so that `getWatermark` returns it there.
fn operator_services(program: &Program, pe_context: &Arc<PeContext>) -> Vec<OperatorServices> {
    let operators = program.operators.iter();
    let mut services: Vec<_> = operators
        .map(|o| OperatorServices::new(pe_context, o))
        .collect();
    for (at, operator) in program.operators.iter().enumerate() {
        if *operator.kind == *inserted_operators::WATERMARKS
            && let Some(of) = operator.inputs.iter().flat_map(|port| &port.sources).next()
            && let Ok([generator, of]) = services.get_disjoint_mut([at, of.operator.0 as usize])
        {
            of.events.share_watermark_of(&generator.events);
        }
    }
    services
}

/// The watermarks that come to an operator, and the output ports to which the run time passes them
/// on.
fn input_watermark(
    program: &Program,
    constructed: &ConstructedOperator<'_>,
) -> Option<Box<InputWatermark>> {
    let ports = constructed.operator.inputs.iter();
    let stream_counts: Vec<u32> = ports
        .map(|port| program.watermarked_sources(port).count() as u32)
        .collect();
    let clock = constructed.operator.clock.as_ref();
    let is_kept = constructed.requirements.keeps_watermarks || constructed.requirements.own_thread;
    let outs = clock.filter(|_| !is_kept).map(|clock| &clock.outputs[..]);
    let is_reported = clock.is_some_and(|clock| !clock.generates_watermarks);
    InputWatermark::new(&stream_counts, outs.unwrap_or_default().into(), is_reported)
}

fn operator_instance(
    program: &Program,
    constructed: ConstructedOperator<'_>,
    code: OperatorCode,
    topology: &PeTopology,
) -> OperatorInstance {
    let at = constructed.index as usize;
    let input_watermark = input_watermark(program, &constructed);
    let slots = build_context::slot_layouts(constructed.operator, &constructed.inputs, None);
    OperatorInstance {
        index: constructed.index,
        history: TupleHistory::new(constructed.operator, slots),
        ports: input_port_states(&constructed),
        processed: topology.processed[at].clone(),
        punctuation: topology.punctuation[at].clone(),
        flags: OperatorFlags {
            own_thread: constructed.requirements.own_thread,
            always_finishes: constructed.requirements.own_thread
                || constructed.requirements.always_finishes,
            is_bounded: constructed.requirements.is_bounded,
            needs_flush: constructed.requirements.needs_flush,
            has_silent_timers: constructed.operator.timers == OperatorTimers::Silent
                && !constructed.operator.inputs.is_empty()
                && !constructed.requirements.own_thread,
            accepts_owned: constructed.requirements.accepts_owned
                && sees_tuples_alone(&constructed, &code),
            is_in_loop: topology.loops[at].is_some(),
            catch: CatchPolicy::from_operator(constructed.operator),
        },
        code,
        window: constructed.logic.window,
        panes: constructed.logic.panes,
        slices: constructed.logic.slices,
        on_watermark: constructed.logic.on_watermark,
        late_recorded: 0,
        state: constructed.state,
        built: constructed.built,
        watermark: input_watermark,
        is_finished: false,
    }
}

fn input_port_states(constructed: &ConstructedOperator<'_>) -> Vec<InputPortState> {
    let ports = (0..)
        .map(PortIndex)
        .zip(&constructed.operator.inputs)
        .map(|(port, input)| InputPortState {
            layout: Layout::new(&input.schema),
            // A test harness feeds a port without streams, and ends it with one marker.
            finals_left: input.sources.len().max(1) as u32,
            is_abandoned: false,
            is_control: input.is_control,
            markers_forwarded_to: constructed.markers_forwarded_to(port),
            continued_at: constructed.logic.continues_ports.then_some(port),
        });
    ports.collect()
}

type ExclusiveOperators = Vec<Option<(OperatorInstance, Option<PeThreadId>)>>;

/// Separates the operators that one thread enters at most from those that the plan calls shared.
fn split_by_sharing(
    instances: Vec<OperatorInstance>,
    topology: &PeTopology,
) -> (ExclusiveOperators, Vec<Option<SharedOperator>>) {
    let mut exclusive = Vec::new();
    let mut shared = Vec::new();
    for (at, instance) in instances.into_iter().enumerate() {
        if !topology.is_shared(at) {
            exclusive.push(Some((instance, topology.only_thread(at))));
            shared.push(None);
        } else {
            exclusive.push(None);
            shared.push(Some(SharedOperator {
                needs_flush: instance.flags.needs_flush,
                instance: Mutex::new(instance),
                holder: Arc::default(),
                pending: Mutex::new(VecDeque::new()),
                loop_lock: topology.loops[at],
            }));
        }
    }
    (exclusive, shared)
}

fn loop_locks(topology: &PeTopology) -> Vec<LoopLock> {
    let last = topology.loops.iter().flatten().max();
    let count = last.map_or(0, |&last| last + 1);
    (0..count).map(|_| LoopLock::default()).collect()
}
