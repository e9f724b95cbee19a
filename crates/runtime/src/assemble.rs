//! From a program to operators that can run: the registry is asked, expressions get code, threads
//! are given their operators.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use graph::{Program, PunctuationOut, inserted};

use tuple::Layout;

use crate::OperatorEntry;
use crate::abi::{Backend, Code};
use crate::build;
use crate::catch::Catch;
use crate::code;
use crate::crossing::Borders;
use crate::gate::Gate;
use crate::held::Held;
use crate::house::{House, Setting};
use crate::make::{Made, Maker, Runner};
use crate::net::{Net, out_model};
use crate::node::{InPort, Node, Traits};
use crate::past::Past;
use crate::report::Failure;
use crate::tide::Tide;
use crate::voice::Voice;
use crate::wait::{Room, ThreadId, Waits};
use crate::wiring::{Head, Shared, Wiring};

/// A PE that is about to run.
pub(crate) struct Assembly {
    /// Holds the operators that several threads enter.
    pub wiring: Wiring,
    /// The other ones, by operator, with the thread that enters it if there is one.
    pub own: Vec<Option<(Node, Option<ThreadId>)>>,
    /// What begins each thread, in order of the threads.
    pub runners: Vec<Runner>,
    /// Operators with timers: seconds, in order of the ids. They have the last thread.
    pub timers: Vec<(u32, Vec<f64>)>,
    /// What operators hold back.
    pub held: Vec<Arc<dyn Held>>,
    pub thread_count: u32,
    /// The cores of its threads; empty: any.
    pub cores: Vec<u32>,
}

/// Makes everything.
pub(crate) fn assemble(
    program: &Program,
    registry: &[OperatorEntry],
    backend: &mut dyn Backend,
    house: Arc<House>,
    setting: Setting,
) -> Result<Assembly, Failure> {
    let waits = Waits::new(house.stop.clone());
    let voices = voices(program, &house);
    let mut maker = Maker {
        registry,
        backend: &mut *backend,
        stop: house.stop.clone(),
        room: Room(waits.clone()),
        borders: Borders::new(&house, setting.links, setting.idle),
    };
    let mut made = maker.make_all(program, &voices)?;
    let Borders {
        pacing,
        flows,
        queues,
        links,
        ..
    } = maker.borders;
    let loops = made.iter().filter(|one| one.wishes.drains).count();
    pacing.set_loops(loops, core_count(&setting.cores));
    let net = Net::new(program, &made);
    // One more for whoever closes the operators at the end.
    waits.set_threads(net.thread_count + 1);
    let codes = code::compile(backend, &made, &net, &house.stop)?;
    let fed = fed_by(&made, &net);
    let runners = runners(&mut made, &net, &setting.pins);
    let timers = timers(&mut made);
    let held = made.iter_mut().filter_map(|one| one.wishes.held.take());
    let held = held.collect();
    let nodes = made
        .into_iter()
        .zip(codes)
        .map(|(made, code)| node(program, made, code, &net));
    let nodes = nodes.collect();
    let (own, shared) = place(nodes, &net);
    Ok(Assembly {
        own,
        runners,
        timers,
        held,
        thread_count: net.thread_count,
        cores: setting.cores,
        wiring: Wiring {
            house,
            waits,
            voices,
            flows,
            queues,
            begins: links.begins,
            heads: program.operators.iter().map(head).collect(),
            gates: gates(&net),
            outs: net.outs,
            lanes: net.lanes,
            processed: net.processed,
            marks: net.marks,
            threads: net.threads,
            fed,
            shared,
        },
    })
}

/// Operators whose end another thread waits for, with the threads that feed them; that of the timers is
/// none, it ends last.
fn fed_by(made: &[Made<'_>], net: &Net) -> Vec<(u32, Box<[ThreadId]>)> {
    let runners = made.iter().filter(|one| one.runner.is_some()).count();
    let ends = made
        .iter()
        .filter(|one| one.wishes.own_thread || one.wishes.tells_end);
    let fed = ends.map(|one| {
        let threads = net.entered[one.index as usize].iter().copied();
        (
            one.index,
            threads
                .filter(|&thread| (thread as usize) < runners)
                .collect(),
        )
    });
    fed.collect()
}

fn timers(made: &mut [Made<'_>]) -> Vec<(u32, Vec<f64>)> {
    let timers = made.iter_mut();
    let timers = timers.map(|one| (one.index, std::mem::take(&mut one.wishes.timers)));
    timers.filter(|(_, timers)| !timers.is_empty()).collect()
}

/// How many cores there are for the PE's threads.
fn core_count(cores: &[u32]) -> usize {
    if cores.is_empty() {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        cores.len()
    }
}

/// What the threads begin with, each with its core if it has one of its own.
fn runners(made: &mut [Made<'_>], net: &Net, pins: &[(u32, u32)]) -> Vec<Runner> {
    let pins: HashMap<u32, u32> = pins.iter().copied().collect();
    let runners = made.iter_mut().filter_map(|one| one.runner.take());
    let runners = runners.map(|runner| Runner {
        drains: runner.drains && !net.comes_back[runner.node as usize],
        core: runner.core.or_else(|| pins.get(&runner.node).copied()),
        ..runner
    });
    runners.collect()
}

/// Whether nothing but an operator's own code sees its tuples.
fn is_bare(made: &Made<'_>, code: &Code) -> bool {
    let has_history = made.operator.inputs.iter().any(|port| port.history > 0);
    made.built.is_some() && !has_history && code.on_tuple.iter().all(Option::is_none)
}

fn head(operator: &graph::Operator) -> Head {
    Head {
        kind: operator.kind.clone(),
        pos: operator.pos,
    }
}

/// What each operator asks of its PE. Who makes the watermarks of an operator says for it how far that
/// has come.
fn voices(program: &Program, house: &Arc<House>) -> Vec<Voice> {
    let operators = program.operators.iter();
    let mut voices: Vec<_> = operators.map(|o| Voice::new(house, o)).collect();
    for (at, operator) in program.operators.iter().enumerate() {
        if *operator.kind == *inserted::WATERMARKS
            && let Some(of) = operator.inputs.iter().flat_map(|port| &port.sources).next()
            && let Ok([maker, of]) = voices.get_disjoint_mut([at, of.operator.0 as usize])
        {
            of.events.follow(&maker.events);
        }
    }
    voices
}

/// The watermarks that come to an operator, and where the run time passes them on.
fn tide(program: &Program, made: &Made<'_>) -> Option<Box<Tide>> {
    let ports = made.operator.inputs.iter();
    let lanes: Vec<u32> = ports
        .map(|port| program.watermarked(port).count() as u32)
        .collect();
    let clock = made.operator.clock.as_ref();
    let is_kept = made.wishes.keeps_watermarks || made.wishes.own_thread;
    let outs = clock.filter(|_| !is_kept).map(|clock| &clock.outputs[..]);
    let is_told = clock.is_some_and(|clock| !clock.makes);
    Tide::new(&lanes, outs.unwrap_or_default().into(), is_told)
}

fn node(program: &Program, made: Made<'_>, code: Code, net: &Net) -> Node {
    let at = made.index as usize;
    let tide = tide(program, &made);
    let slots = build::slots(made.operator, &made.inputs, None);
    Node {
        index: made.index,
        past: Past::new(made.operator, &made.inputs, slots),
        ports: in_ports(&made),
        processed: net.processed[at].clone(),
        marks: net.marks[at].clone(),
        traits: Traits {
            own_thread: made.wishes.own_thread,
            tells_end: made.wishes.own_thread || made.wishes.tells_end,
            is_bounded: made.wishes.bounded,
            holds_back: made.wishes.flushes,
            takes_made: made.wishes.takes_made && is_bare(&made, &code),
            is_cyclic: net.loops[at].is_some(),
            catch: Catch::of(made.operator),
        },
        code,
        window: made.logic.window,
        state: made.state,
        built: made.built,
        tide,
        is_done: false,
    }
}

fn in_ports(made: &Made<'_>) -> Vec<InPort> {
    let outputs = 0..made.operator.outputs.len();
    let preserved_by = |port: u32| {
        let forwards = |&out: &usize| {
            let model = out_model(made.entry.model, out);
            model.is_some_and(|m| m.punctuation == PunctuationOut::Preserving(port))
                && !made.wishes.keeps_markers
        };
        outputs
            .clone()
            .filter(forwards)
            .map(|out| out as u32)
            .collect()
    };
    let ports = (0..)
        .zip(&made.operator.inputs)
        .map(|(port, input)| InPort {
            layout: Layout::of(&input.schema),
            // Whoever is fed by hand ends the port with one marker.
            finals_left: input.sources.len().max(1) as u32,
            is_abandoned: false,
            is_control: input.is_control,
            preserved_by: preserved_by(port),
        });
    ports.collect()
}

type Own = Vec<Option<(Node, Option<ThreadId>)>>;

/// Whom more than one thread enters is shared.
fn place(nodes: Vec<Node>, net: &Net) -> (Own, Vec<Option<Shared>>) {
    let mut own = Vec::new();
    let mut shared = Vec::new();
    for (at, node) in nodes.into_iter().enumerate() {
        if let [] | [_] = net.entered[at][..] {
            own.push(Some((node, net.entered[at].first().copied())));
            shared.push(None);
        } else {
            own.push(None);
            shared.push(Some(Shared {
                holds_back: node.traits.holds_back,
                node: Mutex::new(node),
                holder: Arc::default(),
                pending: Mutex::new(VecDeque::new()),
                gate: net.loops[at],
            }));
        }
    }
    (own, shared)
}

fn gates(net: &Net) -> Vec<Gate> {
    let last = net.loops.iter().flatten().max();
    let count = last.map_or(0, |&last| last + 1);
    (0..count).map(|_| Gate::default()).collect()
}
