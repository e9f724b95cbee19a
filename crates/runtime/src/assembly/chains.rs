//! Chains inside a thread: which ways of a tuple from lowered operators the backend may compile
//! without the outlet, by inlining the consumer, calling it directly, or writing into its ring.

use eval::OperatorEventTime;
use graph::{Body, ExprKind, PortIndex, Stmt};
use tuple::{Punctuation, Value};

use crate::LoweredLogic;
use crate::abi::{
    Backend, ChainEdge, ChainMember, ChainOutput, CodeScope, Counter, FrameEdge, FrameForm,
    MemberEdge, OperatorCode, StateAddress, ThreadChains,
};
use crate::counters::punctuation_counters::PunctuationCounters;
use crate::execution::port_state::{ConsumerPort, OutputPortState};
use crate::services::pe_context::PeContext;
use crate::services::tapped_tuples::TappedTuples;

/// Most counters of a window marker for which code need not go through the outlet.
const WINDOW_COUNTERS_MAX: usize = 16;

/// A lowered operator that has no code yet.
pub(crate) struct ChainCandidate<'a> {
    pub scope: CodeScope<'a>,
    pub logic: &'a LoweredLogic,
    pub state: StateAddress,
    pub event_time: &'a OperatorEventTime,
    pub outs: &'a [OutputPortState],
    pub processed: &'a [Counter],
    /// By input port: counters of markers.
    pub punctuation: &'a [PunctuationCounters],
    /// By input port: output ports to which its window markers are forwarded.
    pub forwarded_to: Vec<Vec<PortIndex>>,
    /// By output port and consumer: the ring of the consumer, if that offers one.
    pub frame_edges: Vec<Vec<Option<FrameEdge<'a>>>>,
    /// By input port: the form of tuples that come in batches.
    pub batch_forms: Vec<Option<FrameForm>>,
    /// Whether other members may submit to it directly: one thread, no loop, no history, no
    /// `@catch`.
    pub is_directly_callable: bool,
    /// Number of the plan's chain that the operator belongs to.
    pub chain: Option<u32>,
    /// Whether it stands for a receiver, which is in no chain of the plan.
    pub is_receiver: bool,
}

/// The code of the candidates of one thread, which are given upstream before downstream, in their
/// order.
pub(crate) fn compile<'a>(
    backend: &mut dyn Backend,
    candidates: &[ChainCandidate<'a>],
    context: &'a PeContext,
    running: Option<*const u32>,
) -> Result<Vec<OperatorCode>, eval::Fault> {
    let members = candidates.iter().enumerate();
    let members = members.map(|(at, candidate)| ChainMember {
        scope: candidate.scope.clone(),
        logic: candidate.logic,
        state: candidate.state,
        event_time: candidate.event_time,
        chain_outputs: chain_outputs((at, candidate), candidates, &context.tapped),
        batch_forms: candidate.batch_forms.clone(),
    });
    let members = members.collect();
    backend.compile_chains(&ThreadChains {
        members,
        stop_flag: context.stop_signal.address(),
        running,
    })
}

fn chain_outputs<'a>(
    (at, from): (usize, &ChainCandidate<'a>),
    all: &[ChainCandidate<'a>],
    tapped: &'a TappedTuples,
) -> Vec<Option<ChainOutput<'a>>> {
    let needs_open_check = needs_open_check(from.logic);
    let port = |(out, frames): (&'a OutputPortState, &Vec<Option<FrameEdge<'a>>>)| {
        let consumers = out.consumers.iter().zip(frames);
        let edges = consumers.map(|(&consumer, &frames)| chain_edge(consumer, frames, all));
        let edges: Vec<ChainEdge<'_>> = edges.collect();
        let is_outlet = |edge: &ChainEdge<'_>| matches!(edge, ChainEdge::Outlet);
        let needs_outlet = !edges.is_empty() && edges.iter().all(is_outlet);
        if needs_open_check || needs_outlet {
            return None;
        }
        assert_planned((at, from), &edges, all);
        let submitted = &out.submitted;
        let mut counters = Vec::new();
        let is_only_counted = add_window_counters(out, all, &mut counters);
        if !tapped.shows_compiled {
            out.tap.hide();
        }
        Some(ChainOutput {
            submitted,
            tap: tapped.port_tap(&out.tap),
            edges,
            window_counters: is_only_counted.then_some(counters),
        })
    };
    from.outs.iter().zip(&from.frame_edges).map(port).collect()
}

/// The way to a consumer: the shortest that there is.
fn chain_edge<'a>(
    consumer: ConsumerPort,
    frames: Option<FrameEdge<'a>>,
    all: &[ChainCandidate<'a>],
) -> ChainEdge<'a> {
    let member = member_edge(consumer, all).map(ChainEdge::Member);
    let frames = frames.map(ChainEdge::Frames);
    member.or(frames).unwrap_or(ChainEdge::Outlet)
}

/// Adds the counters of a window marker that is submitted to a port. Whether nothing else happens:
/// no operator behind it that gets the marker has code for it.
fn add_window_counters<'a>(
    out: &'a OutputPortState,
    all: &[ChainCandidate<'a>],
    counters: &mut Vec<&'a Counter>,
) -> bool {
    counters.push(out.punctuation.windows());
    let may_be_closed = |to: &ChainCandidate<'_>, port: usize| {
        !to.forwarded_to[port].is_empty() && needs_open_check(to.logic)
    };
    let mut getting = out
        .consumers
        .iter()
        .filter(|consumer| consumer.accepts(Punctuation::Window));
    getting.all(|consumer| {
        let Some(edge) = member_edge(*consumer, all) else {
            return false;
        };
        let (to, port) = (&all[edge.member as usize], edge.port.index());
        counters.push(to.punctuation[port].windows());
        let mut forwarded = to.forwarded_to[port].iter();
        counters.len() < WINDOW_COUNTERS_MAX
            && to.logic.on_punct[port].is_none()
            && !may_be_closed(to, port)
            && forwarded.all(|port| add_window_counters(&to.outs[port.index()], all, counters))
    })
}

/// Asserts that an operator calls directly only operators of its chain, which come behind it. The
/// plan's chains are an upper bound: it does not know which operators are Rust code, and which have
/// to look before each submission whether their port is still open.
fn assert_planned(
    (at, from): (usize, &ChainCandidate<'_>),
    edges: &[ChainEdge<'_>],
    all: &[ChainCandidate<'_>],
) {
    for edge in edges {
        let ChainEdge::Member(edge) = edge else {
            continue;
        };
        let to = &all[edge.member as usize];
        let (caller, called) = (&from.scope.operator.name, &to.scope.operator.name);
        assert!(
            from.is_receiver || from.chain.is_some() && from.chain == to.chain,
            "{caller} would call {called} directly, but no chain of the plan has both"
        );
        assert!(
            at < edge.member as usize,
            "{caller} would call {called} directly, but comes behind it in the plan's order"
        );
    }
}

fn member_edge<'a>(consumer: ConsumerPort, all: &[ChainCandidate<'a>]) -> Option<MemberEdge<'a>> {
    let member = all
        .iter()
        .position(|c| c.scope.index == consumer.operator)?;
    all[member].is_directly_callable.then(|| MemberEdge {
        member: member as u32,
        port: consumer.port,
        processed: &all[member].processed[consumer.port.index()],
    })
}

/// Whether each submission has to look first whether the port is still open.
fn needs_open_check(logic: &LoweredLogic) -> bool {
    may_submit_after_final(logic) || loops_forever(logic)
}

/// Whether tuples may be submitted after a final marker.
fn may_submit_after_final(logic: &LoweredLogic) -> bool {
    let mut tuple_bodies = logic.on_tuple.iter().chain(&logic.on_process);
    let mut punct_bodies = logic.on_punct.iter().flatten();
    tuple_bodies.any(body_submits_final)
        || (logic.on_tuple.len() > 1 && punct_bodies.any(body_submits_final))
}

/// Whether only the outlet can end the source's thread, because nothing in its loop looks for a
/// shutdown.
fn loops_forever(logic: &LoweredLogic) -> bool {
    let mut bodies = logic.on_process.iter();
    bodies.any(|body| body.stmts.iter().any(is_endless))
}

fn is_endless(stmt: &Stmt) -> bool {
    let any = |stmts: &[Stmt]| stmts.iter().any(is_endless);
    match stmt {
        Stmt::While(condition, body) => {
            matches!(condition.kind, ExprKind::Const(Value::Boolean(true))) || any(body)
        }
        Stmt::If(_, then, other) => any(then) || any(other),
        Stmt::For(_, _, body) | Stmt::Clause(body) => any(body),
        Stmt::FindEntry { added, .. } => any(added),
        _ => false,
    }
}

fn body_submits_final(body: &Body) -> bool {
    body.stmts.iter().any(submits_final)
}

fn submits_final(stmt: &Stmt) -> bool {
    let any = |stmts: &[Stmt]| stmts.iter().any(submits_final);
    match stmt {
        Stmt::SubmitPunct { mark, .. } => {
            // 0 is the window marker.
            !matches!(mark.kind, ExprKind::Const(Value::Enum(0)))
        }
        Stmt::If(_, then, other) => any(then) || any(other),
        Stmt::While(_, body) | Stmt::For(_, _, body) | Stmt::Clause(body) => any(body),
        Stmt::FindEntry { added, .. } => any(added),
        _ => false,
    }
}
