//! Constant folding.

use tuple::Value;

use crate::ops::sentence::RECURSION;
use crate::{Evaluation, Expr, Fault, FaultKind, Function, Inputs, NativeFn, NoServices, State};

use super::machine::Machine;
use super::{Ports, reserve_stack};

/// Loop turns and calls of one constant expression: a few seconds' worth.
const STEPS: u64 = 10_000_000;

/// Stack for the recursion of user functions, should the thread's own not do.
const DEEP_STACK_BYTES: usize = 256 << 20;

/// What of it is left for the functions at the very bottom.
const MARGIN_BYTES: usize = 4 << 20;

/// The value of a constant expression.
///
/// # Errors
/// What the expression faults with; a [`FaultKind::Limit`] fault if it asks for anything that there
/// is not while compiling (input tuples, state, services) or takes too many steps.
pub fn fold(expr: &Expr, natives: &[NativeFn], functions: &[Function]) -> Result<Value, Fault> {
    let shallow = evaluate(expr, natives, functions);
    match shallow {
        Err(fault) if fault.message() == RECURSION => fold_deep(expr, natives, functions),
        result => result,
    }
}

/// On a thread with a large stack.
fn fold_deep(expr: &Expr, natives: &[NativeFn], functions: &[Function]) -> Result<Value, Fault> {
    std::thread::scope(|scope| {
        let work = || {
            reserve_stack(DEEP_STACK_BYTES - MARGIN_BYTES);
            evaluate(expr, natives, functions)
        };
        let thread = std::thread::Builder::new()
            .stack_size(DEEP_STACK_BYTES)
            .spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(why) => {
                let sentence = format!("no thread could be started for a deep computation: {why}");
                Err(Fault::new(FaultKind::System, sentence))
            }
        }
    })
}

fn evaluate(expr: &Expr, natives: &[NativeFn], functions: &[Function]) -> Result<Value, Fault> {
    let mut services = NoServices::default();
    let mut state = State::default();
    let mut to = Evaluation {
        inputs: Inputs::NONE,
        state: &mut state,
        submit: &mut services,
        mark: None,
    };
    let ports = Ports::default();
    let mut machine = Machine::new(functions, natives, &ports, &mut to);
    machine.limit(STEPS);
    let value = machine.value(expr)?;
    drop(machine);
    services.verdict()?;
    Ok(value)
}
