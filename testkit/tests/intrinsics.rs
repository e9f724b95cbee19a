//! Library functions that compiled code does itself give what the library gives.

use std::sync::Arc;

use eval::{FaultKind, InputTuples, State};
use graph::{
    Arg, Body, Callee, Expr, ExprKind, LocalId, LocalVar, NativeId, OutPort, Place, Pos, Stmt,
};
use jit::{Jit, JitOptions};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::abi::{Backend, CodeContext, CodeScope};
use thalweg_testkit::SubmissionRecorder;
use tuple::{Layout, List, Map, RString, Set, Timestamp, TupleType, Type};
use tuple::{UString, Value};

/// Result of a call: the bytes of the result's tuple, or the fault.
type Given = Result<Vec<u8>, (FaultKind, String)>;

/// Calls a function by its prototype with constants, by both backends.
fn agree(prototype: &str, args: &[(Value, Type)], result: Type) {
    drop(given_by_both(prototype, args, result));
}

/// Result of a function called with constants, which has to be the same by both backends.
fn given_by_both(prototype: &str, args: &[(Value, Type)], result: Type) -> Given {
    let functions = toolkit::functions();
    let native = functions.iter().position(|f| f.prototype == prototype);
    let native = native.unwrap_or_else(|| panic!("no function {prototype}"));
    // The arguments come from variables, so that nothing is known of them when code is made.
    let locals: Vec<LocalVar> = args
        .iter()
        .map(|(_, ty)| LocalVar::new("v", ty.clone()))
        .collect();
    let id = |at: usize| LocalId(at as u32);
    let lets = args.iter().enumerate().map(|(at, (value, ty))| {
        Stmt::Let(id(at), Some(Expr::constant(value.clone(), ty.clone())))
    });
    let mut stmts: Vec<Stmt> = lets.collect();
    let is_change = prototype.contains("mutable");
    let passed = args.iter().enumerate().map(|(at, (_, ty))| {
        if at == 0 && is_change {
            Arg::Place(Place::local(id(at), ty.clone()))
        } else {
            Arg::Value(Expr::local(id(at), ty.clone()))
        }
    });
    let call = Expr::call(
        Callee::Native(NativeId(native as u32)),
        passed,
        result.clone(),
    );
    let shown = if is_change {
        stmts.push(Stmt::Expr(call));
        Expr::local(id(0), args[0].1.clone())
    } else {
        call
    };
    let out = Arc::new(TupleType::new([("result", shown.ty.clone())]));
    let tuple = Expr::new(ExprKind::Tuple(vec![shown]), Type::Tuple(out.clone()));
    let port = Expr::constant(Value::Uint32(0), Type::Uint32);
    stmts.push(Stmt::Submit {
        port,
        tuple,
        pos: Pos::default(),
    });
    let body = Body { locals, stmts };
    let expected = run(&mut InterpreterBackend::new(&[], functions), &body, &out);
    let mut compiled = Jit::new(&[], functions, JitOptions::default()).expect("a known machine");
    let actual = run(&mut compiled, &body, &out);
    assert_eq!(expected, actual, "{prototype} of {args:?}");
    expected
}

fn run(backend: &mut dyn Backend, body: &Body, out: &Arc<TupleType>) -> Given {
    let output = OutPort::new("Out", out.clone());
    let operator = graph::OperatorNode {
        outputs: vec![output],
        ..graph::OperatorNode::new("Op", "test::Op", Pos::default())
    };
    let scope = CodeScope {
        operator: &operator,
        index: 0,
        inputs: Vec::new(),
        outputs: vec![Layout::new(out)],
        state: &[],
        tables: &[],
    };
    let mut act = backend
        .body(&scope, body)
        .unwrap_or_else(|fault| panic!("{fault}"));
    backend.finish().unwrap_or_else(|fault| panic!("{fault}"));
    let mut recorder = SubmissionRecorder::default();
    let ended = act.run_body(&mut CodeContext {
        inputs: InputTuples::NONE,
        state: &mut State::default(),
        outlet: &mut recorder,
        punctuation: None,
    });
    ended.map_err(|fault| (fault.kind(), fault.message().to_owned()))?;
    let last = recorder.submitted.pop();
    let (_, tuple) = last.expect("the body submits its result");
    Ok(tuple.expect("a tuple").as_ref().bytes().to_vec())
}

fn text(s: &str) -> (Value, Type) {
    (
        Value::RString(RString(s.as_bytes().to_vec())),
        Type::RString,
    )
}

fn int(x: i32) -> (Value, Type) {
    (Value::Int32(x), Type::Int32)
}

fn float(x: f64) -> (Value, Type) {
    (Value::Float64(x), Type::Float64)
}

const FLOATS: [f64; 15] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.499_999_999_999_999_94,
    4_503_599_627_370_497.5,
    -1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    3.0,
    -7.25,
];

#[test]
fn numbers() {
    for x in FLOATS {
        for function in ["floor", "round", "abs"] {
            let prototype = format!("<floatingpoint T> T {function}(T f)");
            agree(&prototype, &[float(x)], Type::Float64);
            let small = (Value::Float32(x as f32), Type::Float32);
            agree(&prototype, &[small], Type::Float32);
        }
        agree("<float T> T ceil(T f)", &[float(x)], Type::Float64);
        agree("<numeric T> T sqrt(T f)", &[float(x)], Type::Float64);
        for y in FLOATS {
            agree(
                "<ordered T> T max(T v1, T v2)",
                &[float(x), float(y)],
                Type::Float64,
            );
            agree(
                "<ordered T> T min(T v1, T v2)",
                &[float(x), float(y)],
                Type::Float64,
            );
        }
    }
    for x in [0, 5, -5, i32::MIN, i32::MAX] {
        agree("<integral T> T abs(T f)", &[int(x)], Type::Int32);
        agree(
            "<ordered T> T max(T v1, T v2)",
            &[int(x), int(3)],
            Type::Int32,
        );
        let unsigned = (Value::Uint32(x as u32), Type::Uint32);
        agree(
            "<integral T> T abs(T f)",
            std::slice::from_ref(&unsigned),
            Type::Uint32,
        );
        let three = (Value::Uint32(3), Type::Uint32);
        agree(
            "<ordered T> T min(T v1, T v2)",
            &[unsigned, three],
            Type::Uint32,
        );
    }
}

#[test]
fn strings() {
    for s in ["", "a", "hello world", "né"] {
        agree("<string T> int32 length(T str)", &[text(s)], Type::Int32);
        let wide = (
            Value::UString(UString(s.encode_utf16().collect())),
            Type::UString,
        );
        agree("<string T> int32 length(T str)", &[wide], Type::Int32);
        for from in [-2, 0, 1, 3, 11, 12, i32::MAX] {
            for count in [-1, 0, 1, 2, 100, i32::MAX] {
                let args = [text(s), int(from), int(count)];
                let prototype = "<string T> T substring(T str, int32 sidx, int32 slen)";
                agree(prototype, &args, Type::RString);
            }
            for pattern in ["", "o", "wor", "zz"] {
                let args = [text(s), text(pattern), int(from)];
                let prototype = "<string T> int32 findFirst(T str, T ps, int32 sidx)";
                agree(prototype, &args, Type::Int32);
            }
        }
        agree(
            "<string T> int32 findFirst(T str, T ps)",
            &[text(s), text("l")],
            Type::Int32,
        );
        agree(
            "void appendM(mutable rstring str, rstring value)",
            &[text(s), text("+")],
            Type::Void,
        );
    }
    // Lone halves of surrogate pairs count one each.
    let odd = (
        Value::UString(UString(vec![0xD800, 0xDC00, 0xD800, 0x61, 0xDC00])),
        Type::UString,
    );
    agree("<string T> int32 length(T str)", &[odd], Type::Int32);
}

fn list_of(element: Type) -> Type {
    Type::List(element.into(), None)
}

#[test]
fn collections() {
    let numbers = (
        Value::List(List::Int32(vec![4, 5, -6])),
        list_of(Type::Int32),
    );
    let words = ["a", "bb"].map(|s| text(s).0);
    let words = (
        Value::List(List::from_values(&Type::RString, words)),
        list_of(Type::RString),
    );
    let set = [1, 2].map(|x| int(x).0).into_iter().collect::<Set>();
    let set = (Value::Set(set), Type::Set(Type::Int32.into(), None));
    let map = [("k", 1), ("l", 2)].map(|(k, v)| (text(k).0, int(v).0));
    let map_type = Type::Map((Type::RString, Type::Int32).into(), None);
    let map = (Value::Map(map.into_iter().collect::<Map>()), map_type);
    let blob = (Value::Blob(vec![1, 2, 3]), Type::Blob);
    for c in [&numbers, &words, &set, &map] {
        agree(
            "<collection T> int32 size(T values)",
            std::slice::from_ref(c),
            Type::Int32,
        );
    }
    agree(
        "int32 size(blob values)",
        std::slice::from_ref(&blob),
        Type::Int32,
    );
    agree("uint64 blobSize(blob b)", &[blob], Type::Uint64);
    for x in [5, 7, 1] {
        let has = "<any T> boolean has(list<T> values, T item)";
        agree(has, &[numbers.clone(), int(x)], Type::Boolean);
        agree(
            "<any T> boolean has(set<T> values, T item)",
            &[set.clone(), int(x)],
            Type::Boolean,
        );
        let append = "<any T> void appendM(mutable list<T> values, T value)";
        agree(append, &[numbers.clone(), int(x)], Type::Void);
        let full = Type::List(Type::Int32.into(), Some(3));
        agree(append, &[(numbers.0.clone(), full), int(x)], Type::Void);
    }
    for s in ["bb", "k", ""] {
        let has = "<any T> boolean has(list<T> values, T item)";
        agree(has, &[words.clone(), text(s)], Type::Boolean);
        let key = "<any K, any V> boolean has(map<K,V> values, K item)";
        agree(key, &[map.clone(), text(s)], Type::Boolean);
        let insert = "<any K, any V> void insertM(mutable map<K,V> values, K key, V value)";
        agree(insert, &[map.clone(), text(s), int(9)], Type::Void);
        let append = "<any T> void appendM(mutable list<T> values, T value)";
        agree(append, &[words.clone(), text(s)], Type::Void);
    }
}

#[test]
fn times() {
    let time = (
        Value::Timestamp(Timestamp {
            seconds: -5,
            nanos: 7,
            machine: 3,
        }),
        Type::Timestamp,
    );
    let one = std::slice::from_ref(&time);
    agree("int64 getSeconds(timestamp t)", one, Type::Int64);
    agree("uint32 getNanoseconds(timestamp t)", one, Type::Uint32);
    agree("int32 getMachineId(timestamp t)", one, Type::Int32);
    for nanos in [0, 999_999_999, 1_000_000_000, u32::MAX] {
        let args = [
            (Value::Int64(-1), Type::Int64),
            (Value::Uint32(nanos), Type::Uint32),
            int(4),
        ];
        let two = "timestamp createTimestamp(int64 secs, uint32 nanos)";
        agree(two, &args[..2], Type::Timestamp);
        let three = "timestamp createTimestamp(int64 secs, uint32 nanos, int32 mid)";
        agree(three, &args, Type::Timestamp);
    }
}

/// An argument of a length.
#[cfg(debug_assertions)]
type ArgumentOfLen = fn(usize) -> (Value, Type);

/// A call that grows its first argument, or a copy of it, by one: prototype, first argument, rest.
#[cfg(debug_assertions)]
type GrowingCall = (&'static str, ArgumentOfLen, Vec<(Value, Type)>);

/// Calls of the functions that grow a list, string or blob.
#[cfg(debug_assertions)]
fn growing_calls() -> [GrowingCall; 10] {
    let ones: ArgumentOfLen = |len| (Value::List(List::Int32(vec![1; len])), list_of(Type::Int32));
    let string: ArgumentOfLen = |len| text(&"x".repeat(len));
    let blob: ArgumentOfLen = |len| (Value::Blob(vec![1; len]), Type::Blob);
    let byte = (Value::Uint8(1), Type::Uint8);
    let bytes = (Value::List(List::Uint8(vec![1])), list_of(Type::Uint8));
    let (one, first) = (int(1), int(0));
    [
        (
            "<any T> void appendM(mutable list<T> values, T value)",
            ones,
            vec![one.clone()],
        ),
        (
            "<any T> list<T> insert(list<T> values, T ival, int32 idx)",
            ones,
            vec![one.clone(), first.clone()],
        ),
        (
            "<any T> list<T> insert(list<T> values, list<T> ivls, int32 idx)",
            ones,
            vec![ones(1), first.clone()],
        ),
        (
            "<any T> void insertM(mutable list<T> values, T ival, int32 idx)",
            ones,
            vec![one, first.clone()],
        ),
        (
            "<any T> void insertM(mutable list<T> values, list<T> ivls, int32 idx)",
            ones,
            vec![ones(1), first],
        ),
        (
            "<any T> list<T> concat(list<T> values1, list<T> values2)",
            ones,
            vec![ones(1)],
        ),
        (
            "<any T> void concatM(mutable list<T> values1, list<T> values2)",
            ones,
            vec![ones(1)],
        ),
        (
            "void appendM(mutable rstring str, rstring value)",
            string,
            vec![text("+")],
        ),
        ("void appendM(mutable blob b, uint8 byte)", blob, vec![byte]),
        (
            "void appendM(mutable blob b, list<uint8> bytes)",
            blob,
            vec![bytes],
        ),
    ]
}

#[test]
#[cfg(debug_assertions)]
fn growing_beyond_the_greatest_length_is_a_fault() {
    const LEN_MAX: usize = 100;
    for (prototype, of_len, more) in growing_calls() {
        let given = |len: usize| {
            let args = [vec![of_len(len)], more.clone()].concat();
            let is_change = prototype.contains("mutable");
            let result = if is_change {
                Type::Void
            } else {
                args[0].1.clone()
            };
            eval::ops::with_len_max(LEN_MAX, || given_by_both(prototype, &args, result))
        };
        assert!(given(LEN_MAX - 1).is_ok(), "{prototype}");
        let (kind, sentence) = given(LEN_MAX).expect_err(prototype);
        assert_eq!(kind, FaultKind::Limit);
        assert!(
            sentence.contains("cannot be longer than 2147483647"),
            "{sentence}"
        );
    }
}
