//! Constant folding: the value of an expression that needs no inputs, state or services.

use graph::{Expr, Function};
use tuple::Value;

use super::interpreter_ports::InterpreterPorts;
use super::machine::Machine;
use super::stack::reserve_stack;
use crate::ops::faults::RECURSION_MESSAGE;
use crate::{Evaluation, Fault, FaultKind, InputTuples, NativeFn, NoServices, State};

/// Loop turns and calls of one constant expression: a few seconds' worth.
const FOLD_STEPS_MAX: u64 = 10_000_000;

/// Stack for the recursion of user functions, should the thread's own not do.
const DEEP_STACK_BYTES: usize = 256 << 20;

/// Bytes of [`DEEP_STACK_BYTES`] that are left for the innermost functions, which do not look at
/// the stack.
const STACK_MARGIN_BYTES: usize = 4 << 20;

/// The value of a constant expression.
///
/// # Errors
/// The fault of the expression; a [`FaultKind::Limit`] fault if it needs anything that does not
/// exist while compiling (input tuples, state, services), or takes too many steps.
///
/// # Example
/// ```
/// use graph::{BinaryOp, Expr};
/// use thalweg_eval::FaultKind;
/// use thalweg_eval::interp::fold;
/// use tuple::{Type, Value};
///
/// let number = |n| Expr::constant(Value::Int32(n), Type::Int32);
/// let sum = Expr::binary(BinaryOp::Add, number(40), number(2));
/// assert_eq!(fold(&sum, &[], &[]), Ok(Value::Int32(42)));
/// let quotient = Expr::binary(BinaryOp::Div, number(1), number(0));
/// let fault = fold(&quotient, &[], &[]).expect_err("a division by zero");
/// assert_eq!(fault.kind(), FaultKind::Division);
/// ```
pub fn fold(expr: &Expr, natives: &[NativeFn], functions: &[Function]) -> Result<Value, Fault> {
    let shallow = evaluate(expr, natives, functions);
    match shallow {
        Err(fault) if fault.message() == RECURSION_MESSAGE => {
            fold_on_large_stack(expr, natives, functions)
        }
        result => result,
    }
}

/// Folds on a thread with a large stack.
fn fold_on_large_stack(
    expr: &Expr,
    natives: &[NativeFn],
    functions: &[Function],
) -> Result<Value, Fault> {
    std::thread::scope(|scope| {
        let work = || {
            reserve_stack(DEEP_STACK_BYTES - STACK_MARGIN_BYTES);
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
        inputs: InputTuples::NONE,
        state: &mut state,
        submit: &mut services,
        current_punctuation: None,
    };
    let ports = InterpreterPorts::default();
    let mut machine = Machine::new(functions, natives, &ports, &mut to);
    machine.limit_steps(FOLD_STEPS_MAX);
    let value = machine.value(expr)?;
    drop(machine);
    services.ensure_none_refused()?;
    Ok(value)
}
