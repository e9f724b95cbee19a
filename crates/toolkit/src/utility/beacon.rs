//! Beacon: a source of computed tuples, at a given pace.

use eval::Fault;
use graph::{
    Arg, AssignmentMode, BinaryOp, Body, Callee, Expr, ExprKind, InvocationError, InvocationPart,
    OperatorNode, OutPort, Place, PlaceRoot, PortIndex,
};
use graph::{OperatorModel, OutPortModel, ParamModel, Stmt, UnaryOp};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use tuple::{Type, Value};

use crate::function::functions;
use crate::{lower, verify_params};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Beacon",
    doc: "Makes tuples, so many or without end, at a pace. After the last of them comes a window \
          marker. Attributes that are not assigned have their default values.",
    outputs: &[OutPortModel {
        assign: AssignmentMode::Expression,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "period",
            ty: "float64",
            doc: "Seconds between two tuples. Default: 0.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "iterations",
            ty: "int32 | uint32",
            doc: "How many tuples. Default: without end.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "initDelay",
            ty: "float64",
            doc: "Seconds before the first tuple. Default: 0.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "triggerCount",
            ty: "uint32",
            doc: "Only in a consistent region that it triggers: tuples between two drains.",
            ..ParamModel::DEFAULT
        },
    ],
    output_functions: &["<any T> T AsIs(T v)", "uint64 IterationCount()"],
    nested_output_functions: true,
    starts_consistent_region: true,
    no_markers_reason: Some(|operator| {
        let why = "the marker follows the last tuple, and without `iterations` there is none";
        (!verify_params::has_param(operator, "iterations")).then_some(why)
    }),
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Numbers that are known when compiling have to be possible.
fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    let times = verify_params::exprs(operator, "iterations").first();
    if let Some(ExprKind::Const(Value::Int32(..0))) = times.map(|expr| &expr.kind) {
        let message = "`iterations` cannot be below 0";
        let help = "leave it out for tuples without end";
        return verify_params::report_misuse(InvocationPart::Param("iterations"), message, help);
    }
    verify_params::verify_seconds(operator, &["period", "initDelay"])
}

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let mut source = BeaconLowering {
        operator,
        body: Body::default(),
    };
    source.lower();
    Ok(LoweredLogic {
        state: operator.logic.state.clone(),
        on_process: Some(source.body),
        ..LoweredLogic::default()
    })
}

/// ```text
///   uint64 count = 0; uint64 last = iterations; float64 pause = period;
///   sleep(initDelay);
///   while (!shutdown && count < last) { submit(tuple); ++count; sleep(pause); }
///   if (count == last) submit(Sys.WindowMarker);
/// ```
struct BeaconLowering<'a> {
    operator: &'a OperatorNode,
    body: Body,
}

impl BeaconLowering<'_> {
    fn lower(&mut self) {
        let count = self.local("count", Type::Uint64, None);
        let last = lower::param(self.operator, "iterations").map(iteration_count);
        let last = last.map(|last| self.local("last", Type::Uint64, Some(last)));
        let pause = lower::param(self.operator, "period").cloned();
        let pause = pause.map(|pause| self.local("pause", Type::Float64, Some(pause)));
        let tuple = self.tuple(&count);
        if let Some(delay) = lower::param(self.operator, "initDelay") {
            self.body.stmts.push(Stmt::Sleep(delay.clone()));
        }
        let mut turn = vec![lower::submit(PortIndex(0), tuple), self.loop_body(&count)];
        turn.extend(pause.map(Stmt::Sleep));
        let condition = self.loop_condition(&count, last.as_ref());
        self.body.stmts.push(Stmt::While(condition, turn));
        if let Some(last) = last {
            let is_last = self.compare(BinaryOp::Eq, &count, &last);
            let mark = vec![lower::submit_window(PortIndex(0), self.operator.pos)];
            self.body.stmts.push(Stmt::If(is_last, mark, Vec::new()));
        }
    }

    /// The output tuple. What is the same each time is computed before the loop.
    fn tuple(&mut self, count: &Expr) -> Expr {
        let operator = self.operator;
        let out = &operator.outputs[0];
        lower::output(out, operator.pos, |assigned| {
            let mut expr = assigned.clone();
            resolve(&mut expr, out, count);
            if is_constant(&mut expr) && !matches!(expr.kind, ExprKind::Const(_)) {
                let ty = expr.ty.clone();
                return self.local("once", ty, Some(expr));
            }
            expr
        })
    }

    /// Declares a variable and gives it a value; the result reads it.
    fn local(&mut self, name: &str, ty: Type, value: Option<Expr>) -> Expr {
        let local = self.body.local(name, ty.clone());
        self.body.stmts.push(Stmt::Let(local, value));
        self.expr(ExprKind::Local(local), ty)
    }

    fn loop_body(&self, count: &Expr) -> Stmt {
        let ExprKind::Local(local) = count.kind else {
            unreachable!("the count is a variable");
        };
        let place = Place {
            root: PlaceRoot::Local(local),
            steps: Vec::new(),
            ty: Type::Uint64,
            pos: self.operator.pos,
        };
        let kind = ExprKind::Increment {
            place,
            is_decrement: false,
            is_prefix: true,
        };
        Stmt::Expr(self.expr(kind, Type::Uint64))
    }

    fn loop_condition(&self, count: &Expr, last: Option<&Expr>) -> Expr {
        let shutdown = Box::new(self.expr(ExprKind::IsShutdown, Type::Boolean));
        let runs = self.expr(ExprKind::Unary(UnaryOp::Not, shutdown), Type::Boolean);
        match last {
            None => runs,
            Some(last) => {
                let more = self.compare(BinaryOp::Lt, count, last);
                self.expr(ExprKind::And(Box::new(runs), Box::new(more)), Type::Boolean)
            }
        }
    }

    fn compare(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let kind = ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        self.expr(kind, Type::Boolean)
    }

    fn expr(&self, kind: ExprKind, ty: Type) -> Expr {
        lower::expr(kind, ty, self.operator.pos)
    }
}

/// `iterations` as uint64; a negative number is none.
fn iteration_count(iterations: &Expr) -> Expr {
    let pos = iterations.pos;
    let cast = ExprKind::Cast(Box::new(iterations.clone()));
    let cast = lower::expr(cast, Type::Uint64, pos);
    if !iterations.ty.is_signed() {
        return cast;
    }
    let zero = lower::default_value(&iterations.ty, pos);
    let operands = (Box::new(iterations.clone()), Box::new(zero));
    let negative = ExprKind::Binary(BinaryOp::Lt, operands.0, operands.1);
    let negative = lower::expr(negative, Type::Boolean, pos);
    let none = lower::default_value(&Type::Uint64, pos);
    let kind = ExprKind::Conditional(Box::new(negative), Box::new(none), Box::new(cast));
    lower::expr(kind, Type::Uint64, pos)
}

/// Replaces output functions: `AsIs(v)` is v, `IterationCount()` the count.
fn resolve(expr: &mut Expr, out: &OutPort, count: &Expr) {
    expr.for_each(&mut |part| {
        if let ExprKind::OutputCall(call) = part.kind {
            let call = &out.calls[call as usize];
            *part = match (&*call.function, call.args.first()) {
                ("AsIs", Some(argument)) => {
                    let mut argument = argument.clone();
                    resolve(&mut argument, out, count);
                    argument
                }
                _ => count.clone(),
            };
        }
    });
}

/// Whether it reads nothing that changes and does nothing.
fn is_constant(expr: &mut Expr) -> bool {
    let mut is_constant = true;
    expr.for_each(&mut |part| {
        is_constant &= match &part.kind {
            ExprKind::Call(callee, args) => is_pure(*callee, args),
            ExprKind::Local(_)
            | ExprKind::State(_)
            | ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Increment { .. } => false,
            _ => true,
        };
    });
    is_constant
}

/// Whether a call has no effect and keeps no state. Prototypes of native functions tell; functions
/// of the program are never taken for pure.
fn is_pure(callee: Callee, args: &[Arg]) -> bool {
    let Callee::Native(id) = callee else {
        return false;
    };
    let function = functions().get(id.0 as usize);
    let by_value = args.iter().all(|arg| matches!(arg, Arg::Value(_)));
    by_value && function.is_some_and(|f| !f.prototype.split(' ').any(|word| word == "stateful"))
}
