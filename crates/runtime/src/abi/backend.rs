//! The trait by which typed expressions get code: implemented by the interpreter and by the JIT.

use std::ops::Range;
use std::sync::Arc;

use eval::{Fault, Services, State};
use graph::{Body, Expr};
use tuple::{Layout, Value};

use super::chain::{ChainMember, OperatorCode, ThreadChains};
use super::code::{CodeScope, ProjectTuple, RunBody, TestPredicate};

/// Makes code of expressions and statements. The run time calls it operator by operator while it
/// wires a PE, and [`Backend::finish`] once, at the end.
pub trait Backend {
    /// Code that writes a flat tuple of `layout`, an expression for each attribute. An attribute
    /// without one gets the default of its type.
    ///
    /// # Errors
    /// The backend cannot make code of an expression.
    fn projection(
        &mut self,
        scope: &CodeScope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn ProjectTuple>, Fault>;

    /// Code for a boolean expression.
    ///
    /// # Errors
    /// The backend cannot make code of the expression.
    fn predicate(
        &mut self,
        scope: &CodeScope<'_>,
        expr: &Expr,
    ) -> Result<Box<dyn TestPredicate>, Fault>;

    /// Code for a body of statements.
    ///
    /// # Errors
    /// The backend cannot make code of a statement.
    fn body(&mut self, scope: &CodeScope<'_>, body: &Body) -> Result<Box<dyn RunBody>, Fault>;

    /// The value of an expression without input tuples, computed now: parameters, and initial
    /// values of state variables. `state` holds the variables that were initialized before.
    ///
    /// # Errors
    /// The fault of the expression.
    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault>;

    /// The code of the lowered operators that one thread runs, member by member. The default
    /// compiles every body by itself. A backend that inlines along chains overrides this;
    /// [`ThreadChains`] says what it has to observe.
    ///
    /// # Errors
    /// The backend cannot make code of a body.
    fn compile_chains(&mut self, chains: &ThreadChains<'_>) -> Result<Vec<OperatorCode>, Fault> {
        let members = chains.members.iter();
        members
            .map(|member| compile_each_body(self, member))
            .collect()
    }

    /// Makes all code callable. No expression follows.
    ///
    /// # Errors
    /// The backend cannot make the code callable, for want of memory for instance.
    fn finish(&mut self) -> Result<(), Fault>;

    /// The addresses of the operators' code when it is finished, if the backend was asked to keep
    /// them. The default has none.
    fn operator_code(&mut self) -> Vec<OperatorCodeRange> {
        Vec::new()
    }
}

/// Machine code of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCodeRange {
    /// Addresses of the instructions.
    pub addresses: Range<usize>,
    /// The operator's number in the PE.
    pub operator: u32,
}

/// Code for each body of a member by itself, without inlining.
fn compile_each_body<B: Backend + ?Sized>(
    backend: &mut B,
    member: &ChainMember<'_>,
) -> Result<OperatorCode, Fault> {
    let mut compile = |body: &Body| backend.body(&member.scope, body);
    let logic = member.logic;
    let on_tuple = logic.on_tuple.iter().map(|body| compile(body).map(Some));
    let on_tuple = on_tuple.collect::<Result<_, _>>()?;
    let on_punct = logic.on_punct.iter();
    let on_punct = on_punct.map(|body| body.as_ref().map(&mut compile).transpose());
    let on_punct = on_punct.collect::<Result<_, _>>()?;
    let on_finish = logic.on_finish.as_ref().map(&mut compile).transpose()?;
    let on_watermark = logic.on_watermark.as_ref();
    let on_watermark = on_watermark.map(|logic| compile(&logic.body)).transpose()?;
    let on_timer = logic.on_timer.as_ref();
    let on_timer = on_timer.map(|logic| compile(&logic.body)).transpose()?;
    let on_process = logic.on_process.as_ref().map(&mut compile).transpose()?;
    Ok(OperatorCode {
        on_tuple,
        on_punct,
        on_finish,
        on_watermark,
        on_timer,
        on_process,
        ..OperatorCode::default()
    })
}
