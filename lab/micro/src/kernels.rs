//! Small loops over typed expressions, one per kind of expression.
//!
//! ```text
//!   input {n} --> while (i < n) { kernel; i++; } --> state
//! ```

use eval::State;
use graph::{Body, Expr, ExprKind, Function, LocalVar, Pos, StateId, StateVar, Stmt};
use tuple::{Decimal64, List, Map, Timestamp, Type, Value};

use crate::builders::*;

/// A loop over one kind of expression, with its state and functions.
pub struct Kernel {
    /// Name of the kernel here and in C++.
    pub name: &'static str,
    /// Iterations of the loop when it is timed.
    pub loop_count: i64,
    /// State variables that the loop uses.
    pub state: Vec<StateVar>,
    /// Functions that the loop calls.
    pub functions: Vec<Function>,
    /// Body with the loop.
    pub body: Body,
    /// Function that sets the initial values of the state variables.
    pub init_state: fn(&mut State),
    /// Index of the state variable with the result.
    pub result_index: u32,
}

/// All kernels in the order of the table.
pub fn kernels() -> Vec<Kernel> {
    vec![
        integer(),
        float(),
        strings(),
        list(),
        decimal(),
        map_lookup(),
        string_map(),
        function(),
        nested(),
        branches(),
        timestamp(),
    ]
}

fn uint(x: u64) -> Expr {
    Expr::constant(Value::Uint64(x), Type::Uint64)
}

const LCG: u64 = 6_364_136_223_846_793_005;
const STEP: u64 = 1_442_695_040_888_963_407;

/// x = x * a + c; sum ^= x >> 33
fn integer() -> Kernel {
    let x = || local(1, Type::Uint64);
    let next = binary(Add, binary(Mul, x(), uint(LCG)), uint(STEP));
    let mut stmts = vec![let_(1, uint(1)), let_(2, uint(0))];
    stmts.extend(count_to_n(vec![
        assign(local_place(1, Type::Uint64), next),
        assign_op(
            BitXor,
            local_place(2, Type::Uint64),
            binary(Shr, x(), int(33)),
        ),
    ]));
    stmts.push(assign(state_place(0, Type::Uint64), local(2, Type::Uint64)));
    Kernel {
        name: "integer",
        loop_count: 20_000_000,
        state: vec![var("sum", Type::Uint64)],
        functions: vec![],
        body: body([Type::Int64, Type::Uint64, Type::Uint64], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}

/// x = x * 0.999 + 1 / (x + 2)
fn float() -> Kernel {
    let constant = |x| Expr::constant(Value::Float64(x), Type::Float64);
    let x = || local(1, Type::Float64);
    let inverse = binary(Div, constant(1.0), binary(Add, x(), constant(2.0)));
    let mut stmts = vec![let_(1, constant(1.5))];
    stmts.extend(count_to_n(vec![assign(
        local_place(1, Type::Float64),
        binary(Add, binary(Mul, x(), constant(0.999)), inverse),
    )]));
    stmts.push(assign(state_place(0, Type::Float64), x()));
    Kernel {
        name: "float",
        loop_count: 10_000_000,
        state: vec![var("x", Type::Float64)],
        functions: vec![],
        body: body([Type::Int64, Type::Float64], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}

/// Counts the words that are a symbol, and those before another.
fn strings() -> Kernel {
    let words = || state(1, list_of(Type::RString));
    let word = || local(1, Type::RString);
    let counter = || state_place(0, Type::Int64);
    let at = binary(BitAnd, local(0, Type::Int64), int(63));
    let stmts = count_to_n(vec![
        let_(1, index(words(), at, Type::RString)),
        Stmt::If(
            binary(Eq, word(), text("SYM17")),
            vec![assign_op(Add, counter(), int(1))],
            vec![],
        ),
        Stmt::If(
            binary(Lt, word(), state(2, Type::RString)),
            vec![assign_op(Add, counter(), int(2))],
            vec![],
        ),
    ]);
    Kernel {
        name: "string",
        loop_count: 5_000_000,
        state: vec![
            var("count", Type::Int64),
            var("words", list_of(Type::RString)),
            var("middle", Type::RString),
        ],
        functions: vec![],
        body: body([Type::Int64, Type::RString], stmts),
        init_state: |state| {
            let words = (0..64).map(|i| string(&format!("SYM{i}")));
            state.set(
                StateId(1),
                Value::List(List::from_values(&Type::RString, words)),
            );
            state.set(StateId(2), string("SYM32"));
        },
        result_index: 0,
    }
}

/// Sums the elements of a list, by index.
fn list() -> Kernel {
    let at = binary(BitAnd, local(0, Type::Int64), int(1023));
    let element = index(state(1, list_of(Type::Int64)), at, Type::Int64);
    let mut stmts = vec![let_(1, int(0))];
    stmts.extend(count_to_n(vec![assign_op(
        Add,
        local_place(1, Type::Int64),
        element,
    )]));
    stmts.push(assign(state_place(0, Type::Int64), local(1, Type::Int64)));
    Kernel {
        name: "list",
        loop_count: 20_000_000,
        state: vec![var("sum", Type::Int64), var("list", list_of(Type::Int64))],
        functions: vec![],
        body: body([Type::Int64, Type::Int64], stmts),
        init_state: |state| state.set(StateId(1), Value::List(List::Int64((0..1024).collect()))),
        result_index: 0,
    }
}

/// sum = sum + price * quantity, of two digits after the point
fn decimal() -> Kernel {
    let constant = |t: &str| {
        Expr::constant(
            Value::Decimal64(t.parse::<Decimal64>().expect("a decimal")),
            Type::Decimal64,
        )
    };
    let sum = || local(1, Type::Decimal64);
    let mut stmts = vec![let_(1, constant("0.00")), let_(2, constant("0.01"))];
    stmts.extend(count_to_n(vec![
        assign_op(
            Add,
            local_place(1, Type::Decimal64),
            binary(Mul, local(2, Type::Decimal64), constant("3")),
        ),
        assign_op(Add, local_place(2, Type::Decimal64), constant("0.01")),
    ]));
    stmts.push(assign(state_place(0, Type::Decimal64), sum()));
    Kernel {
        name: "decimal",
        loop_count: 10_000_000,
        state: vec![var("sum", Type::Decimal64)],
        functions: vec![],
        body: body([Type::Int64, Type::Decimal64, Type::Decimal64], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}

/// sum += m[(i * 7919) % 10000]
fn map_lookup() -> Kernel {
    let m = map_of(Type::Int64, Type::Int64);
    let key = binary(
        Rem,
        binary(Mul, local(0, Type::Int64), int(7919)),
        int(10_000),
    );
    let stmts = count_to_n(vec![assign_op(
        Add,
        state_place(0, Type::Int64),
        index(state(1, m.clone()), key, Type::Int64),
    )]);
    Kernel {
        name: "map",
        loop_count: 5_000_000,
        state: vec![var("sum", Type::Int64), var("map", m)],
        functions: vec![],
        body: body([Type::Int64], stmts),
        init_state: |state| {
            let entries = (0..10_000).map(|k| (Value::Int64(k), Value::Int64(k * 3)));
            state.set(StateId(1), Value::Map(entries.collect::<Map>()));
        },
        result_index: 0,
    }
}

/// sum += m[words[i & 63]]
fn string_map() -> Kernel {
    let m = map_of(Type::RString, Type::Int64);
    let at = binary(BitAnd, local(0, Type::Int64), int(63));
    let word = index(state(2, list_of(Type::RString)), at, Type::RString);
    let stmts = count_to_n(vec![assign_op(
        Add,
        state_place(0, Type::Int64),
        index(state(1, m.clone()), word, Type::Int64),
    )]);
    Kernel {
        name: "string_map",
        loop_count: 5_000_000,
        state: vec![
            var("sum", Type::Int64),
            var("map", m),
            var("words", list_of(Type::RString)),
        ],
        functions: vec![],
        body: body([Type::Int64], stmts),
        init_state: |state| {
            let name = |k| string(&format!("SYM{k}"));
            let entries = (0..1000).map(|k| (name(k), Value::Int64(k * 3)));
            state.set(StateId(1), Value::Map(entries.collect::<Map>()));
            let words = (0..64).map(name);
            state.set(
                StateId(2),
                Value::List(List::from_values(&Type::RString, words)),
            );
        },
        result_index: 0,
    }
}

/// sum += gcd(i, 1071), the function with a loop of its own
fn function() -> Kernel {
    let ty = || Type::Int64;
    let (a, b) = (|| local(2, ty()), || local(3, ty()));
    let gcd = Function {
        name: "gcd".into(),
        formals: 2,
        result: ty(),
        is_stateful: false,
        body: Body {
            locals: ["a", "b", "x", "y", "r"]
                .map(|name| LocalVar::new(name, ty()))
                .to_vec(),
            stmts: vec![
                let_(2, local(0, ty())),
                let_(3, local(1, ty())),
                Stmt::While(
                    binary(graph::BinaryOp::Ne, b(), int(0)),
                    vec![
                        let_(4, binary(Rem, a(), b())),
                        assign(local_place(2, ty()), b()),
                        assign(local_place(3, ty()), local(4, ty())),
                    ],
                ),
                Stmt::Return(Some(a())),
            ],
        },
        pos: Pos::default(),
    };
    let stmts = count_to_n(vec![assign_op(
        Add,
        state_place(0, ty()),
        call(0, [local(0, ty()), int(1071)], ty()),
    )]);
    Kernel {
        name: "function",
        loop_count: 1_000_000,
        state: vec![var("sum", ty())],
        functions: vec![gcd],
        body: body([ty()], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}

/// t.a.x += t.b.y; t.b.y ^= i; t.b.z += t.a.x
fn nested() -> Kernel {
    let inner = Type::Tuple(schema([
        ("x", Type::Int64),
        ("y", Type::Int64),
        ("z", Type::Int64),
    ]));
    let outer = Type::Tuple(schema([("a", inner.clone()), ("b", inner.clone())]));
    let t = || local(1, outer.clone());
    let place = |which, field| {
        attribute_place(
            attribute_place(local_place(1, outer.clone()), which, inner.clone()),
            field,
            Type::Int64,
        )
    };
    let mut stmts = vec![Stmt::Let(graph::LocalId(1), None)];
    stmts.extend(count_to_n(vec![
        assign_op(Add, place(0, 0), t().field("b").field("y")),
        assign_op(BitXor, place(1, 1), local(0, Type::Int64)),
        assign_op(Add, place(1, 2), t().field("a").field("x")),
    ]));
    stmts.push(assign(
        state_place(0, Type::Int64),
        t().field("b").field("z"),
    ));
    Kernel {
        name: "nested",
        loop_count: 20_000_000,
        state: vec![var("z", Type::Int64)],
        functions: vec![],
        body: body([Type::Int64, outer.clone()], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}

/// Branches that depend on random bits.
fn branches() -> Kernel {
    let x = || local(1, Type::Uint64);
    let sum = || local_place(2, Type::Int64);
    let bits = |shift| binary(BitAnd, binary(Shr, x(), int(shift)), uint(3));
    let is = |shift, n| binary(Eq, bits(shift), uint(n));
    let mut stmts = vec![let_(1, uint(1)), let_(2, int(0))];
    stmts.extend(count_to_n(vec![
        assign(
            local_place(1, Type::Uint64),
            binary(Add, binary(Mul, x(), uint(LCG)), uint(STEP)),
        ),
        Stmt::If(
            is(40, 0),
            vec![assign_op(Add, sum(), int(3))],
            vec![Stmt::If(
                is(50, 1),
                vec![assign_op(Sub, sum(), local(0, Type::Int64))],
                vec![Stmt::If(
                    is(60, 2),
                    vec![assign_op(Mul, sum(), int(5))],
                    vec![assign_op(BitXor, sum(), int(0x55))],
                )],
            )],
        ),
    ]));
    stmts.push(assign(state_place(0, Type::Int64), local(2, Type::Int64)));
    Kernel {
        name: "branchy",
        loop_count: 10_000_000,
        state: vec![var("sum", Type::Int64)],
        functions: vec![],
        body: body([Type::Int64, Type::Uint64, Type::Int64], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}

/// t = t + step, back to the start when past the end; counts how often
fn timestamp() -> Kernel {
    let ty = || Type::Timestamp;
    let constant = |seconds, nanos| {
        Expr::constant(
            Value::Timestamp(Timestamp {
                seconds,
                nanos,
                machine: 0,
            }),
            ty(),
        )
    };
    let mut stmts = vec![let_(1, constant(0, 0)), let_(2, int(0))];
    stmts.extend(count_to_n(vec![
        assign_op(Add, local_place(1, ty()), constant(1, 700_000_000)),
        Stmt::If(
            Expr::new(
                ExprKind::Binary(
                    graph::BinaryOp::Gt,
                    local(1, ty()).into(),
                    constant(1000, 5).into(),
                ),
                Type::Boolean,
            ),
            vec![
                assign(local_place(1, ty()), constant(0, 0)),
                assign_op(Add, local_place(2, Type::Int64), int(1)),
            ],
            vec![],
        ),
    ]));
    stmts.push(assign(state_place(0, Type::Int64), local(2, Type::Int64)));
    Kernel {
        name: "timestamp",
        loop_count: 10_000_000,
        state: vec![var("count", Type::Int64)],
        functions: vec![],
        body: body([Type::Int64, ty(), Type::Int64], stmts),
        init_state: |_| {},
        result_index: 0,
    }
}
