//! Which lowered operators the backend sees together.

use graph::{Body, ExprKind, Stmt};
use tuple::Value;

use crate::Logic;
use crate::abi::{
    Backend, Code, Counter, FrameLink, FusedView, Link, Links, Member, Scope, StateAddress,
};
use crate::wiring::{OutPort, Target};

/// A lowered operator, before it has code.
pub(crate) struct Candidate<'a> {
    pub scope: Scope<'a>,
    pub logic: &'a Logic,
    pub state: StateAddress,
    pub outs: &'a [OutPort],
    pub processed: &'a [Counter],
    /// By output port: what its only consumer lets it write.
    pub frames: Vec<Option<FrameLink<'a>>>,
    /// By input port: what comes in comes in batches.
    pub batched: Vec<bool>,
    /// Others may submit to it directly: one thread, no loop, no history, no `@catch`.
    pub is_linkable: bool,
}

/// The code of candidates of one thread, upstream before downstream, in their order.
pub(crate) fn compile(
    backend: &mut dyn Backend,
    candidates: &[Candidate<'_>],
    stop: *const u8,
) -> Result<Vec<Code>, graph::Fault> {
    let members = candidates.iter().map(|candidate| Member {
        scope: candidate.scope.clone(),
        logic: candidate.logic,
        state: candidate.state,
        links: links(candidate, candidates),
        frames: match may_go_on(candidate.logic) {
            true => Vec::new(),
            false => candidate.frames.clone(),
        },
        batched: candidate.batched.clone(),
    });
    let members = members.collect();
    backend.fused(&FusedView { members, stop })
}

fn links<'a>(from: &Candidate<'a>, all: &[Candidate<'a>]) -> Vec<Option<Links<'a>>> {
    let ends = may_go_on(from.logic);
    let port = |out: &'a OutPort| {
        let links = out.targets.iter().map(|&target| link(target, all));
        let links = links.collect::<Option<_>>().filter(|_| !ends)?;
        let submitted = &out.submitted;
        Some(Links { submitted, links })
    };
    from.outs.iter().map(port).collect()
}

fn link<'a>(target: Target, all: &[Candidate<'a>]) -> Option<Link<'a>> {
    let member = all.iter().position(|c| c.scope.index == target.node)?;
    all[member].is_linkable.then(|| Link {
        member: member as u32,
        port: target.port,
        processed: &all[member].processed[target.port as usize],
    })
}

/// Whether every submission has to look whether it counts.
fn may_go_on(logic: &Logic) -> bool {
    may_end(logic) || loops_for_ever(logic)
}

/// Whether tuples may be submitted after a final marker.
fn may_end(logic: &Logic) -> bool {
    let mut tuples = logic.on_tuple.iter().chain(&logic.on_process);
    let mut marks = logic.on_punct.iter().flatten();
    tuples.any(ends) || (logic.on_tuple.len() > 1 && marks.any(ends))
}

/// Whether only the outlet can end its thread: nothing in its loop looks for a shutdown.
fn loops_for_ever(logic: &Logic) -> bool {
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
        _ => false,
    }
}

fn ends(body: &Body) -> bool {
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
        _ => false,
    }
}
