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
        let ty = self.any_type();
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
            _ => match element {
                Type::Boolean => self.prefix(UnaryOp::Not, ty, depth),
                _ if element.is_numeric() => self.prefix(UnaryOp::Negate, ty, depth),
                _ => self.leaf(ty),
            },
        }
    }

    fn map(&mut self, ty: &Type, entry: &(Type, Type), depth: u32) -> Expr {
        if self.choices.percent(50) {
            return self.mapped(ty, &entry.1, depth);
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
        let (op, ty_of_operands) = match element {
            Type::Boolean => {
                let op = *self.choices.one_of(&COMPARISONS);
                (op, with_int32_elements(ty))
            }
            _ if element.is_integral() => {
                let ops = [Add, Sub, Mul, Div, Rem, BitXor, Shl];
                (*self.choices.one_of(&ops), ty.clone())
            }
            _ if element.is_numeric() => (*self.choices.one_of(&[Add, Sub, Mul, Div]), ty.clone()),
            _ if element.is_string() && self.loop_depth == 0 => (Add, ty.clone()),
            _ => return self.leaf(ty),
        };
        let element = if element.is_numeric() {
            element.clone()
        } else {
            match ty_of_operands {
                Type::List(ref e, _) => (**e).clone(),
                Type::Map(ref e, _) => e.1.clone(),
                _ => element.clone(),
            }
        };
        let forms = [
            MappedForm::CollectionScalar,
            MappedForm::ScalarCollection,
            MappedForm::Elementwise,
        ];
        let form = *self.choices.one_of(&forms);
        let left = if form == MappedForm::ScalarCollection {
            &element
        } else {
            &ty_of_operands
        };
        let right = if form == MappedForm::CollectionScalar {
            &element
        } else {
            &ty_of_operands
        };
        let (left, right) = (self.expr(left, depth), self.expr(right, depth));
        self.node(
            ExprKind::Mapped(op, form, Box::new(left), Box::new(right)),
            ty.clone(),
        )
    }

    /// Up to three expressions.
    fn some_exprs(&mut self, ty: &Type, depth: u32) -> Vec<Expr> {
        let len = self.choices.below(4);
        (0..len).map(|_| self.expr(ty, depth)).collect()
    }
}

/// A list or map type with int32 elements instead.
fn with_int32_elements(ty: &Type) -> Type {
    match ty {
        Type::Map(entry, _) => Type::Map((entry.0.clone(), Type::Int32).into(), None),
        _ => Type::List(Type::Int32.into(), None),
    }
}
