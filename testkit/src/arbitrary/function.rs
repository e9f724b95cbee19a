//! Functions: one that recurses, and generated ones.

use graph::{
    Arg, BinaryOp, Body, Callee, ExprKind, Function, FunctionId, LocalId, LocalVar, Place,
    PlaceRoot, Pos, Stmt,
};
use tuple::{Type, Value};

use super::generator::{EXPR_DEPTH, ProgramGenerator};
use super::native;

impl ProgramGenerator<'_> {
    /// Makes the functions that the body calls.
    pub(super) fn functions(&mut self) {
        let down = self.countdown_function();
        self.functions.push(down);
        let count = self.choices.below(3);
        for _ in 0..count {
            let function = self.function();
            self.functions.push(function);
        }
    }

    /// A function with formals of any type, by value and by reference.
    fn function(&mut self) -> Function {
        let formals = self.choices.below(4);
        let result = if self.choices.percent(80) {
            self.any_type()
        } else {
            Type::Void
        };
        self.result = Some(result.clone());
        for at in 0..formals {
            let ty = self.any_type();
            let id = self.local(ty);
            self.visible.push(id);
            if self.choices.percent(40) {
                self.locals[at].by_reference = true;
            } else {
                self.frozen.push(PlaceRoot::Local(id));
            }
        }
        let mut stmts = self.block(2);
        if result != Type::Void {
            stmts.push(Stmt::Return(Some(self.expr(&result, EXPR_DEPTH))));
        }
        self.visible.clear();
        self.frozen.clear();
        self.result = None;
        Function {
            name: format!("testing::f{}", self.functions.len()).into(),
            formals: formals as u32,
            result,
            is_stateful: false,
            body: Body {
                locals: std::mem::take(&mut self.locals),
                stmts,
            },
            pos: Pos::default(),
        }
    }

    /// `int32 countdown_function(int32 n, mutable list<int32> l)`: appends n, n - 1, ... 1 and
    /// gives their sum; at most 20 deep.
    fn countdown_function(&mut self) -> Function {
        let list = Type::List(Type::Int32.into(), None);
        self.locals = vec![
            LocalVar::new("n", Type::Int32),
            LocalVar::mutable("l", list.clone()),
        ];
        let number = |x| ExprKind::Const(Value::Int32(x));
        let l = || Arg::Place(Place::local(LocalId(1), list.clone()));
        let (n, low) = (self.read(LocalId(0)), self.node(number(0), Type::Int32));
        let (m, high) = (self.read(LocalId(0)), self.node(number(20), Type::Int32));
        let too_low = self.infix(BinaryOp::Le, n, low);
        let too_high = self.infix(BinaryOp::Gt, m, high);
        let outside = ExprKind::Or(Box::new(too_low), Box::new(too_high));
        let outside = self.node(outside, Type::Boolean);
        let zero = self.node(number(0), Type::Int32);
        let n = self.read(LocalId(0));
        let append = self.native(native::APPEND, vec![l(), Arg::Value(n)], Type::Void);
        let (n, one) = (self.read(LocalId(0)), self.node(number(1), Type::Int32));
        let less = self.infix(BinaryOp::Sub, n, one);
        let deeper = ExprKind::Call(Callee::User(FunctionId(0)), vec![Arg::Value(less), l()]);
        let deeper = self.node(deeper, Type::Int32);
        let n = self.read(LocalId(0));
        let sum = self.infix(BinaryOp::Add, n, deeper);
        let stmts = vec![
            Stmt::If(outside, vec![Stmt::Return(Some(zero))], vec![]),
            Stmt::Expr(append),
            Stmt::Return(Some(sum)),
        ];
        Function {
            name: "testing::down".into(),
            formals: 2,
            result: Type::Int32,
            is_stateful: false,
            body: Body {
                locals: std::mem::take(&mut self.locals),
                stmts,
            },
            pos: Pos::default(),
        }
    }
}
