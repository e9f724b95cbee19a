//! Operators, literals and slices of a given type.

use graph::{
    BinaryOp, BinaryOp::Add, BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Div,
    BinaryOp::Mul, BinaryOp::Rem, BinaryOp::Shl, BinaryOp::Shr, BinaryOp::Sub,
};
use graph::{Expr, ExprKind, MappedForm, UnaryOp};
use tuple::Type;

use super::constant::constant;
use super::environment;
use super::generator::ProgramGenerator;

const COMPARISONS: [BinaryOp; 6] = [
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
];

impl ProgramGenerator<'_> {
    /// An operator that gives a type, or a literal of it.
    pub(super) fn operation(&mut self, ty: &Type, depth: u32) -> Expr {
        match ty {
            Type::Boolean => self.boolean(depth),
            _ if ty.is_integral() => self.integral(ty, depth),
            _ if ty.is_numeric() => self.float_arithmetic(ty, depth),
            Type::Timestamp => {
                let op = *self.choices.one_of(&[Add, Sub]);
                self.infix_of_type(op, ty, depth)
            }
            _ if ty.is_string() => self.string(ty, depth),
            Type::Blob => self.slice(ty, depth),
            Type::List(element, _) => self.list(ty, element, depth),
            Type::Set(element, _) => {
                let elements = self.some_exprs(element, depth);
                self.node(ExprKind::Set(elements), ty.clone())
            }
            Type::Map(entry, _) => self.map(ty, entry, depth),
            Type::Tuple(schema) => {
                let parts = schema
                    .attributes
                    .iter()
                    .map(|a| self.expr(&a.ty, depth))
                    .collect();
                self.node(ExprKind::Tuple(parts), ty.clone())
            }
            Type::Optional(held) => {
                let inner = self.expr(held, depth);
                self.node(ExprKind::Wrap(Box::new(inner)), ty.clone())
            }
            _ => self.leaf(ty),
        }
    }

    fn infix_of_type(&mut self, op: BinaryOp, ty: &Type, depth: u32) -> Expr {
        let left = self.expr(ty, depth);
        let right = self.expr(ty, depth);
        self.infix(op, left, right)
    }

    fn prefix(&mut self, op: UnaryOp, ty: &Type, depth: u32) -> Expr {
        let operand = self.expr(ty, depth);
        self.node(ExprKind::Unary(op, Box::new(operand)), ty.clone())
    }

    fn boolean(&mut self, depth: u32) -> Expr {
        let ty = &Type::Boolean;
        let pair = |g: &mut Self, kind: fn(Box<Expr>, Box<Expr>) -> ExprKind| {
            let left = g.expr(ty, depth);
            let right = g.expr(ty, depth);
            g.node(kind(Box::new(left), Box::new(right)), Type::Boolean)
        };
        match self.choices.below(12) {
            0..=4 => self.comparison(depth),
            5 => pair(self, ExprKind::And),
            6 => pair(self, ExprKind::Or),
            7 => self.prefix(UnaryOp::Not, ty, depth),
            8 => {
                let op = *self.choices.one_of(&[BitAnd, BitOr]);
                self.infix_of_type(op, ty, depth)
            }
            9 => self.membership(depth),
            10 => {
                let optionals: Vec<Type> = self
                    .types
                    .iter()
                    .filter(|t| t.is_optional())
                    .cloned()
                    .collect();
                let optional = self.choices.one_of(&optionals).clone();
                let base = self.expr(&optional, depth);
                self.node(ExprKind::IsPresent(Box::new(base)), Type::Boolean)
            }
            _ => self.intrinsic(),
        }
    }

    /// `isShutdown()` or `currentPunct() == m`.
    fn intrinsic(&mut self) -> Expr {
        if self.result.is_some() || self.choices.percent(50) {
            return self.node(ExprKind::IsShutdown, Type::Boolean);
        }
        let ty = environment::punctuation_type();
        let mark = self.node(ExprKind::CurrentPunct, ty.clone());
        let other = self.constant(&ty);
        self.infix(BinaryOp::Eq, mark, other)
    }

    fn comparison(&mut self, depth: u32) -> Expr {
        let mut ty = self.any_type();
        if self.result.is_none() && self.choices.percent(5) {
            ty = environment::small_input();
        }
        if !ty.is_equatable() {
            return self.leaf(&Type::Boolean);
        }
        let ops = if ty.is_ordered() {
            &COMPARISONS[..]
        } else {
            &COMPARISONS[..2]
        };
        let op = *self.choices.one_of(ops);
        self.infix_of_type(op, &ty, depth)
    }

    fn membership(&mut self, depth: u32) -> Expr {
        let collections: Vec<Type> = self
            .types
            .iter()
            .filter(|t| t.is_collection())
            .cloned()
            .collect();
        let collection = self.choices.one_of(&collections).clone();
        let item = match &collection {
            Type::List(element, _) | Type::Set(element, _) => self.expr(element, depth),
            Type::Map(entry, _) => self.expr(&entry.0, depth),
            _ => return self.leaf(&Type::Boolean),
        };
        let collection = self.expr(&collection, depth);
        self.node(
            ExprKind::In(Box::new(item), Box::new(collection)),
            Type::Boolean,
        )
    }

    fn integral(&mut self, ty: &Type, depth: u32) -> Expr {
        match self.choices.below(10) {
            0..=4 => {
                let op = *self.choices.one_of(&[Add, Sub, Mul, BitAnd, BitXor, BitOr]);
                self.infix_of_type(op, ty, depth)
            }
            5 | 6 => self.division(ty, depth),
            7 => {
                let op = *self.choices.one_of(&[Shl, Shr]);
                let number = self.expr(ty, depth);
                let amounts = [
                    Type::Int32,
                    Type::Uint8,
                    Type::Int64,
                    Type::Uint32,
                    Type::Int8,
                ];
                let amount = self.choices.one_of(&amounts).clone();
                let amount = self.expr(&amount, depth);
                self.infix(op, number, amount)
            }
            8 => self.prefix(UnaryOp::Negate, ty, depth),
            _ => self.prefix(UnaryOp::Complement, ty, depth),
        }
    }

    /// Division or remainder, mostly by what cannot be zero.
    fn division(&mut self, ty: &Type, depth: u32) -> Expr {
        let op = *self.choices.one_of(&[Div, Rem]);
        let left = self.expr(ty, depth);
        let mut right = self.expr(ty, depth);
        if self.choices.percent(75) {
            let one =
                eval::ops::one_of_type(ty).unwrap_or_else(|_| constant(ty, &mut self.choices));
            let one = self.node(ExprKind::Const(one), ty.clone());
            right = self.infix(BitOr, right, one);
        }
        self.infix(op, left, right)
    }

    fn float_arithmetic(&mut self, ty: &Type, depth: u32) -> Expr {
        if self.choices.percent(20) {
            return self.prefix(UnaryOp::Negate, ty, depth);
        }
        let op = *self.choices.one_of(&[Add, Sub, Mul, Div]);
        self.infix_of_type(op, ty, depth)
    }

    fn string(&mut self, ty: &Type, depth: u32) -> Expr {
        let is_bounded = matches!(ty, Type::BoundedRString(_));
        match self.choices.below(4) {
            0 | 1 => {
                let left = self.expr(ty, depth);
                // Strings must not double from turn to turn of a loop.
                let right = if self.loop_depth > 0 {
                    self.constant(ty)
                } else {
                    self.expr(ty, depth)
                };
                self.infix(Add, left, right)
            }
            2 if !is_bounded => {
                let base = self.expr(ty, depth);
                let at = self.index();
                self.node(ExprKind::Index(Box::new(base), Box::new(at)), ty.clone())
            }
            _ if is_bounded => self.leaf(ty),
            _ => self.slice(ty, depth),
        }
    }

    fn slice(&mut self, ty: &Type, depth: u32) -> Expr {
        let base = self.expr(ty, depth);
        let lower = self.choices.percent(60).then(|| Box::new(self.index()));
        let upper = self.choices.percent(60).then(|| Box::new(self.index()));
        self.node(ExprKind::Slice(Box::new(base), lower, upper), ty.clone())
    }

    fn list(&mut self, ty: &Type, element: &Type, depth: u32) -> Expr {
        let is_bounded = matches!(ty, Type::List(_, Some(_)));
        match self.choices.below(5) {
            0 => {
                let elements = self.some_exprs(element, depth);
                self.node(ExprKind::List(elements), ty.clone())
            }
            1 if !is_bounded => self.slice(ty, depth),
            2 | 3 => self.mapped(ty, element, depth),
            _ => self.mapped_prefix(ty, element, depth),
        }
    }

    /// A prefix operator over the elements of a list, or the values of a map.
    fn mapped_prefix(&mut self, ty: &Type, element: &Type, depth: u32) -> Expr {
        match element {
            Type::Boolean => self.prefix(UnaryOp::Not, ty, depth),
            _ if element.is_integral() && self.choices.percent(50) => {
                self.prefix(UnaryOp::Complement, ty, depth)
            }
            _ if element.is_numeric() => self.prefix(UnaryOp::Negate, ty, depth),
            _ => self.leaf(ty),
        }
    }

    fn map(&mut self, ty: &Type, entry: &(Type, Type), depth: u32) -> Expr {
        if self.choices.percent(50) {
            return self.mapped(ty, &entry.1, depth);
        }
        if self.choices.percent(20) {
            return self.mapped_prefix(ty, &entry.1, depth);
        }
        let keys = self.some_exprs(&entry.0, depth);
        let entries = keys
            .into_iter()
            .map(|key| (key, self.expr(&entry.1, depth)))
            .collect();
        self.node(ExprKind::Map(entries), ty.clone())
    }

    /// An operator over the elements of lists or maps like `ty`.
    fn mapped(&mut self, ty: &Type, element: &Type, depth: u32) -> Expr {
        let ops: &[BinaryOp] = match element {
            Type::Boolean if self.choices.percent(70) => return self.mapped_comparison(ty, depth),
            Type::Boolean => &[BitAnd, BitOr],
            Type::Timestamp => &[Add, Sub],
            _ if element.is_integral() => {
                &[Add, Sub, Mul, Div, Rem, BitXor, BitAnd, BitOr, Shl, Shr]
            }
            _ if element.is_numeric() => &[Add, Sub, Mul, Div],
            // Strings must not double from turn to turn of a loop.
            _ if element.is_string() && self.loop_depth == 0 => &[Add],
            _ => return self.leaf(ty),
        };
        let op = *self.choices.one_of(ops);
        self.mapped_of_operands(op, ty, ty, depth)
    }

    /// A comparison of the elements of two lists or maps, or of one with a scalar.
    fn mapped_comparison(&mut self, ty: &Type, depth: u32) -> Expr {
        let is_like = |other: &&Type| match (ty, *other) {
            (Type::List(_, None), Type::List(element, None)) => element.is_equatable(),
            (Type::Map(a, None), Type::Map(b, None)) => a.0 == b.0 && b.1.is_equatable(),
            _ => false,
        };
        let operands: Vec<Type> = self.types.iter().filter(is_like).cloned().collect();
        if operands.is_empty() {
            return self.leaf(ty);
        }
        let operand = self.choices.one_of(&operands).clone();
        let ops = match element_of(&operand).is_ordered() {
            true => &COMPARISONS[..],
            false => &COMPARISONS[..2],
        };
        let op = *self.choices.one_of(ops);
        self.mapped_of_operands(op, ty, &operand, depth)
    }

    /// An operator mapped over a collection `operand`, which gives a `ty`.
    fn mapped_of_operands(&mut self, op: BinaryOp, ty: &Type, operand: &Type, depth: u32) -> Expr {
        let scalar = match op {
            Shl | Shr if self.choices.percent(50) => &Type::Int32,
            _ => element_of(operand),
        };
        let forms = [
            (MappedForm::CollectionScalar, operand, scalar),
            (MappedForm::ScalarCollection, element_of(operand), operand),
            (MappedForm::Elementwise, operand, operand),
        ];
        let (form, left, right) = *self.choices.one_of(&forms);
        let (left, right) = (self.expr(left, depth), self.expr(right, depth));
        let kind = ExprKind::Mapped(op, form, Box::new(left), Box::new(right));
        self.node(kind, ty.clone())
    }

    /// Up to three expressions.
    fn some_exprs(&mut self, ty: &Type, depth: u32) -> Vec<Expr> {
        let len = self.choices.below(4);
        (0..len).map(|_| self.expr(ty, depth)).collect()
    }
}

/// The element type of a list, the value type of a map.
fn element_of(collection: &Type) -> &Type {
    match collection {
        Type::List(element, _) => element,
        Type::Map(entry, _) => &entry.1,
        other => other,
    }
}
