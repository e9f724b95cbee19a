//! Walking over expressions.

use crate::{Arg, Expr, ExprKind, Place, PlaceStep};

impl Expr {
    /// Calls with every expression directly inside this one, in order of evaluation; indices of
    /// places that are assigned included.
    pub fn for_each_child(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Const(_)
            | ExprKind::Local(_)
            | ExprKind::State(_)
            | ExprKind::Input { .. }
            | ExprKind::Attribute { .. }
            | ExprKind::OutputCall(_)
            | ExprKind::CurrentPunct
            | ExprKind::IsShutdown => {}
            ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Set(parts) => {
                parts.iter_mut().for_each(visit);
            }
            ExprKind::Map(entries) => {
                for (key, value) in entries {
                    visit(key);
                    visit(value);
                }
            }
            ExprKind::Field(of, _)
            | ExprKind::Unary(_, of)
            | ExprKind::Cast(of)
            | ExprKind::Wrap(of)
            | ExprKind::Unwrap(of)
            | ExprKind::IsPresent(of) => visit(of),
            ExprKind::Index(a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::Mapped(_, _, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::In(a, b)
            | ExprKind::UnwrapOr(a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::Slice(of, from, to) => {
                visit(of);
                let bounds = [from, to].into_iter().flatten();
                bounds.for_each(|bound| visit(bound));
            }
            ExprKind::Conditional(condition, yes, no) => {
                visit(condition);
                visit(yes);
                visit(no);
            }
            ExprKind::Call(_, args) => args.iter_mut().for_each(|arg| match arg {
                Arg::Value(value) => visit(value),
                Arg::Place(place) => for_each_index(place, visit),
            }),
            ExprKind::Assign(place, value) | ExprKind::AssignOp(_, place, value) => {
                for_each_index(place, visit);
                visit(value);
            }
            ExprKind::Increment { place, .. } => for_each_index(place, visit),
        }
    }

    /// Whether this expression, or one inside it, reads an input tuple.
    pub fn reads_input(&self) -> bool {
        self.reads_port(|_| true)
    }

    /// Whether this expression, or one inside it, reads a tuple of such an input port.
    pub fn reads_port(&self, is_it: impl Fn(u32) -> bool) -> bool {
        let mut reads = false;
        self.clone().for_each(&mut |part| {
            if let ExprKind::Input { port, .. } | ExprKind::Attribute { port, .. } = part.kind {
                reads |= is_it(port);
            }
        });
        reads
    }

    /// Calls with this expression and all inside it, the inner ones first.
    pub fn for_each(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.for_each_child(&mut |part| part.for_each(visit));
        visit(self);
    }
}

fn for_each_index(place: &mut Place, visit: &mut dyn FnMut(&mut Expr)) {
    for step in &mut place.steps {
        if let PlaceStep::Index(index) = step {
            visit(index);
        }
    }
}
