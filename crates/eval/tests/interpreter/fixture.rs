//! Short ways to write programs, and a PE that records what they do.

use std::sync::Arc;

use graph::{
    Arg, BinaryOp, Body, Callee, Expr, ExprKind, FunctionId, LocalId, NativeId, Place, PlaceStep,
    PortIndex, StateId, StateVar, Stmt,
};
use thalweg_eval::{
    Evaluation, Fault, InputTuples, Interpreter, NativeCall, NativeFn, NoServices, Services, State,
    Submit,
};
use tuple::{Layout, List, Punctuation, TupleRef, TupleType, Type, Value};

/// Keeps what is submitted.
#[derive(Default)]
pub struct Recorder {
    pub tuples: Vec<(PortIndex, Value)>,
    pub marks: Vec<(PortIndex, Punctuation)>,
    pub layouts: Vec<Arc<Layout>>,
    pub services: NoServices,
}

impl Submit for Recorder {
    fn submit_tuple(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let value = tuple.to_value(&self.layouts[port.index()]);
        self.tuples.push((port, value));
        Ok(())
    }
    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        self.marks.push((port, mark));
        Ok(())
    }
    fn services(&mut self) -> &mut dyn Services {
        &mut self.services
    }
}

/// Runs statements over state without inputs; what the state is then.
pub fn run_with(
    interpreter: &mut Interpreter,
    vars: &[StateVar],
    body: &Body,
) -> (Result<(), Fault>, State) {
    let mut state = State::new(vars);
    let mut submit = Recorder::default();
    let mut to = Evaluation {
        inputs: InputTuples::NONE,
        state: &mut state,
        submit: &mut submit,
        current_punctuation: None,
    };
    let result = initialize(interpreter, vars, &mut to);
    let result = result.and_then(|()| interpreter.run(body, &mut to));
    (result, state)
}

fn initialize(
    interpreter: &mut Interpreter,
    vars: &[StateVar],
    to: &mut Evaluation<'_>,
) -> Result<(), Fault> {
    for (at, var) in (0..).zip(vars) {
        if let Some(init) = &var.init {
            let value = interpreter.evaluate(init, to)?;
            to.state.set(StateId(at), value);
        }
    }
    Ok(())
}

/// Runs statements without functions; the value of the first state variable.
pub fn first_state(vars: &[StateVar], body: &Body) -> Result<Value, Fault> {
    let (result, state) = run_with(&mut Interpreter::new(&[], NATIVES), vars, body);
    result.map(|()| state.get(StateId(0)))
}

/// An expression's value without variables.
pub fn eval(expr: &Expr) -> Result<Value, Fault> {
    thalweg_eval::interp::fold(expr, NATIVES, &[])
}

pub fn var(name: &str, ty: Type, init: Option<Expr>) -> StateVar {
    StateVar {
        name: name.into(),
        ty,
        init,
    }
}

pub fn list_of(ty: Type) -> Type {
    Type::List(Arc::new(ty), None)
}

pub fn map_of(key: Type, value: Type) -> Type {
    Type::Map(Arc::new((key, value)), None)
}

pub fn optional(ty: Type) -> Type {
    Type::Optional(Arc::new(ty))
}

pub fn tuple_of(attributes: &[(&str, Type)]) -> Type {
    Type::Tuple(Arc::new(TupleType::new(attributes.iter().cloned())))
}

pub fn int(x: i32) -> Expr {
    Expr::constant(Value::Int32(x), Type::Int32)
}

pub fn text(s: &str) -> Expr {
    Expr::constant(Value::RString(s.into()), Type::RString)
}

pub fn string(s: &str) -> Value {
    Value::RString(s.into())
}

pub fn ints(values: &[i32]) -> Value {
    Value::List(List::Int32(values.to_vec()))
}

pub fn int_list(values: &[i32]) -> Expr {
    Expr::constant(ints(values), list_of(Type::Int32))
}

pub fn local(at: u32, ty: Type) -> Expr {
    Expr::local(LocalId(at), ty)
}

pub fn state(at: u32, ty: Type) -> Expr {
    Expr::state(StateId(at), ty)
}

pub fn state_place(at: u32, ty: Type) -> Place {
    Place::state(StateId(at), ty)
}

pub fn local_place(at: u32, ty: Type) -> Place {
    Place::local(LocalId(at), ty)
}

pub fn index(base: Expr, at: Expr, ty: Type) -> Expr {
    Expr::new(ExprKind::Index(Box::new(base), Box::new(at)), ty)
}

pub fn add(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, left, right)
}

pub fn less(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Lt, left, right)
}

pub fn set(place: Place, value: Expr) -> Stmt {
    Stmt::Expr(Expr::assign(place, value))
}

pub fn add_to(place: Place, value: Expr) -> Stmt {
    let kind = ExprKind::AssignOp(BinaryOp::Add, place, Box::new(value));
    Stmt::Expr(Expr::new(kind, Type::Void))
}

pub fn at(index: Expr) -> PlaceStep {
    PlaceStep::Index(index)
}

pub fn native(id: u32, args: Vec<Arg>, ty: Type) -> Expr {
    Expr::call(Callee::Native(NativeId(id)), args, ty)
}

pub fn user(id: u32, args: Vec<Arg>, ty: Type) -> Expr {
    Expr::call(Callee::User(FunctionId(id)), args, ty)
}

pub const SIZE: u32 = 0;
pub const APPEND: u32 = 1;
pub const JOIN: u32 = 2;
pub const FAIL: u32 = 3;
pub const RANDOM: u32 = 4;

/// Library functions to call.
pub const NATIVES: &[NativeFn] = &[
    function("<any T> int32 size(list<T> l)", size),
    function("<any T> void appendM(mutable list<T> l, T x)", append),
    function(
        "rstring join(rstring a, rstring b, rstring c, rstring d, rstring e)",
        join,
    ),
    function("void fail(mutable rstring s)", fail),
    function("float64 random()", random),
];

const fn function(
    prototype: &'static str,
    eval: fn(&mut NativeCall<'_>) -> Result<Value, Fault>,
) -> NativeFn {
    NativeFn {
        namespace: "test",
        prototype,
        doc: "",
        eval,
        is_range: false,
        needs_counts: false,
        needs_pane: false,
        port: None,
        unsupported: None,
        check: None,
    }
}

fn size(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    assert_eq!(call.types.len(), 1);
    match &*call.args[0] {
        Value::List(list) => Ok(Value::Int32(list.len() as i32)),
        other => panic!("{other:?} is no list"),
    }
}

fn append(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let item = call.args[1].clone();
    match &mut *call.args[0] {
        Value::List(list) => assert!(list.push(item)),
        other => panic!("{other:?} is no list"),
    }
    Ok(Value::Boolean(false))
}

fn join(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    let mut all = Vec::new();
    for arg in &*call.args {
        match &**arg {
            Value::RString(s) => all.extend_from_slice(&s.0),
            other => panic!("{other:?} is no rstring"),
        }
    }
    Ok(Value::RString(all.into()))
}

fn fail(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    *call.args[0] = string("changed");
    Err(Fault::value("it failed"))
}

fn random(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    Ok(Value::Float64(call.services.random()))
}
