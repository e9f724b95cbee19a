//! The trait by which typed expressions get code: implemented by the interpreter and by the JIT.

use std::sync::Arc;

use eval::{Fault, Services, State};
use graph::{Body, Expr};
use tuple::{Layout, Value};

use super::code::{OperatorScope, ProjectTuple, RunBody, TestCondition};
use super::fused::{FusedMember, FusedView, OperatorCode};

/// Makes code. Calls come operator by operator while a PE is wired; `finish` once, at the end.
pub trait Backend {
    /// Expressions into a flat tuple of a schema with as many attributes; `None`: the default.
    fn projection(
        &mut self,
        scope: &OperatorScope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn ProjectTuple>, Fault>;

    /// A condition.
    fn predicate(
        &mut self,
        scope: &OperatorScope<'_>,
        expr: &Expr,
    ) -> Result<Box<dyn TestCondition>, Fault>;

    /// A body of statements.
    fn action(&mut self, scope: &OperatorScope<'_>, body: &Body)
    -> Result<Box<dyn RunBody>, Fault>;

    /// The value of an expression without input tuples, now: parameters, and initial values of
    /// state variables (`state` holds the earlier ones).
    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault>;

    /// The code of the lowered operators of a thread, member by member. Whoever can inline across
    /// fused edges overrides this; see [`FusedView`] for what that takes.
    fn compile_fused(&mut self, view: &FusedView<'_>) -> Result<Vec<OperatorCode>, Fault> {
        let members = view.members.iter();
        members
            .map(|member| compile_each_body(self, member))
            .collect()
    }

    /// Everything has been handed over: make it callable.
    fn finish(&mut self) -> Result<(), Fault>;
}

/// Every body on its own: no inlining.
fn compile_each_body<B: Backend + ?Sized>(
    backend: &mut B,
    member: &FusedMember<'_>,
) -> Result<OperatorCode, Fault> {
    let mut action = |body: &Body| backend.action(&member.scope, body);
    let logic = member.logic;
    let on_tuple = logic.on_tuple.iter().map(|body| action(body).map(Some));
    let on_tuple = on_tuple.collect::<Result<_, _>>()?;
    let on_punct = logic.on_punct.iter();
    let on_punct = on_punct.map(|body| body.as_ref().map(&mut action).transpose());
    let on_punct = on_punct.collect::<Result<_, _>>()?;
    let on_process = logic.on_process.as_ref().map(&mut action).transpose()?;
    Ok(OperatorCode {
        on_tuple,
        on_batch: Vec::new(),
        on_punct,
        on_process,
    })
}
