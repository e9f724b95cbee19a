//! From a program to operators that can run: the registry is asked, expressions get code, threads
//! are given their operators.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use graph::{Program, PunctuationOutputMode, inserted_operators};

use tuple::Layout;

use crate::OperatorEntry;
use crate::abi::{Backend, OperatorCode};
use crate::assembly::compile_bodies;
use crate::assembly::operator_factory::{ConstructedOperator, OperatorFactory};
use crate::assembly::pe_topology::{PeTopology, output_port_model};
use crate::blocking::loop_lock::LoopLock;
use crate::blocking::pe_thread::PeThreadId;
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
    /// Cores that the threads run on; empty for any.
    pub cores: Vec<u32>,
}

/// Makes the operators of a program, their code and their wiring.
pub(crate) fn assemble(
    program: &Program,
    registry: &[OperatorEntry],
    backend: &mut dyn Backend,
    pe_context: Arc<PeContext>,
    setting: WiringOptions,
) -> Result<PeAssembly, Failure> {
    let waits = ThreadWaits::new(pe_context.stop_signal.clone());
    let voices = operator_services(program, &pe_context);
    let mut maker = OperatorFactory {
        registry,
        backend: &mut *backend,
        stop_signal: pe_context.stop_signal.clone(),
        room_notifier: RoomNotifier(waits.clone()),
        crossing_resources: CrossingResources::new(
            setting.crossing_ends,
            IdlePolicy::new(setting.idle_strategy, pe_context.failed.clone()),
            pe_context.linger.clone(),
        ),
    };
    let mut made = maker.make_all(program, &voices)?;
    let CrossingResources {
        idle_policy: pacing,
        crossing_counters: flows,
        queue_counters: queues,
        ends: links,
        ..
    } = maker.crossing_resources;
    let loops = made.iter().filter(|one| one.requirements.drains).count();
    pacing.set_loop_count(loops, core_count(&setting.cores));
    let net = PeTopology::new(program, &made);
    // One more for the thread that closes the operators at the end.
    waits.set_thread_count(net.thread_count + 1);
    let codes = compile_bodies::compile_all(backend, &made, &net, &pe_context.stop_signal)?;
    let fed = threads_feeding(&made, &net);
    let runners = take_source_threads(&mut made, &net, &setting.pins);
    let timers = take_timers(&mut made);
    let buffers = made
        .iter_mut()
        .filter_map(|one| one.requirements.flush_buffer.take());
    let flush_buffers = buffers.collect();
    let instances = made.into_iter().zip(codes);
    let instances = instances.map(|(made, code)| operator_instance(program, made, code, &net));
    let (exclusive, shared) = split_by_sharing(instances.collect(), &net);
    Ok(PeAssembly {
        exclusive,
        source_threads: runners,
        timers,
        flush_buffers,
        thread_count: net.thread_count,
        cores: setting.cores,
        wiring: Wiring {
            context: pe_context,
            waits,
            services: voices,
            crossing_counters: flows,
            queue_counters: queues,
            operator_origins: links.operator_origins,
            labels: program.operators.iter().map(operator_label).collect(),
            loop_locks: loop_locks(&net),
            outs: net.outs,
            watermark_edges: net.watermark_edges,
            processed: net.processed,
            punctuation: net.punctuation,
            threads: net.threads,
            fed_operators: fed,
            shared,
        },
    })
}

/// Operators whose end another thread waits for, with the threads that feed them. The thread of the
/// timers is not among these, because it ends last.
fn threads_feeding(
    made: &[ConstructedOperator<'_>],
    net: &PeTopology,
) -> Vec<(u32, Box<[PeThreadId]>)> {
    let runners = made
        .iter()
        .filter(|one| one.source_thread.is_some())
        .count();
    let ends = made
        .iter()
        .filter(|one| one.requirements.own_thread || one.requirements.always_finishes);
    let fed = ends.map(|one| {
        let threads = net.entering_threads[one.index as usize].iter().copied();
        (
            one.index,
            threads
                .filter(|&thread| (thread as usize) < runners)
                .collect(),
        )
    });
    fed.collect()
}

fn take_timers(made: &mut [ConstructedOperator<'_>]) -> Vec<(u32, Vec<f64>)> {
    let timers = made.iter_mut();
    let timers = timers.map(|one| (one.index, std::mem::take(&mut one.requirements.timers)));
    timers.filter(|(_, timers)| !timers.is_empty()).collect()
}

/// Number of cores that the PE's threads may run on.
fn core_count(cores: &[u32]) -> usize {
    if cores.is_empty() {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        cores.len()
    }
}

/// The source of each thread, with the thread's core if it has one of its own.
fn take_source_threads(
    made: &mut [ConstructedOperator<'_>],
    net: &PeTopology,
    pins: &[(u32, u32)],
) -> Vec<SourceThread> {
    let pins: HashMap<u32, u32> = pins.iter().copied().collect();
    let runners = made.iter_mut().filter_map(|one| one.source_thread.take());
    let runners = runners.map(|runner| SourceThread {
        drains: runner.drains && !net.is_in_threaded_loop[runner.operator as usize],
        core: runner.core.or_else(|| pins.get(&runner.operator).copied()),
        ..runner
    });
    runners.collect()
}

/// Whether only the operator's own Rust code sees its tuples: no logic clause and no tuple history.
fn sees_tuples_alone(made: &ConstructedOperator<'_>, code: &OperatorCode) -> bool {
    let has_history = made.operator.inputs.iter().any(|port| port.history > 0);
    made.built.is_some() && !has_history && code.on_tuple.iter().all(Option::is_none)
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
    let mut voices: Vec<_> = operators
        .map(|o| OperatorServices::new(pe_context, o))
        .collect();
    for (at, operator) in program.operators.iter().enumerate() {
        if *operator.kind == *inserted_operators::WATERMARKS
            && let Some(of) = operator.inputs.iter().flat_map(|port| &port.sources).next()
            && let Ok([maker, of]) = voices.get_disjoint_mut([at, of.operator.0 as usize])
        {
            of.events.share_watermark_of(&maker.events);
        }
    }
    voices
}

/// The watermarks that come to an operator, and the output ports to which the run time passes them
/// on.
fn input_watermark(
    program: &Program,
    made: &ConstructedOperator<'_>,
) -> Option<Box<InputWatermark>> {
    let ports = made.operator.inputs.iter();
    let lanes: Vec<u32> = ports
        .map(|port| program.watermarked_sources(port).count() as u32)
        .collect();
    let clock = made.operator.clock.as_ref();
    let is_kept = made.requirements.keeps_watermarks || made.requirements.own_thread;
    let outs = clock.filter(|_| !is_kept).map(|clock| &clock.outputs[..]);
    let is_told = clock.is_some_and(|clock| !clock.generates_watermarks);
    InputWatermark::new(&lanes, outs.unwrap_or_default().into(), is_told)
}

fn operator_instance(
    program: &Program,
    made: ConstructedOperator<'_>,
    code: OperatorCode,
    net: &PeTopology,
) -> OperatorInstance {
    let at = made.index as usize;
    let input_watermark = input_watermark(program, &made);
    let slots = build_context::slot_layouts(made.operator, &made.inputs, None);
    OperatorInstance {
        index: made.index,
        history: TupleHistory::new(made.operator, &made.inputs, slots),
        ports: input_port_states(&made),
        processed: net.processed[at].clone(),
        punctuation: net.punctuation[at].clone(),
        flags: OperatorFlags {
            own_thread: made.requirements.own_thread,
            always_finishes: made.requirements.own_thread || made.requirements.always_finishes,
            is_bounded: made.requirements.is_bounded,
            needs_flush: made.requirements.needs_flush,
            accepts_owned: made.requirements.accepts_owned && sees_tuples_alone(&made, &code),
            is_in_loop: net.loops[at].is_some(),
            catch: CatchPolicy::from_operator(made.operator),
        },
        code,
        window: made.logic.window,
        state: made.state,
        built: made.built,
        watermark: input_watermark,
        is_finished: false,
    }
}

fn input_port_states(made: &ConstructedOperator<'_>) -> Vec<InputPortState> {
    let outputs = 0..made.operator.outputs.len();
    let preserved_by = |port: u32| {
        let forwards = |&out: &usize| {
            let model = output_port_model(made.entry.model, out);
            model.is_some_and(|m| m.punctuation == PunctuationOutputMode::Preserving(port))
                && !made.requirements.keeps_markers
        };
        outputs
            .clone()
            .filter(forwards)
            .map(|out| out as u32)
            .collect()
    };
    let ports = (0..)
        .zip(&made.operator.inputs)
        .map(|(port, input)| InputPortState {
            layout: Layout::new(&input.schema),
            // A test harness feeds a port without streams, and ends it with one marker.
            finals_left: input.sources.len().max(1) as u32,
            is_abandoned: false,
            is_control: input.is_control,
            preserved_by: preserved_by(port),
        });
    ports.collect()
}

type ExclusiveOperators = Vec<Option<(OperatorInstance, Option<PeThreadId>)>>;

/// Separates the operators that one thread enters at most from those that several threads share.
fn split_by_sharing(
    nodes: Vec<OperatorInstance>,
    net: &PeTopology,
) -> (ExclusiveOperators, Vec<Option<SharedOperator>>) {
    let mut own = Vec::new();
    let mut shared = Vec::new();
    for (at, node) in nodes.into_iter().enumerate() {
        if let [] | [_] = net.entering_threads[at][..] {
            own.push(Some((node, net.entering_threads[at].first().copied())));
            shared.push(None);
        } else {
            own.push(None);
            shared.push(Some(SharedOperator {
                needs_flush: node.flags.needs_flush,
                instance: Mutex::new(node),
                holder: Arc::default(),
                pending: Mutex::new(VecDeque::new()),
                loop_lock: net.loops[at],
            }));
        }
    }
    (own, shared)
}

fn loop_locks(net: &PeTopology) -> Vec<LoopLock> {
    let last = net.loops.iter().flatten().max();
    let count = last.map_or(0, |&last| last + 1);
    (0..count).map(|_| LoopLock::default()).collect()
}
