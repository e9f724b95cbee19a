//! Conditions that are text until the program runs.
//!
//! The toolkit cannot read SPL; the PE around it can ([`eval::Services::evaluate_condition`]).

use eval::ops::faults;
use eval::{ConditionError, ConditionErrorKind, NativeCall, NativeFn, TraceLevel};
use tuple::{Type, Value};

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[utility(
    "<tuple T> boolean evalPredicate(rstring splExpr, T tup, mutable int32 error)",
    "Whether a tuple meets a condition that is text: a boolean expression over its attributes and \
     the enumerators of their types, with the operators, literals and casts of SPL and library \
     functions without side effects, `price > 1.5 && \"IBM\" in symbols && at.city != \"\"`. \
     Literals have their usual types (`n == 5l` for an int64). Sets error to 0, or gives false and \
     sets it to 1 if the text is no expression, 2 if it names what there is not, 3 if it is not \
     boolean, 4 if it breaks another rule (types that do not go together, an assignment, a stateful \
     function), 5 if it fails for this tuple (an index out of range, a division by zero). What is \
     wrong is traced at level debug. Texts are read once as long as they are used.",
    eval_predicate,
)];

/// The aspect of its messages.
const ASPECT: &str = "evalPredicate";

fn eval_predicate(c: &mut NativeCall<'_>) -> NativeResult {
    let (Value::RString(text), Value::Tuple(tuple), Type::Tuple(over)) =
        (&*c.args[0], &*c.args[1], &c.types[1])
    else {
        return Err(faults::mistyped(ASPECT));
    };
    let answer = match std::str::from_utf8(text.as_bytes()) {
        Ok(text) => c.services.evaluate_condition(text, over, tuple)?,
        Err(error) => Err(not_text(error.valid_up_to())),
    };
    if let Err(bad) = &answer
        && c.services.is_traceable(TraceLevel::Debug)
    {
        let (text, why) = (text.to_string_lossy(), &bad.message);
        let message = format!("the condition `{text}` has no value: {why}");
        c.services.trace(TraceLevel::Debug, &message, ASPECT);
    }
    let error = answer.as_ref().err().map_or(0, |bad| error_code(bad.kind));
    c.set_int32(2, error);
    Ok(Value::Boolean(answer.unwrap_or(false)))
}

fn not_text(at: usize) -> ConditionError {
    let sentence = format!("it is not UTF-8 from byte {at} on");
    ConditionError::new(ConditionErrorKind::Syntax, sentence)
}

/// The number that programs are given.
fn error_code(flaw: ConditionErrorKind) -> i32 {
    match flaw {
        ConditionErrorKind::Syntax => 1,
        ConditionErrorKind::UnknownName => 2,
        ConditionErrorKind::NotBoolean => 3,
        ConditionErrorKind::RuleViolation => 4,
        ConditionErrorKind::EvaluationFault => 5,
    }
}
