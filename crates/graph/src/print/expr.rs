//! Expressions, with no more parentheses than SPL's precedences need.

use std::fmt::Write;

use super::literal::literal;
use super::{PrintNames, separated};
use crate::{Arg, BinaryOp, Expr, ExprKind, MappedForm, Place, PlaceRoot, PlaceStep, UnaryOp};

/// Level of precedence of an expression; operands of a lower level need parentheses.
type Precedence = u8;

const ASSIGNMENT: Precedence = 1;
const CONDITIONAL: Precedence = 2;
const OR: Precedence = 3;
const AND: Precedence = 4;
const IN: Precedence = 5;
const UNWRAP_OR: Precedence = 13;
const PREFIX: Precedence = 14;
const POSTFIX: Precedence = 15;
const PRIMARY: Precedence = 16;

impl PrintNames<'_> {
    pub(super) fn expr(self, expr: &Expr, out: &mut String) {
        self.operand(expr, 0, out);
    }

    /// An expression where one of at least this level can stand.
    fn operand(self, expr: &Expr, level: Precedence, out: &mut String) {
        if precedence_of(expr) < level {
            out.push('(');
            self.expr_kind(expr, out);
            out.push(')');
        } else {
            self.expr_kind(expr, out);
        }
    }

    fn expr_kind(self, expr: &Expr, out: &mut String) {
        match &expr.kind {
            ExprKind::Const(value) => literal(value, &expr.ty, out),
            ExprKind::Local(id) => out.push_str(&self.local(*id)),
            ExprKind::State(id) => out.push_str(&self.state(*id)),
            ExprKind::Input { port, history } => out.push_str(&self.input(*port, *history)),
            ExprKind::Attribute {
                port,
                history,
                index,
            } => {
                let attribute = self.attribute(*port, *index);
                let _ = write!(out, "{}.{attribute}", self.input(*port, *history));
            }
            ExprKind::OutputCall(n) => self.output_call(*n, out),
            ExprKind::CurrentPunct => out.push_str("currentPunct()"),
            ExprKind::IsShutdown => out.push_str("isShutdown()"),
            ExprKind::ClockSeconds(_) => out.push_str("clockSeconds()"),
            ExprKind::Tuple(_) | ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_) => {
                self.composite(expr, out);
            }
            ExprKind::Field(base, index) => {
                self.operand(base, POSTFIX, out);
                let schema = base.ty.as_tuple();
                match schema.and_then(|schema| schema.attributes.get(*index as usize)) {
                    Some(attribute) => {
                        let _ = write!(out, ".{}", attribute.name);
                    }
                    None => {
                        let _ = write!(out, ".{index}");
                    }
                }
            }
            ExprKind::Index(base, at) => {
                self.operand(base, POSTFIX, out);
                self.subscript(at, out);
            }
            ExprKind::Slice(base, lower, upper) => {
                self.operand(base, POSTFIX, out);
                self.slice(lower.as_deref(), upper.as_deref(), out);
            }
            ExprKind::Call(callee, args) => {
                out.push_str(&self.callee(*callee));
                self.arguments(args, out);
            }
            _ => self.operator_form(expr, out),
        }
    }

    /// Prefix, infix and postfix operators, assignments.
    fn operator_form(self, expr: &Expr, out: &mut String) {
        let level = precedence_of(expr);
        match &expr.kind {
            ExprKind::Unary(op, operand) => {
                out.push_str(prefix(*op));
                // `-(-x)` must not become `--x`.
                let signed = matches!(operand.kind, ExprKind::Const(_) | ExprKind::Unary(..));
                self.operand(operand, if signed { POSTFIX } else { PREFIX }, out);
            }
            ExprKind::Cast(inner) => {
                let _ = write!(out, "({}) ", expr.ty);
                self.operand(inner, PREFIX, out);
            }
            ExprKind::Wrap(inner) => {
                let _ = write!(out, "({}) ", expr.ty);
                self.operand(inner, PREFIX, out);
            }
            ExprKind::Unwrap(inner) => {
                self.operand(inner, POSTFIX, out);
                out.push('!');
            }
            ExprKind::IsPresent(inner) => {
                self.operand(inner, POSTFIX, out);
                out.push_str("??");
            }
            ExprKind::Binary(op, left, right) => self.infix(infix(*op), level, (left, right), out),
            ExprKind::Mapped(op, form, left, right) => {
                let dot = if *form == MappedForm::Elementwise {
                    "."
                } else {
                    ""
                };
                self.infix(&format!("{dot}{}", infix(*op)), level, (left, right), out);
            }
            ExprKind::And(left, right) => self.infix("&&", level, (left, right), out),
            ExprKind::Or(left, right) => self.infix("||", level, (left, right), out),
            ExprKind::In(item, collection) => self.infix("in", level, (item, collection), out),
            ExprKind::UnwrapOr(left, right) => {
                self.operand(left, UNWRAP_OR + 1, out);
                out.push_str(" ?: ");
                self.operand(right, UNWRAP_OR + 1, out);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.operand(condition, CONDITIONAL + 1, out);
                out.push_str(" ? ");
                self.operand(yes, CONDITIONAL, out);
                out.push_str(" : ");
                self.operand(no, CONDITIONAL, out);
            }
            _ => self.assignment(expr, out),
        }
    }

    fn assignment(self, expr: &Expr, out: &mut String) {
        match &expr.kind {
            ExprKind::Assign(place, value) => {
                self.place(place, out);
                out.push_str(" = ");
                self.expr(value, out);
            }
            ExprKind::AssignOp(op, place, value) => {
                self.place(place, out);
                let _ = write!(out, " {}= ", infix(*op));
                self.expr(value, out);
            }
            ExprKind::Increment {
                place,
                is_decrement: down,
                is_prefix: prefix,
            } => {
                let sign = if *down { "--" } else { "++" };
                if *prefix {
                    out.push_str(sign);
                }
                self.place(place, out);
                if !*prefix {
                    out.push_str(sign);
                }
            }
            other => {
                let _ = write!(out, "{other:?}");
            }
        }
    }

    /// All infix operators but the two with three characters in them associate to the left.
    fn infix(self, op: &str, level: Precedence, (left, right): (&Expr, &Expr), out: &mut String) {
        self.operand(left, level, out);
        let _ = write!(out, " {op} ");
        self.operand(right, level + 1, out);
    }

    fn composite(self, expr: &Expr, out: &mut String) {
        match &expr.kind {
            ExprKind::Tuple(parts) => {
                let schema = expr.ty.as_tuple();
                out.push('{');
                separated(parts.iter().enumerate(), out, |(at, part), out| {
                    if let Some(attribute) = schema.and_then(|schema| schema.attributes.get(at)) {
                        let _ = write!(out, "{} = ", attribute.name);
                    }
                    self.expr(part, out);
                });
                out.push('}');
            }
            ExprKind::List(parts) => {
                out.push('[');
                separated(parts, out, |part, out| self.expr(part, out));
                out.push(']');
            }
            ExprKind::Set(parts) => {
                out.push('{');
                separated(parts, out, |part, out| self.expr(part, out));
                out.push('}');
            }
            ExprKind::Map(entries) => {
                out.push('{');
                separated(entries, out, |(key, value), out| {
                    self.expr(key, out);
                    out.push_str(" : ");
                    self.expr(value, out);
                });
                out.push('}');
            }
            _ => self.expr_kind(expr, out),
        }
    }

    /// `Average(In.price)`, as it was written.
    fn output_call(self, n: u32, out: &mut String) {
        let Some(call) = self.calls.get(n as usize) else {
            let _ = write!(out, "call{n}");
            return;
        };
        out.push_str(&call.function);
        out.push('(');
        separated(&call.args, out, |arg, out| self.expr(arg, out));
        out.push(')');
    }

    fn arguments(self, args: &[Arg], out: &mut String) {
        out.push('(');
        separated(args, out, |arg, out| match arg {
            Arg::Value(expr) => self.expr(expr, out),
            Arg::Place(place) => {
                out.push_str("mutable ");
                self.place(place, out);
            }
        });
        out.push(')');
    }

    pub(super) fn place(self, place: &Place, out: &mut String) {
        match place.root {
            PlaceRoot::Local(id) => out.push_str(&self.local(id)),
            PlaceRoot::State(id) => out.push_str(&self.state(id)),
        }
        let mut ty = self.type_of(place.root);
        for step in &place.steps {
            match step {
                PlaceStep::Field(index) => {
                    let schema = ty.and_then(tuple::Type::as_tuple);
                    let attribute = schema.and_then(|s| s.attributes.get(*index as usize));
                    match attribute {
                        Some(attribute) => {
                            let _ = write!(out, ".{}", attribute.name);
                        }
                        None => {
                            let _ = write!(out, ".{index}");
                        }
                    }
                    ty = attribute.map(|attribute| &attribute.ty);
                }
                PlaceStep::Index(at) => {
                    self.subscript(at, out);
                    ty = ty.and_then(element_type);
                }
            }
        }
    }

    fn subscript(self, at: &Expr, out: &mut String) {
        out.push('[');
        self.expr(at, out);
        out.push(']');
    }

    fn slice(self, lower: Option<&Expr>, upper: Option<&Expr>, out: &mut String) {
        out.push('[');
        if let Some(lower) = lower {
            self.expr(lower, out);
        }
        out.push(':');
        if let Some(upper) = upper {
            self.expr(upper, out);
        }
        out.push(']');
    }
}

/// Type of the element that a subscript of a collection selects.
fn element_type(ty: &tuple::Type) -> Option<&tuple::Type> {
    match ty {
        tuple::Type::List(element, _) => Some(element),
        tuple::Type::Map(entry, _) => Some(&entry.1),
        _ => None,
    }
}

fn precedence_of(expr: &Expr) -> Precedence {
    match &expr.kind {
        ExprKind::Assign(..) | ExprKind::AssignOp(..) => ASSIGNMENT,
        ExprKind::Conditional(..) => CONDITIONAL,
        ExprKind::Or(..) => OR,
        ExprKind::And(..) => AND,
        ExprKind::In(..) => IN,
        ExprKind::Binary(op, ..) | ExprKind::Mapped(op, ..) => precedence_of_infix(*op),
        ExprKind::UnwrapOr(..) => UNWRAP_OR,
        ExprKind::Unary(..) | ExprKind::Cast(_) | ExprKind::Wrap(_) => PREFIX,
        ExprKind::Increment {
            is_prefix: true, ..
        } => PREFIX,
        ExprKind::Field(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Unwrap(_)
        | ExprKind::IsPresent(_)
        | ExprKind::Call(..)
        | ExprKind::Increment { .. } => POSTFIX,
        ExprKind::Const(value) => precedence_of_constant(value),
        _ => PRIMARY,
    }
}

/// Some constants are written with a cast or a sign.
fn precedence_of_constant(value: &tuple::Value) -> Precedence {
    use tuple::Value;
    match value {
        Value::RString(_) | Value::UString(_) | Value::Boolean(_) | Value::Enum(_) => PRIMARY,
        Value::List(list) if !list.is_empty() => PRIMARY,
        Value::Set(set) if !set.is_empty() => PRIMARY,
        Value::Map(map) if !map.is_empty() => PRIMARY,
        Value::Tuple(_) => PRIMARY,
        _ => PREFIX,
    }
}

fn precedence_of_infix(op: BinaryOp) -> Precedence {
    match op {
        BinaryOp::BitOr => 6,
        BinaryOp::BitXor => 7,
        BinaryOp::BitAnd => 8,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => {
            9
        }
        BinaryOp::Shl | BinaryOp::Shr => 10,
        BinaryOp::Add | BinaryOp::Sub => 11,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 12,
    }
}

fn infix(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
    }
}

fn prefix(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "!",
        UnaryOp::Negate => "-",
        UnaryOp::Complement => "~",
    }
}
