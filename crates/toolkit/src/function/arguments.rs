//! Arguments and results of native functions.
//!
//! The compiler has chosen the overload. So a value of another kind than that of the prototype is a
//! bug of the compiler, not of the program, and the readers here panic.

use std::borrow::Cow;

use eval::{Fault, FaultKind, NativeCall, WrongArgument, ops};
use tuple::{EnumType, List, Map, RString, Set, Timestamp, TupleType, Type, UString, Value};

/// Result of a native function: its value, or the fault of the call.
pub(super) type NativeResult = Result<Value, Fault>;

/// The result of a void function, which no caller reads.
pub(super) const VOID: Value = Value::Boolean(false);

/// Declares readers of scalar arguments: name, type, variant.
macro_rules! scalars {
    ($($name:ident: $kind:ty = $variant:ident, $set:ident;)+) => { $(
        fn $name(&self, at: usize) -> $kind {
            match self.arg(at) {
                Value::$variant(x) => *x,
                other => mismatch(at, stringify!($variant), other),
            }
        }
        fn $set(&mut self, at: usize, value: $kind) {
            *self.arg_mut(at) = Value::$variant(value);
        }
    )+ };
}

/// Declares readers of arguments behind a reference: name, type, variant, name of the mutable one.
macro_rules! containers {
    ($($name:ident, $name_mut:ident: $kind:ty = $variant:ident;)+) => { $(
        fn $name(&self, at: usize) -> &$kind {
            match self.arg(at) {
                Value::$variant(x) => x,
                other => mismatch(at, stringify!($variant), other),
            }
        }
        fn $name_mut(&mut self, at: usize) -> &mut $kind {
            match self.arg_mut(at) {
                Value::$variant(x) => x,
                other => mismatch(at, stringify!($variant), other),
            }
        }
    )+ };
}

/// The arguments of a call by number, and its result within the bounds of the result's type.
#[expect(
    dead_code,
    reason = "one reader and one writer a kind, whether used today or not"
)]
pub(super) trait NativeArguments {
    /// The value of an argument.
    fn arg(&self, at: usize) -> &Value;
    /// The value of an argument of a `mutable` formal, for a change in place.
    fn arg_mut(&mut self, at: usize) -> &mut Value;
    /// The static type of an argument.
    fn arg_type(&self, at: usize) -> &Type;
    /// The static type of the result.
    fn result_type(&self) -> &Type;

    scalars! {
        boolean: bool = Boolean, set_boolean;
        int32: i32 = Int32, set_int32;
        int64: i64 = Int64, set_int64;
        uint8: u8 = Uint8, set_uint8;
        uint32: u32 = Uint32, set_uint32;
        uint64: u64 = Uint64, set_uint64;
        float64: f64 = Float64, set_float64;
        timestamp: Timestamp = Timestamp, set_timestamp;
        ordinal: u32 = Enum, set_ordinal;
    }

    containers! {
        rstring, rstring_mut: RString = RString;
        ustring, ustring_mut: UString = UString;
        blob, blob_mut: Vec<u8> = Blob;
        list, list_mut: List = List;
        set, set_mut: Set = Set;
        map, map_mut: Map = Map;
        tuple, tuple_mut: [Value] = Tuple;
    }

    /// The bytes of an rstring argument.
    fn bytes(&self, at: usize) -> &[u8] {
        self.rstring(at).as_bytes()
    }

    /// An argument of any string type, as text; what is not valid becomes U+FFFD.
    fn text(&self, at: usize) -> Cow<'_, str> {
        match self.arg(at) {
            Value::RString(s) => s.to_string_lossy(),
            Value::UString(s) => Cow::Owned(s.to_string_lossy()),
            other => mismatch(at, "string", other),
        }
    }

    /// An argument of any string type, as the bytes that a file or a terminal is given.
    fn utf8(&self, at: usize) -> Cow<'_, [u8]> {
        match self.arg(at) {
            Value::RString(s) => Cow::Borrowed(s.as_bytes()),
            Value::UString(s) => {
                let mut bytes = Vec::new();
                s.write_utf8(&mut bytes);
                Cow::Owned(bytes)
            }
            other => mismatch(at, "string", other),
        }
    }

    /// The name of an enum argument's enumerator.
    fn enumerator(&self, at: usize) -> &str {
        let ordinal = self.ordinal(at) as usize;
        match self.arg_type(at) {
            Type::Enum(e) => enumerator_name(e, ordinal),
            other => panic!("argument {at} of a library function is a {other}, not an enum"),
        }
    }

    /// The attributes of a tuple argument's type.
    fn attributes(&self, at: usize) -> &TupleType {
        match self.arg_type(at) {
            Type::Tuple(t) => t,
            other => panic!("argument {at} of a library function is a {other}, not a tuple"),
        }
    }

    /// The type of the elements of a list or set argument.
    fn element_type(&self, at: usize) -> &Type {
        match self.arg_type(at) {
            Type::List(element, _) | Type::Set(element, _) => element,
            other => panic!("argument {at} of a library function is a {other}, not a list or set"),
        }
    }

    /// Greatest number of elements or bytes that an argument's type allows.
    fn capacity(&self, at: usize) -> usize {
        bound(self.arg_type(at))
    }

    /// An rstring result, cut off at the bound of the result's type.
    fn bounded_rstring(&self, bytes: impl Into<Vec<u8>>) -> NativeResult {
        let mut bytes = bytes.into();
        bytes.truncate(bound(self.result_type()));
        Ok(Value::RString(RString(bytes)))
    }

    /// A list result, cut off at the bound of the result's type.
    fn bounded_list(&self, mut list: List) -> NativeResult {
        list.truncate(bound(self.result_type()));
        Ok(Value::List(list))
    }

    /// A list result from its elements, cut off at the bound of the result's type.
    fn bounded_list_from(&self, values: impl IntoIterator<Item = Value>) -> NativeResult {
        let Type::List(element, _) = self.result_type() else {
            panic!("a list is no result of type {}", self.result_type());
        };
        let values = values.into_iter().take(bound(self.result_type()));
        Ok(Value::List(List::from_values(element, values)))
    }
}

impl NativeArguments for NativeCall<'_> {
    fn arg(&self, at: usize) -> &Value {
        self.args[at]
    }

    fn arg_mut(&mut self, at: usize) -> &mut Value {
        self.args[at]
    }

    fn arg_type(&self, at: usize) -> &Type {
        &self.types[at]
    }

    fn result_type(&self) -> &Type {
        self.result
    }
}

/// Greatest number of elements or bytes that a type allows.
pub(super) fn bound(ty: &Type) -> usize {
    match ty {
        Type::BoundedRString(n) => *n as usize,
        Type::List(_, Some(n)) | Type::Set(_, Some(n)) | Type::Map(_, Some(n)) => *n as usize,
        _ => usize::MAX,
    }
}

/// A value of type rstring with these bytes.
pub(super) fn rstring(bytes: impl Into<Vec<u8>>) -> Value {
    Value::RString(RString(bytes.into()))
}

/// Whether a string, blob or list that is not cut at `room` may grow; see [`ops::grown_len`].
pub(super) fn check_growth(
    (len, more): (usize, usize),
    room: usize,
    noun: &str,
) -> Result<(), Fault> {
    match room {
        usize::MAX => ops::grown_len(len, more, noun).map(|_| ()),
        _ => Ok(()),
    }
}

/// Number of elements that a call asks for; 0 for negative numbers.
pub(super) fn checked_count(asked: i32) -> Result<usize, Fault> {
    const COUNT_MAX: usize = 1 << 28;
    let count = asked.max(0) as usize;
    if count > COUNT_MAX {
        let message = format!("a list of {count} elements is longer than {COUNT_MAX}");
        return Err(Fault::new(FaultKind::Limit, message));
    }
    Ok(count)
}

fn enumerator_name(e: &EnumType, ordinal: usize) -> &str {
    e.names.get(ordinal).map_or("", |name| name)
}

fn mismatch(at: usize, expected: &str, got: &Value) -> ! {
    panic!("argument {at} of a library function should be a {expected} and is {got:?}")
}

/// Bytes of a string argument that is constant when compiling, as [`NativeArguments::utf8`] gives
/// them.
pub(super) fn utf8_of(args: &[Option<Value>], at: usize) -> Option<Cow<'_, [u8]>> {
    match args.get(at)?.as_ref()? {
        Value::RString(text) => Some(Cow::Borrowed(text.as_bytes())),
        Value::UString(text) => Some(Cow::Owned(text.to_string_lossy().into_bytes())),
        _ => None,
    }
}

/// Checks a string argument that is constant when compiling; `help` says which strings pass.
pub(super) fn check_text(
    args: &[Option<Value>],
    at: usize,
    help: &'static str,
    check: impl FnOnce(&str) -> Result<(), Fault>,
) -> Result<(), WrongArgument> {
    let text = match args.get(at) {
        Some(Some(Value::RString(text))) => text.to_string_lossy(),
        Some(Some(Value::UString(text))) => Cow::Owned(text.to_string_lossy()),
        _ => return Ok(()),
    };
    check(&text).map_err(|fault| wrong_argument(at, &fault, help))
}

/// An argument with which a function fails by a fault.
pub(super) fn wrong_argument(argument: usize, fault: &Fault, help: &'static str) -> WrongArgument {
    WrongArgument {
        argument,
        message: fault.message().to_owned(),
        help,
    }
}
