//! Walking over expressions, by reference and by mutable reference.

use crate::{Arg, Expr, ExprKind, Place, PlaceStep, PortIndex};

/// Calls `$visit` with every expression directly inside `$expr`; `$iter` is `iter` or `iter_mut`.
macro_rules! walk_children {
    ($expr:expr, $visit:ident, $iter:ident, $indices:ident) => {
        match $expr {
            ExprKind::Const(_)
            | ExprKind::Local(_)
            | ExprKind::State(_)
            | ExprKind::Input { .. }
            | ExprKind::Attribute { .. }
            | ExprKind::OutputCall(_)
            | ExprKind::CurrentPunct
            | ExprKind::IsShutdown
            | ExprKind::ClockSeconds(_) => {}
            ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Set(parts) => {
                parts.$iter().for_each($visit);
            }
            ExprKind::Map(entries) => {
                for (key, value) in entries.$iter() {
                    $visit(key);
                    $visit(value);
                }
            }
            ExprKind::Field(of, _)
            | ExprKind::Unary(_, of)
            | ExprKind::Cast(of)
            | ExprKind::Wrap(of)
            | ExprKind::Unwrap(of)
            | ExprKind::IsPresent(of) => $visit(of),
            ExprKind::Index(a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::Mapped(_, _, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::In(a, b)
            | ExprKind::UnwrapOr(a, b) => {
                $visit(a);
                $visit(b);
            }
            ExprKind::Slice(of, from, to) => {
                $visit(of);
                let bounds = [from, to].into_iter().flatten();
                bounds.for_each(|bound| $visit(bound));
            }
            ExprKind::Conditional(condition, yes, no) => {
                $visit(condition);
                $visit(yes);
                $visit(no);
            }
            ExprKind::Call(_, args) => args.$iter().for_each(|arg| match arg {
                Arg::Value(value) => $visit(value),
                Arg::Place(place) => $indices(place, $visit),
            }),
            ExprKind::Assign(place, value) | ExprKind::AssignOp(_, place, value) => {
                $indices(place, $visit);
                $visit(value);
            }
            ExprKind::Increment { place, .. } => $indices(place, $visit),
        }
    };
}

impl Expr {
    /// Calls `visit` with every expression directly inside this one, in order of evaluation. The
    /// indices of places that are assigned are among them.
    pub fn for_each_child_ref(&self, visit: &mut dyn FnMut(&Expr)) {
        walk_children!(&self.kind, visit, iter, for_each_index_ref);
    }

    /// Like [`Expr::for_each_child_ref`], for expressions that `visit` may change.
    pub fn for_each_child(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        walk_children!(&mut self.kind, visit, iter_mut, for_each_index);
    }

    /// Calls `visit` with this expression and all inside it, the inner ones first.
    ///
    /// # Example
    /// ```
    /// use thalweg_graph::{BinaryOp, Expr, ExprKind, Pos};
    /// use tuple::{Type, Value};
    ///
    /// let number = |n| Expr::constant(Value::Int32(n), Type::Int32);
    /// let sum = ExprKind::Binary(BinaryOp::Add, Box::new(number(1)), Box::new(number(2)));
    /// let sum = Expr { kind: sum, ty: Type::Int32, pos: Pos::default() };
    /// let mut constants = 0;
    /// sum.for_each_ref(&mut |part| {
    ///     constants += usize::from(matches!(part.kind, ExprKind::Const(_)));
    /// });
    /// assert_eq!(constants, 2);
    /// ```
    pub fn for_each_ref(&self, visit: &mut dyn FnMut(&Expr)) {
        self.for_each_child_ref(&mut |part| part.for_each_ref(visit));
        visit(self);
    }

    /// Like [`Expr::for_each_ref`], for expressions that `visit` may change.
    pub fn for_each(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.for_each_child(&mut |part| part.for_each(visit));
        visit(self);
    }

    /// Whether this expression, or one inside it, reads an input tuple.
    ///
    /// # Example
    /// ```
    /// use thalweg_graph::{BinaryOp, Expr, PortIndex};
    /// use tuple::{Type, Value};
    ///
    /// let one = Expr::constant(Value::Int64(1), Type::Int64);
    /// let read = Expr::attribute(PortIndex(0), 0, Type::Int64);
    /// assert!(!one.reads_input());
    /// assert!(Expr::binary(BinaryOp::Add, read, one).reads_input());
    /// ```
    pub fn reads_input(&self) -> bool {
        self.reads_port(|_| true)
    }

    /// Whether this expression, or one inside it, reads a tuple of an input port that `is_port`
    /// accepts by its number.
    pub fn reads_port(&self, is_port: impl Fn(PortIndex) -> bool) -> bool {
        let mut reads = false;
        self.for_each_ref(&mut |part| {
            if let ExprKind::Input { port, .. } | ExprKind::Attribute { port, .. } = part.kind {
                reads |= is_port(port);
            }
        });
        reads
    }
}

fn for_each_index_ref(place: &Place, visit: &mut dyn FnMut(&Expr)) {
    for step in &place.steps {
        if let PlaceStep::Index(index) = step {
            visit(index);
        }
    }
}

fn for_each_index(place: &mut Place, visit: &mut dyn FnMut(&mut Expr)) {
    for step in &mut place.steps {
        if let PlaceStep::Index(index) = step {
            visit(index);
        }
    }
}
