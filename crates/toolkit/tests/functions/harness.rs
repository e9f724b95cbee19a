//! Calls of built-in functions with values written in short.
//!
//! A function is found by its prototype or the end of it, from its name on: `"pow(T val, T pwr)"`;
//! the first one declared if there are several. Values are compared by type and by their text, so
//! that not-a-number equals itself.

use std::collections::HashMap;

use eval::{Fault, FaultKind, KeptValue, NativeCall, Services, TraceLevel};
use graph::Pos;
use tuple::{
    Decimal64, EnumType, List, Map, RString, Set, Timestamp, TupleType, Type, UString, Value, text,
};

/// A value with its type.
#[derive(Clone, Debug)]
pub struct Arg(pub Type, pub Value);

/// Checks what a call gives.
#[track_caller]
pub fn gives(signature: &str, args: &[Arg], expected: Arg) {
    gives_with(&mut Pe::default(), signature, args, expected);
}

/// Checks what a call gives in a PE.
#[track_caller]
pub fn gives_with(pe: &mut Pe, signature: &str, args: &[Arg], expected: Arg) {
    let result =
        call(pe, signature, args, &expected.0).map(|(value, _)| Arg(expected.0.clone(), value));
    let result = result.unwrap_or_else(|fault| panic!("{signature} faults: {fault}"));
    assert_eq!(
        result.text(),
        expected.text(),
        "{signature} of {}",
        texts(args)
    );
    assert!(
        result.1.has_type(&result.0),
        "{signature} gives another type: {:?}",
        result.1
    );
}

/// Checks what a void call, or one whose result is uninteresting, makes of its first argument.
#[track_caller]
pub fn changes(signature: &str, args: &[Arg], expected: Arg) {
    let (_, after) = run(&mut Pe::default(), signature, args, &Type::Void);
    assert_eq!(
        after[0].text(),
        expected.text(),
        "{signature} of {}",
        texts(args)
    );
}

/// Calls a function and gives the result with the arguments as they are afterwards.
#[track_caller]
pub fn run(pe: &mut Pe, signature: &str, args: &[Arg], result: &Type) -> (Value, Vec<Arg>) {
    call(pe, signature, args, result).unwrap_or_else(|fault| panic!("{signature} faults: {fault}"))
}

/// Checks that a call faults, with these words in the sentence.
#[track_caller]
pub fn faults(signature: &str, args: &[Arg], result: Type, words: &str) -> FaultKind {
    match call(&mut Pe::default(), signature, args, &result) {
        Ok((value, _)) => panic!("{signature} of {} gives {value:?}", texts(args)),
        Err(fault) => {
            assert!(fault.message().contains(words), "{signature}: {fault}");
            assert!(!fault.message().ends_with('.'), "a full stop: {fault}");
            fault.kind()
        }
    }
}

/// Calls a function by its prototype.
#[track_caller]
pub fn call(
    services: &mut dyn Services,
    signature: &str,
    args: &[Arg],
    result: &Type,
) -> Result<(Value, Vec<Arg>), Fault> {
    let mut all = toolkit::functions().iter();
    let end = format!(" {signature}");
    let found = all.find(|f| f.prototype == signature || f.prototype.ends_with(&end));
    let function = found.unwrap_or_else(|| panic!("no prototype ends in {signature}"));
    let types: Vec<Type> = args.iter().map(|a| a.0.clone()).collect();
    let mut values: Vec<Value> = args.iter().map(|a| a.1.clone()).collect();
    let mut places: Vec<&mut Value> = values.iter_mut().collect();
    let value = (function.eval)(&mut NativeCall {
        args: &mut places,
        types: &types,
        result,
        services,
        pos: Pos {
            file: 0,
            line: 7,
            column: 1,
        },
    })?;
    Ok((
        value,
        types
            .into_iter()
            .zip(values)
            .map(|(t, v)| Arg(t, v))
            .collect(),
    ))
}

impl Arg {
    /// The type and the text of a value.
    pub fn text(&self) -> String {
        format!("{} {}", self.0, text::to_text(&self.1, &self.0))
    }

    /// With another type that the value fits, such as a bounded one.
    pub fn typed(self, ty: Type) -> Arg {
        Arg(ty, self.1)
    }
}

fn texts(args: &[Arg]) -> String {
    args.iter().map(Arg::text).collect::<Vec<_>>().join(", ")
}

/// Declares constructors of scalars: name, Rust type, variant.
macro_rules! scalars {
    ($($name:ident: $kind:ty = $variant:ident;)+) => { $(
        /// A value of this SPL type.
        pub fn $name(x: $kind) -> Arg {
            Arg(Type::$variant, Value::$variant(x))
        }
    )+ };
}

scalars! {
    boolean: bool = Boolean;
    int8: i8 = Int8;
    int32: i32 = Int32;
    int64: i64 = Int64;
    uint8: u8 = Uint8;
    uint32: u32 = Uint32;
    uint64: u64 = Uint64;
    float32: f32 = Float32;
    float64: f64 = Float64;
}

/// An argument of type rstring.
pub fn r(text: impl AsRef<[u8]>) -> Arg {
    Arg(
        Type::RString,
        Value::RString(RString(text.as_ref().to_vec())),
    )
}

/// An argument of type `rstring[n]`.
pub fn bounded(text: &str, n: u32) -> Arg {
    r(text).typed(Type::BoundedRString(n))
}

/// An argument of type ustring.
pub fn u(text: &str) -> Arg {
    Arg(Type::UString, Value::UString(UString::from(text)))
}

/// An argument of type blob.
pub fn blob(bytes: &[u8]) -> Arg {
    Arg(Type::Blob, Value::Blob(bytes.to_vec()))
}

/// A timestamp of machine 0.
pub fn ts(seconds: i64, nanos: u32) -> Arg {
    Arg(
        Type::Timestamp,
        Value::Timestamp(Timestamp {
            seconds,
            nanos,
            machine: 0,
        }),
    )
}

/// A decimal64 of tenths.
pub fn tenths(n: i64) -> Arg {
    let value = Decimal64::from_i64(n) / Decimal64::from_i64(10);
    Arg(Type::Decimal64, Value::Decimal64(value))
}

/// An argument of type complex64.
pub fn complex(re: f64, im: f64) -> Arg {
    Arg(Type::Complex64, Value::Complex64(re, im))
}

/// A list of at least one element.
pub fn list<const N: usize>(elements: [Arg; N]) -> Arg {
    let ty = elements[0].0.clone();
    let list = List::from_values(&ty, elements.into_iter().map(|a| a.1));
    Arg(Type::List(ty.into(), None), Value::List(list))
}

/// A list argument without elements.
pub fn empty(element: Type) -> Arg {
    let list = List::new_for(&element);
    Arg(Type::List(element.into(), None), Value::List(list))
}

/// A list of int32.
pub fn ints<const N: usize>(numbers: [i32; N]) -> Arg {
    Arg(
        Type::List(Type::Int32.into(), None),
        Value::List(List::Int32(numbers.to_vec())),
    )
}

/// A list of rstrings.
pub fn strings<const N: usize>(texts: [&str; N]) -> Arg {
    let list = List::from_values(&Type::RString, texts.into_iter().map(|t| r(t).1));
    Arg(Type::List(Type::RString.into(), None), Value::List(list))
}

/// A list of ustrings.
pub fn ustrings<const N: usize>(texts: [&str; N]) -> Arg {
    let list = List::from_values(&Type::UString, texts.into_iter().map(|t| u(t).1));
    Arg(Type::List(Type::UString.into(), None), Value::List(list))
}

/// The collection with a bound in its type.
pub fn upto(n: u32, arg: Arg) -> Arg {
    let ty = match &arg.0 {
        Type::List(e, _) => Type::List(e.clone(), Some(n)),
        Type::Set(e, _) => Type::Set(e.clone(), Some(n)),
        Type::Map(kv, _) => Type::Map(kv.clone(), Some(n)),
        other => panic!("{other} has no bounded form"),
    };
    arg.typed(ty)
}

/// A set of int32.
pub fn set<const N: usize>(numbers: [i32; N]) -> Arg {
    let set: Set = numbers.into_iter().map(Value::Int32).collect();
    Arg(Type::Set(Type::Int32.into(), None), Value::Set(set))
}

/// A map from int32 to rstring.
pub fn map<const N: usize>(entries: [(i32, &str); N]) -> Arg {
    let map: Map = entries
        .into_iter()
        .map(|(k, v)| (Value::Int32(k), r(v).1))
        .collect();
    Arg(
        Type::Map((Type::Int32, Type::RString).into(), None),
        Value::Map(map),
    )
}

/// An argument of a tuple type.
pub fn tuple<const N: usize>(attributes: [(&str, Arg); N]) -> Arg {
    let ty = TupleType::new(attributes.iter().map(|(name, arg)| (*name, arg.0.clone())));
    let values = attributes.into_iter().map(|(_, arg)| arg.1).collect();
    Arg(Type::Tuple(ty.into()), Value::Tuple(values))
}

/// An enumerator of an enum with these names, blanks between.
pub fn enumerator(names: &str, which: &str) -> Arg {
    let ty = EnumType {
        names: names.split(' ').map(Into::into).collect(),
    };
    let ordinal = ty.find(which).expect("one of the names");
    Arg(Type::Enum(ty.into()), Value::Enum(ordinal))
}

/// A PE that remembers what functions ask of it.
#[derive(Default)]
pub struct Pe {
    /// Printed text, with a `|` for each flush.
    pub printed: String,
    /// Trace and log messages.
    pub messages: Vec<String>,
    /// Custom metrics by their names.
    pub metrics: Vec<(String, i64)>,
    /// Submission-time values of the job.
    pub properties: HashMap<String, String>,
    /// Where files are, if anywhere.
    pub data_directory: Option<String>,
    /// Whether a shutdown was asked for.
    pub shut: bool,
    /// For how long functions slept.
    pub slept: f64,
    /// The state of the random numbers.
    pub seed: u64,
    /// Values that functions keep.
    pub kept: HashMap<String, KeptValue>,
}

impl Services for Pe {
    fn keep(&mut self, name: &str, value: KeptValue) -> Result<(), Fault> {
        self.kept.insert(name.to_owned(), value);
        Ok(())
    }
    fn kept(&self, name: &str) -> Result<Option<KeptValue>, Fault> {
        Ok(self.kept.get(name).cloned())
    }
    fn print(&mut self, text: &[u8], flush: bool) -> Result<(), Fault> {
        self.printed.push_str(&String::from_utf8_lossy(text));
        if flush { self.flush() } else { Ok(()) }
    }
    fn flush(&mut self) -> Result<(), Fault> {
        self.printed.push('|');
        Ok(())
    }
    fn data_directory(&self) -> Result<String, Fault> {
        self.data_directory
            .clone()
            .ok_or_else(|| Fault::value("no data directory"))
    }
    fn is_shutdown(&self) -> bool {
        self.shut
    }
    fn shutdown(&mut self) {
        self.shut = true;
    }
    fn block(&mut self, seconds: f64) {
        self.slept += seconds;
    }
    fn is_traceable(&self, level: TraceLevel) -> bool {
        level <= TraceLevel::Info
    }
    fn trace(&mut self, level: TraceLevel, message: &str, aspect: &str) {
        self.messages
            .push(format!("trace {level:?} {message} [{aspect}]"));
    }
    fn is_loggable(&self, level: TraceLevel) -> bool {
        level <= TraceLevel::Warn
    }
    fn log(&mut self, level: TraceLevel, message: &str, aspect: &str) {
        self.messages
            .push(format!("log {level:?} {message} [{aspect}]"));
    }
    fn random(&mut self) -> f64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.seed >> 40) as f64 / (1u64 << 24) as f64
    }
    fn seed(&mut self, seed: i32) {
        self.seed = seed as u64;
    }
    fn operator_name(&self) -> &str {
        "Main.Op"
    }
    fn metric(&self, name: &str) -> Option<i64> {
        self.metrics
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| *value)
    }
    fn set_metric(&mut self, name: &str, value: i64) -> bool {
        let found = self.metrics.iter_mut().find(|(n, _)| n == name);
        found.map(|metric| metric.1 = value).is_some()
    }
    fn create_metric(&mut self, name: &str, _: &str, _: u32, value: i64) -> bool {
        let new = self.metric(name).is_none();
        if new {
            self.metrics.push((name.to_string(), value));
        }
        new
    }
    fn metric_names(&self) -> Vec<String> {
        self.metrics.iter().map(|(name, _)| name.clone()).collect()
    }
    fn property(&self, name: &str) -> Option<String> {
        self.properties.get(name).cloned()
    }
}
