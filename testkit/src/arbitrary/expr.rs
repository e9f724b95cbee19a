//! Expressions of a given type: constants, variables, parts, casts, conditions, calls.

use graph::{Arg, BinaryOp, Callee, Expr, ExprKind, FunctionId, NativeId, PlaceRoot, PortIndex};
use tuple::{Type, Value, text};

use super::constant::constant;
use super::generator::ProgramGenerator;
use super::{environment, native};

impl ProgramGenerator<'_> {
    /// An expression of a type that nests at most so deep.
    pub(super) fn expr(&mut self, ty: &Type, depth: u32) -> Expr {
        if depth == 0 || self.choices.are_spent() {
            return self.leaf(ty);
        }
        match self.choices.below(12) {
            0..=2 => self.leaf(ty),
            3 => {
                let condition = self.expr(&Type::Boolean, depth - 1);
                self.conditional(condition, ty, depth - 1)
            }
            4 | 5 => self.part(ty, depth - 1).unwrap_or_else(|| self.leaf(ty)),
            6 => self.cast(ty, depth - 1).unwrap_or_else(|| self.leaf(ty)),
            7 => self.call(ty, depth - 1).unwrap_or_else(|| self.leaf(ty)),
            _ => self.operation(ty, depth - 1),
        }
    }

    fn conditional(&mut self, condition: Expr, ty: &Type, depth: u32) -> Expr {
        let yes = self.expr(ty, depth);
        let no = self.expr(ty, depth);
        self.guarded(condition, yes, no)
    }

    pub(super) fn guarded(&mut self, condition: Expr, yes: Expr, no: Expr) -> Expr {
        let ty = yes.ty.clone();
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
        self.node(kind, ty)
    }

    /// A constant or a variable.
    pub(super) fn leaf(&mut self, ty: &Type) -> Expr {
        if self.choices.below(3) == 0 {
            return self.constant(ty);
        }
        self.variable(ty).unwrap_or_else(|| self.constant(ty))
    }

    pub(super) fn constant(&mut self, ty: &Type) -> Expr {
        let value = constant(ty, &mut self.choices);
        self.node(ExprKind::Const(value), ty.clone())
    }

    pub(super) fn small_number(&mut self, n: usize) -> Expr {
        let value = Value::Int32(self.choices.below(n) as i32);
        self.node(ExprKind::Const(value), Type::Int32)
    }

    /// A variable or an attribute of an input tuple.
    fn variable(&mut self, ty: &Type) -> Option<Expr> {
        let mut kinds: Vec<ExprKind> = Vec::new();
        for root in self.readable_roots() {
            if self.type_of(root) == ty {
                kinds.push(root_expr_kind(root));
            }
        }
        if self.result.is_none() {
            for (port, input) in (0..).map(PortIndex).zip(environment::inputs()) {
                if matches!(ty, Type::Tuple(schema) if *schema == input.schema) {
                    let back = std::iter::once(0).chain(input.history.iter());
                    kinds.extend(back.map(|history| ExprKind::Input { port, history }));
                }
                let attributes = input.schema.attributes.iter().enumerate();
                for (index, _) in attributes.filter(|(_, a)| a.ty == *ty) {
                    let index = index as u32;
                    let back = std::iter::once(0).chain(input.history.iter());
                    kinds.extend(back.map(|history| ExprKind::Attribute {
                        port,
                        history,
                        index,
                    }));
                }
            }
        }
        if kinds.is_empty() {
            return None;
        }
        let kind = self.choices.one_of(&kinds).clone();
        Some(self.node(kind, ty.clone()))
    }

    /// A part of a collection, tuple or optional.
    pub(super) fn part(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        let holds = |container: &&Type| match container {
            Type::List(element, _) => **element == *ty,
            Type::Map(entry, _) => entry.1 == *ty,
            Type::Tuple(t) => t.attributes.iter().any(|a| a.ty == *ty),
            Type::Optional(held) => **held == *ty,
            Type::Blob => *ty == Type::Uint8,
            _ => false,
        };
        let mut containers: Vec<Type> = self.types.iter().filter(holds).cloned().collect();
        let input = environment::small_input();
        containers.extend(Some(input).filter(|input| self.result.is_none() && holds(&input)));
        if containers.is_empty() {
            return None;
        }
        let container = self.choices.one_of(&containers).clone();
        let base = self.expr(&container, depth);
        Some(match &container {
            Type::List(..) => self.element(base, ty),
            Type::Blob => {
                let at = self.index();
                self.node(ExprKind::Index(Box::new(base), Box::new(at)), ty.clone())
            }
            Type::Map(entry, _) => self.entry(base, &entry.0, ty, depth),
            Type::Optional(_) => self.unwrapped_value(base, ty, depth),
            _ => self.field(base, ty),
        })
    }

    /// `l[i]`, or `i < size(l) ? l[i] : e`.
    fn element(&mut self, base: Expr, ty: &Type) -> Expr {
        let guarded = self.choices.percent(60);
        let at = self.index();
        let subscript = |base: Expr, at: Expr| ExprKind::Index(Box::new(base), Box::new(at));
        if !guarded || at.ty != Type::Int32 {
            return self.node(subscript(base, at), ty.clone());
        }
        let size = self.native(native::SIZE, vec![Arg::Value(base.clone())], Type::Int32);
        let inside = self.infix(BinaryOp::Lt, at.clone(), size);
        let element = self.node(subscript(base, at), ty.clone());
        let other = self.leaf(ty);
        self.guarded(inside, element, other)
    }

    /// An index, mostly a small one.
    pub(super) fn index(&mut self) -> Expr {
        if self.choices.percent(75) {
            return self.small_number(4);
        }
        let integers = [Type::Int32, Type::Uint32, Type::Int64, Type::Uint8];
        let ty = self.choices.one_of(&integers).clone();
        self.expr(&ty, 1)
    }

    /// `m[k]`, or `k in m ? m[k] : e`.
    fn entry(&mut self, base: Expr, key: &Type, ty: &Type, depth: u32) -> Expr {
        let guarded = self.choices.percent(60);
        let key = self.expr(key, depth.min(1));
        let kind = ExprKind::Index(Box::new(base.clone()), Box::new(key.clone()));
        let entry = self.node(kind, ty.clone());
        if !guarded {
            return entry;
        }
        let inside = ExprKind::In(Box::new(key), Box::new(base));
        let inside = self.node(inside, Type::Boolean);
        let other = self.leaf(ty);
        self.guarded(inside, entry, other)
    }

    /// `o!`, `o ?: e`, or `o?? ? o! : e`.
    fn unwrapped_value(&mut self, base: Expr, ty: &Type, depth: u32) -> Expr {
        match self.choices.below(4) {
            0 | 1 => {
                let other = self.expr(ty, depth);
                let kind = ExprKind::UnwrapOr(Box::new(base), Box::new(other));
                self.node(kind, ty.clone())
            }
            2 => {
                let is_present = ExprKind::IsPresent(Box::new(base.clone()));
                let is_present = self.node(is_present, Type::Boolean);
                let held = self.node(ExprKind::Unwrap(Box::new(base)), ty.clone());
                let other = self.leaf(ty);
                self.guarded(is_present, held, other)
            }
            _ => self.node(ExprKind::Unwrap(Box::new(base)), ty.clone()),
        }
    }

    fn field(&mut self, base: Expr, ty: &Type) -> Expr {
        let attributes = base.ty.as_tuple().map_or(&[][..], |t| &t.attributes);
        let fitting = attributes.iter().enumerate().filter(|(_, a)| a.ty == *ty);
        let fitting: Vec<u32> = fitting.map(|(at, _)| at as u32).collect();
        let at = *self.choices.one_of(&fitting);
        self.node(ExprKind::Field(Box::new(base), at), ty.clone())
    }

    fn cast(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        let sources: Vec<Type> = self
            .types
            .iter()
            .filter(|from| is_cast(from, ty))
            .cloned()
            .collect();
        if sources.is_empty() {
            return None;
        }
        let from = self.choices.one_of(&sources).clone();
        let source = if from.is_string() && !ty.is_string() && self.choices.percent(93) {
            let form = text::to_text(&constant(ty, &mut self.choices), ty);
            let value = match from {
                Type::UString => Value::UString(form.as_str().into()),
                _ => eval::ops::truncate_to_bound(Value::RString(form.into()), &from),
            };
            self.node(ExprKind::Const(value), from)
        } else {
            self.expr(&from, depth)
        };
        Some(self.node(ExprKind::Cast(Box::new(source)), ty.clone()))
    }

    /// A call of a function without formals by reference.
    pub(super) fn call(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        let is_fit = |f: &graph::Function| {
            f.result == *ty
                && f.body.locals[..f.formals as usize]
                    .iter()
                    .all(|v| !v.by_reference)
        };
        let fitting = self.functions.iter().enumerate().filter(|(_, f)| is_fit(f));
        let fitting: Vec<u32> = fitting.map(|(at, _)| at as u32).collect();
        if fitting.is_empty() || self.choices.percent(40) {
            return self.native_call(ty, depth);
        }
        let id = FunctionId(*self.choices.one_of(&fitting));
        let function = &self.functions[id.0 as usize];
        let formals: Vec<Type> = function.body.locals[..function.formals as usize]
            .iter()
            .map(|formal| formal.ty.clone())
            .collect();
        let args = formals
            .iter()
            .map(|formal| Arg::Value(self.expr(formal, depth)))
            .collect();
        Some(self.node(ExprKind::Call(Callee::User(id), args), ty.clone()))
    }

    fn native_call(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        let (id, formals) = match ty {
            Type::Int32 if self.choices.percent(50) => (native::LENGTH, vec![Type::RString]),
            Type::Int32 => {
                let lists: Vec<Type> = self.types.iter().filter(|t| t.is_list()).cloned().collect();
                (native::SIZE, vec![self.choices.one_of(&lists).clone()])
            }
            Type::RString => (native::TEXT, vec![Type::Float64, Type::Int32]),
            Type::List(element, None) if **element == Type::Int32 => {
                return Some(self.range());
            }
            _ if ty.is_ordered() => (native::MAX, vec![ty.clone(), ty.clone()]),
            _ => return None,
        };
        let args = formals
            .iter()
            .map(|formal| Arg::Value(self.expr(formal, depth)))
            .collect();
        Some(self.native(id, args, ty.clone()))
    }

    /// A call of `range`, whose numbers are few.
    pub(super) fn range(&mut self) -> Expr {
        let ints = Type::List(Type::Int32.into(), None);
        let numbers = self.choices.below(4);
        if numbers == 3 {
            let lists: Vec<Type> = self.types.iter().filter(|t| t.is_list()).cloned().collect();
            let of = self.choices.one_of(&lists).clone();
            let of = Arg::Value(self.expr(&of, 1));
            return self.native(native::RANGE_OF_LIST, vec![of], ints);
        }
        let args = (0..=numbers).map(|_| Arg::Value(self.bounded_number(1, 7)));
        let args = args.collect();
        self.native(native::RANGE + numbers as u32, args, ints)
    }

    /// `(e & mask) - 2`, or a small number.
    fn bounded_number(&mut self, depth: u32, mask: i32) -> Expr {
        let number = |g: &mut Self, n| g.node(ExprKind::Const(Value::Int32(n)), Type::Int32);
        if self.choices.percent(50) {
            return self.small_number(5);
        }
        let (any, mask) = (self.expr(&Type::Int32, depth), number(self, mask));
        let bounded = self.infix(BinaryOp::BitAnd, any, mask);
        let two = number(self, 2);
        self.infix(BinaryOp::Sub, bounded, two)
    }

    pub(super) fn native(&mut self, id: u32, args: Vec<Arg>, ty: Type) -> Expr {
        self.node(ExprKind::Call(Callee::Native(NativeId(id)), args), ty)
    }

    pub(super) fn infix(&mut self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let ty = if op.is_comparison() {
            Type::Boolean
        } else {
            left.ty.clone()
        };
        self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
    }
}

/// A variable as an expression.
pub(super) fn root_expr_kind(root: PlaceRoot) -> ExprKind {
    match root {
        PlaceRoot::Local(id) => ExprKind::Local(id),
        PlaceRoot::State(id) => ExprKind::State(id),
    }
}

/// Whether to generate a cast between two types. Text of floats is left out: see the module.
pub(super) fn is_cast(from: &Type, to: &Type) -> bool {
    let is_number = |ty: &Type| ty.is_numeric() && !ty.is_complex();
    match (from, to) {
        _ if from == to => false,
        _ if to.is_string() => {
            !(from.is_float() || from.is_complex()) && (from.is_primitive() || from.is_set())
                || matches!(from, Type::List(e, _) if **e == Type::Int32 || e.is_string())
        }
        // Longer texts would not fit.
        (Type::BoundedRString(_), _) => to.is_integral() || *to == Type::Boolean,
        _ if from.is_string() => !to.is_xml(),
        _ if is_number(from) && is_number(to) => true,
        _ if from.is_complex() && to.is_complex() => true,
        (Type::Enum(_), _) => to.is_integral(),
        (_, Type::Enum(_)) => from.is_integral(),
        (Type::Float64, Type::Timestamp) | (Type::Timestamp, Type::Float64) => true,
        (Type::Blob, Type::List(e, _)) | (Type::List(e, _), Type::Blob) => **e == Type::Uint8,
        (Type::List(e, _), _) if to.is_complex() => is_number(e),
        (Type::List(a, _), Type::List(b, _))
        | (Type::Set(a, _), Type::Set(b, _) | Type::List(b, _)) => **a == **b || is_cast(a, b),
        (Type::Map(a, _), Type::Map(b, _)) => {
            (a.0 == b.0 || is_cast(&a.0, &b.0)) && (a.1 == b.1 || is_cast(&a.1, &b.1))
        }
        (Type::Tuple(a), Type::Tuple(b)) => b.attributes.iter().all(|wanted| {
            let found = a.find(&wanted.name).map(|(_, found)| &found.ty);
            found.is_some_and(|found| *found == wanted.ty || is_cast(found, &wanted.ty))
        }),
        (Type::Optional(a), Type::Optional(b)) => is_cast(a, b),
        (_, Type::Optional(b)) => from == &**b || is_cast(from, b),
        _ => false,
    }
}
