//! The backend that the run time calls: bodies of a PE become handles into machine code.

use std::sync::Arc;

use eval::{Fault, Services, State};
use graph::{Body, Expr};
use runtime::abi::{
    Backend, CodeScope, OperatorCode, OperatorCodeRange, ProjectTuple, RunBody, TestPredicate,
    ThreadChains, interpreter_backend,
};
use tuple::{Layout, Value};

use crate::chains::ChainCompiler;
use crate::code::{JitPredicate, JitProjection};
use crate::jit::{Jit, function_context};
use crate::lower::FunctionSource;

impl Backend for Jit {
    fn projection(
        &mut self,
        scope: &CodeScope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn ProjectTuple>, Fault> {
        let title = format!("{}: projection", scope.operator.name);
        let source = FunctionSource::Projection(exprs, layout);
        let context = function_context(scope, self.options);
        let (function, needs) = self.compile_function(&title, &source, &context)?;
        Ok(Box::new(JitProjection::new(&function, &self.pool, needs)))
    }

    fn predicate(
        &mut self,
        scope: &CodeScope<'_>,
        expr: &Expr,
    ) -> Result<Box<dyn TestPredicate>, Fault> {
        let title = format!("{}: condition", scope.operator.name);
        let context = function_context(scope, self.options);
        let source = FunctionSource::Predicate(expr);
        let (function, needs) = self.compile_function(&title, &source, &context)?;
        Ok(Box::new(JitPredicate::new(&function, &self.pool, needs)))
    }

    fn body(&mut self, scope: &CodeScope<'_>, body: &Body) -> Result<Box<dyn RunBody>, Fault> {
        let title = format!("{}: statements", scope.operator.name);
        let context = function_context(scope, self.options);
        Ok(self.compile_body(&title, body, &context)?)
    }

    /// Evaluates with the interpreter: compiling code that runs once does not pay.
    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault> {
        interpreter_backend::evaluate(&mut self.interpreter, expr, state, services)
    }

    fn compile_chains(&mut self, chains: &ThreadChains<'_>) -> Result<Vec<OperatorCode>, Fault> {
        Ok(ChainCompiler::new(chains, self.options)?.compile(self)?)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        Ok(self.finish_module()?)
    }

    fn operator_code(&mut self) -> Vec<OperatorCodeRange> {
        std::mem::take(&mut self.operator_code)
    }
}
