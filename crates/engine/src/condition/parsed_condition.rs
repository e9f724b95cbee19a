//! A parsed condition: an expression to evaluate, or the error in its text.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use eval::interp::Interpreter;
use eval::{ConditionError, ConditionErrorKind, Services, State};
use graph::{Expr, ExprKind, StateId, StateVar};
use runtime::abi::interpreter_backend;
use tuple::{TupleType, Value};

/// A parsed condition, valid or not; the error of an invalid text is kept too.
pub(super) struct ParsedCondition(Result<RefCell<RuntimeCondition>, ConditionError>);

/// A valid condition with the interpreter that evaluates it.
struct RuntimeCondition {
    /// The condition's expression; it reads attributes as state variables.
    expr: Expr,
    /// Index of the attribute behind each state variable.
    attributes: Vec<u32>,
    state: State,
    interpreter: Interpreter,
}

impl ParsedCondition {
    /// Parses a condition over tuples of type `over`.
    ///
    /// # Errors
    /// No thread with a deep stack could be started. An error in the text is no `Err` here:
    /// [`ParsedCondition::holds`] returns it.
    pub fn parse(text: &str, over: &Arc<TupleType>) -> Result<ParsedCondition, ConditionError> {
        // Conditions nest as deep as the parser allows, and the calling thread may have little
        // stack left.
        let typed = syntax::with_deep_stack(|| {
            compiler::compile_condition(text, over, toolkit::functions())
        });
        let typed = typed.map_err(|why| {
            let sentence = format!("no thread could be started to read it: {why}");
            ConditionError::new(ConditionErrorKind::EvaluationFault, sentence)
        })?;
        Ok(ParsedCondition(typed.map(|expr| {
            RefCell::new(RuntimeCondition::new(expr, over))
        })))
    }

    /// An invalid condition, as parsing a wrong text gives it.
    #[cfg(test)]
    pub fn invalid(sentence: &str) -> ParsedCondition {
        ParsedCondition(Err(ConditionError::new(
            ConditionErrorKind::Syntax,
            sentence,
        )))
    }

    /// Whether the condition holds for a tuple.
    ///
    /// # Errors
    /// The text is no valid condition, or its evaluation failed.
    pub fn holds(
        &self,
        tuple: &[Value],
        services: &mut dyn Services,
    ) -> Result<bool, ConditionError> {
        let evaluable = self.0.as_ref().map_err(ConditionError::clone)?;
        // A condition has no variable to pass to `evalPredicate`, so it never evaluates itself.
        match evaluable.try_borrow_mut() {
            Ok(mut evaluable) => evaluable.holds(tuple, services),
            Err(_) => Err(ConditionError::new(
                ConditionErrorKind::RuleViolation,
                "it depends on itself",
            )),
        }
    }
}

impl RuntimeCondition {
    fn new(mut expr: Expr, over: &TupleType) -> RuntimeCondition {
        let mut used: Vec<u32> = Vec::new();
        expr.for_each(&mut |part| {
            if let ExprKind::Attribute { index, .. } = part.kind {
                let known = used.iter().position(|&other| other == index);
                let var = known.unwrap_or_else(|| {
                    used.push(index);
                    used.len() - 1
                });
                part.kind = ExprKind::State(StateId(var as u32));
            }
        });
        let attributes = used.iter().map(|&index| &over.attributes[index as usize]);
        let vars = attributes.map(|attribute| StateVar {
            name: attribute.name.clone(),
            ty: attribute.ty.clone(),
            init: None,
        });
        let state = State::new(&vars.collect::<Vec<_>>());
        RuntimeCondition {
            expr,
            attributes: used,
            state,
            interpreter: library_interpreter(),
        }
    }

    fn holds(
        &mut self,
        tuple: &[Value],
        services: &mut dyn Services,
    ) -> Result<bool, ConditionError> {
        for (var, &index) in self.attributes.iter().enumerate() {
            let value = tuple.get(index as usize).cloned();
            let value = value.ok_or_else(|| bad_condition("the tuple is of another type"))?;
            self.state.set(StateId(var as u32), value);
        }
        let (state, interpreter) = (&mut self.state, &mut self.interpreter);
        match interpreter_backend::evaluate(interpreter, &self.expr, state, services) {
            Ok(Value::Boolean(holds)) => Ok(holds),
            Ok(_) => Err(bad_condition("it gave no boolean")),
            Err(why) => Err(bad_condition(why.message())),
        }
    }
}

fn bad_condition(sentence: &str) -> ConditionError {
    ConditionError::new(ConditionErrorKind::EvaluationFault, sentence)
}

/// An interpreter of the library's functions, which all conditions share.
fn library_interpreter() -> Interpreter {
    static LIBRARY: LazyLock<Interpreter> =
        LazyLock::new(|| Interpreter::new(&[], toolkit::functions()));
    LIBRARY.clone()
}
