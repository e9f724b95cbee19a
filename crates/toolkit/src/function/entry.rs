//! Entries of the lists of functions: the constructors, one for each namespace.

use eval::{Fault, FaultKind, NativeCall, NativeFn};
use graph::Unsupported;
use tuple::Value;

/// Implementation of a function: reads the arguments of one call and gives its result.
pub(super) type NativeEval = fn(&mut NativeCall<'_>) -> Result<Value, Fault>;

/// An entry of `spl.collection`.
pub(super) const fn collection(
    prototype: &'static str,
    doc: &'static str,
    eval: NativeEval,
) -> NativeFn {
    native("spl.collection", prototype, doc, eval)
}

/// An entry of `spl.file`.
pub(super) const fn file(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("spl.file", prototype, doc, eval)
}

/// An entry of `spl.math`.
pub(super) const fn math(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("spl.math", prototype, doc, eval)
}

/// An entry of `spl.string`.
pub(super) const fn string(
    prototype: &'static str,
    doc: &'static str,
    eval: NativeEval,
) -> NativeFn {
    native("spl.string", prototype, doc, eval)
}

/// An entry of `spl.time`.
pub(super) const fn time(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("spl.time", prototype, doc, eval)
}

/// An entry of `spl.utility`.
pub(super) const fn utility(
    prototype: &'static str,
    doc: &'static str,
    eval: NativeEval,
) -> NativeFn {
    native("spl.utility", prototype, doc, eval)
}

/// An entry of a function that is known by name only; the compiler refuses every call of it.
pub(super) const fn unsupported(
    namespace: &'static str,
    prototype: &'static str,
    doc: &'static str,
    refusal: Unsupported,
) -> NativeFn {
    NativeFn {
        unsupported: Some(refusal),
        ..native(namespace, prototype, doc, eval_unsupported)
    }
}

fn eval_unsupported(_: &mut NativeCall<'_>) -> Result<Value, Fault> {
    Err(Fault::new(FaultKind::Limit, "it is not supported"))
}

/// An entry of any namespace.
pub(super) const fn native(
    namespace: &'static str,
    prototype: &'static str,
    doc: &'static str,
    eval: NativeEval,
) -> NativeFn {
    NativeFn {
        namespace,
        prototype,
        doc,
        eval,
        is_range: false,
        needs_counts: false,
        needs_pane: false,
        port: None,
        unsupported: None,
        check: None,
    }
}
