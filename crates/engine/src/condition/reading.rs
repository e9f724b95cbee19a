//! A condition that was read: an expression to evaluate, or what is wrong with it.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use graph::interp::Interpreter;
use graph::{BadCondition, Expr, ExprKind, Flaw, Services, State, StateId, StateVar};
use runtime::abi::interpreted;
use tuple::{TupleType, Value};

/// A condition that was read.
pub(super) struct Reading(Result<RefCell<Evaluable>, BadCondition>);

/// A condition that can be evaluated.
struct Evaluable {
    /// Reads attributes as state variables.
    expr: Expr,
    /// The attribute behind each variable.
    used: Vec<u32>,
    state: State,
    interpreter: Interpreter,
}

impl Reading {
    /// Reads a condition over tuples of a type.
    ///
    /// # Errors
    /// If it cannot be read now. What is wrong with it is part of the reading.
    pub fn read(text: &str, over: &Arc<TupleType>) -> Result<Reading, BadCondition> {
        // Conditions nest as deep as the parser lets them, and whoever evaluates one may have little
        // stack left.
        let typed = syntax::deep(|| compiler::condition(text, over, toolkit::functions()));
        let typed = typed.map_err(|why| {
            let sentence = format!("no thread could be started to read it: {why}");
            BadCondition::new(Flaw::Fault, sentence)
        })?;
        Ok(Reading(
            typed.map(|expr| RefCell::new(Evaluable::new(expr, over))),
        ))
    }

    /// What was read of a text that is wrong.
    #[cfg(test)]
    pub fn wrong(sentence: &str) -> Reading {
        Reading(Err(BadCondition::new(Flaw::Syntax, sentence)))
    }

    /// Whether it holds for a tuple.
    pub fn holds(
        &self,
        tuple: &[Value],
        services: &mut dyn Services,
    ) -> Result<bool, BadCondition> {
        let evaluable = self.0.as_ref().map_err(BadCondition::clone)?;
        // A condition has no variable that it could hand to `evalPredicate`, so it never asks for
        // itself.
        match evaluable.try_borrow_mut() {
            Ok(mut evaluable) => evaluable.holds(tuple, services),
            Err(_) => Err(BadCondition::new(Flaw::Refused, "it depends on itself")),
        }
    }
}

impl Evaluable {
    fn new(mut expr: Expr, over: &TupleType) -> Evaluable {
        let mut used: Vec<u32> = Vec::new();
        expr.each(&mut |part| {
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
        Evaluable {
            expr,
            used,
            state,
            interpreter: interpreter(),
        }
    }

    fn holds(
        &mut self,
        tuple: &[Value],
        services: &mut dyn Services,
    ) -> Result<bool, BadCondition> {
        for (var, &index) in self.used.iter().enumerate() {
            let value = tuple.get(index as usize).cloned();
            let value = value.ok_or_else(|| fault("the tuple is of another type"))?;
            self.state.set(StateId(var as u32), value);
        }
        let (state, interpreter) = (&mut self.state, &mut self.interpreter);
        match interpreted::evaluate(interpreter, &self.expr, state, services) {
            Ok(Value::Boolean(holds)) => Ok(holds),
            Ok(_) => Err(fault("it gave no boolean")),
            Err(why) => Err(fault(why.message())),
        }
    }
}

fn fault(sentence: &str) -> BadCondition {
    BadCondition::new(Flaw::Fault, sentence)
}

/// An interpreter of the library's functions; they lie in memory once.
fn interpreter() -> Interpreter {
    static OF_THE_LIBRARY: LazyLock<Interpreter> =
        LazyLock::new(|| Interpreter::new(&[], toolkit::functions()));
    OF_THE_LIBRARY.clone()
}
