//! Native functions that generated programs call.

use eval::ops::IntegerRange;
use eval::{Fault, NativeCall, NativeFn};
use tuple::{List, Type, Value};

/// The library functions that generated programs call.
pub const NATIVES: &[NativeFn] = &[
    native("<list T> int32 size(T l)", "Elements of a list.", size),
    native("int32 length(rstring s)", "Bytes of a string.", length),
    native(
        "<any T> void appendM(mutable list<T> l, T x)",
        "Appends.",
        append,
    ),
    native(
        "<any K, any V> void insertM(mutable map<K,V> m, K k, V v)",
        "Inserts.",
        insert,
    ),
    native("<list T> void clearM(mutable T l)", "Empties.", clear),
    native("<ordered T> T max(T a, T b)", "The larger one.", max),
    native(
        "rstring text(float64 a, int32 b)",
        "Fails if the number is negative.",
        text,
    ),
    native(
        "<any K, any V> void removeM(mutable map<K,V> m, K k)",
        "Removes an entry.",
        remove,
    ),
    range("list<int32> range(int32 limit)"),
    range("list<int32> range(int32 start, int32 limit)"),
    range("list<int32> range(int32 start, int32 limit, int32 step)"),
    range("<any T> list<int32> range(list<T> values)"),
];

pub(super) const SIZE: u32 = 0;
pub(super) const LENGTH: u32 = 1;
pub(super) const APPEND: u32 = 2;
pub(super) const INSERT: u32 = 3;
pub(super) const CLEAR: u32 = 4;
pub(super) const MAX: u32 = 5;
pub(super) const TEXT: u32 = 6;
pub(super) const REMOVE: u32 = 7;
/// The function `range` with one number; those with two and three numbers follow it.
pub(super) const RANGE: u32 = 8;
pub(super) const RANGE_OF_LIST: u32 = 11;

const fn native(
    prototype: &'static str,
    doc: &'static str,
    eval: fn(&mut NativeCall<'_>) -> Result<Value, Fault>,
) -> NativeFn {
    NativeFn {
        namespace: "testing",
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

const fn range(prototype: &'static str) -> NativeFn {
    NativeFn {
        is_range: true,
        ..native(prototype, "Numbers in equal steps.", numbers)
    }
}

fn numbers(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let args: Vec<&Value> = call.args.iter().map(|arg| &**arg).collect();
    let numbers = IntegerRange::from_args(&args)?.numbers();
    Ok(Value::List(List::Int32(numbers.collect())))
}

fn void_result() -> Result<Value, Fault> {
    Ok(Value::Boolean(false))
}

fn wrong_arguments(call: &NativeCall<'_>) -> Fault {
    Fault::value(format!(
        "a testing function was called with {:?}",
        call.args
    ))
}

fn size(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    match &*call.args[0] {
        Value::List(list) => Ok(Value::Int32(list.len() as i32)),
        _ => Err(wrong_arguments(call)),
    }
}

fn length(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    match &*call.args[0] {
        Value::RString(s) => Ok(Value::Int32(s.len() as i32)),
        _ => Err(wrong_arguments(call)),
    }
}

fn append(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let item = call.args[1].clone();
    if let Value::List(list) = &mut *call.args[0]
        && list.push(item)
    {
        return void_result();
    }
    Err(wrong_arguments(call))
}

fn insert(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let (key, value) = (call.args[1].clone(), call.args[2].clone());
    match &mut *call.args[0] {
        Value::Map(map) => {
            map.insert(key, value);
            void_result()
        }
        _ => Err(wrong_arguments(call)),
    }
}

fn remove(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let key = call.args[1].clone();
    match &mut *call.args[0] {
        Value::Map(map) => {
            map.remove(&key);
            void_result()
        }
        _ => Err(wrong_arguments(call)),
    }
}

fn clear(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    match &mut *call.args[0] {
        Value::List(list) => {
            list.clear();
            void_result()
        }
        _ => Err(wrong_arguments(call)),
    }
}

fn max(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let [a, b] = &*call.args else {
        return Err(wrong_arguments(call));
    };
    Ok(if a.total_cmp(b).is_ge() {
        (**a).clone()
    } else {
        (**b).clone()
    })
}

fn text(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    if *call.result != Type::RString {
        return Err(wrong_arguments(call));
    }
    match (&*call.args[0], &*call.args[1]) {
        (_, Value::Int32(b)) if *b < 0 => Err(Fault::value("text was given a negative number")),
        (Value::Float64(a), Value::Int32(b)) => {
            let text = if a.is_nan() {
                format!("nan {b}")
            } else {
                format!("{a} {b}")
            };
            Ok(Value::RString(text.into()))
        }
        _ => Err(wrong_arguments(call)),
    }
}
