//! Assertions, trace and log messages.

use eval::{Fault, FaultKind, NativeCall, NativeFn, TraceLevel};
use tuple::{Type, Value, text};

use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "void assert(boolean condition)",
        "Ends the program unless the condition holds.",
        |c| assert(c, c.boolean(0), || "assertion failed".to_string()),
    ),
    utility(
        "void assert(list<boolean> condition)",
        "Ends the program unless all elements are true.",
        |c| {
            let holds: &[bool] = c.list(0).as_slice().unwrap_or_default();
            let wrong = holds.iter().position(|holds| !holds);
            assert(c, wrong.is_none(), || {
                format!("assertion failed for index {}", wrong.unwrap_or_default())
            })
        },
    ),
    utility(
        "<any T> void assert(map<T, boolean> condition)",
        "Ends the program unless all values are true.",
        |c| {
            let wrong = c
                .map(0)
                .iter()
                .find(|(_, holds)| !matches!(holds, Value::Boolean(true)));
            let key = wrong.map(|(key, _)| match c.arg_type(0) {
                Type::Map(types, _) => text::to_text(key, &types.0),
                other => panic!("{other} should be a map"),
            });
            assert(c, key.is_none(), || {
                format!("assertion failed for key {}", key.unwrap_or_default())
            })
        },
    ),
    utility(
        "<string T> void assert(boolean condition, T msg)",
        "Ends the program with a message unless the condition holds.",
        |c| assert(c, c.boolean(0), || c.text(1).into_owned()),
    ),
    utility(
        "stateful void abort()",
        "Ends the program at once, as a failure.",
        |c| assert(c, false, || "abort was called".to_string()),
    ),
    utility(
        "boolean isTraceable(Trace.Level traceLevel)",
        "Whether trace messages of this level are written.",
        |c| Ok(Value::Boolean(c.services.is_traceable(level(c)))),
    ),
    utility(
        "<string T> void appTrc(Trace.Level traceLevel, T message, T aspect)",
        "Writes a trace message with an aspect, if messages of this level are written.",
        trace,
    ),
    utility(
        "<string T> void appTrc(Trace.Level traceLevel, T message)",
        "Writes a trace message, if messages of this level are written.",
        trace,
    ),
    utility(
        "boolean isLoggable(Log.Level logLevel)",
        "Whether log messages of this level are written.",
        |c| Ok(Value::Boolean(c.services.is_loggable(level(c)))),
    ),
    utility(
        "<string T> void appLog(Log.Level logLevel, T message, T aspect)",
        "Writes a log message with an aspect, if messages of this level are written.",
        log,
    ),
    utility(
        "<string T> void appLog(Log.Level logLevel, T message)",
        "Writes a log message, if messages of this level are written.",
        log,
    ),
    utility(
        "<string T> void log(Sys.LogLevel logLevel, T message, T aspect)",
        "Writes a trace message with an aspect, if messages of this level are written; `appTrc` \
         says it better.",
        trace,
    ),
    utility(
        "<string T> void log(Sys.LogLevel logLevel, T message)",
        "Writes a trace message, if messages of this level are written; `appTrc` says it better.",
        trace,
    ),
];

/// The fault has the position; the run time adds the operator and the file's name.
fn assert(c: &NativeCall<'_>, holds: bool, message: impl FnOnce() -> String) -> NativeResult {
    if holds {
        Ok(VOID)
    } else {
        Err(Fault::new(FaultKind::Abort, message()).with_pos(c.pos))
    }
}

fn level(c: &NativeCall<'_>) -> TraceLevel {
    match c.enumerator(0) {
        "error" => TraceLevel::Error,
        "warn" => TraceLevel::Warn,
        "info" => TraceLevel::Info,
        "debug" => TraceLevel::Debug,
        _ => TraceLevel::Trace,
    }
}

fn trace(c: &mut NativeCall<'_>) -> NativeResult {
    let level = level(c);
    if c.services.is_traceable(level) {
        let (message, aspect) = message(c);
        c.services.trace(level, &message, &aspect);
    }
    Ok(VOID)
}

fn log(c: &mut NativeCall<'_>) -> NativeResult {
    let level = level(c);
    if c.services.is_loggable(level) {
        let (message, aspect) = message(c);
        c.services.log(level, &message, &aspect);
    }
    Ok(VOID)
}

fn message(c: &NativeCall<'_>) -> (String, String) {
    let aspect = if c.args.len() > 2 {
        c.text(2).into_owned()
    } else {
        String::new()
    };
    (c.text(1).into_owned(), aspect)
}
