//! Short ways to make typed expressions by hand: for lowerings and tests.

use tuple::{Type, Value};

use crate::{
    Arg, BinaryOp, Callee, Expr, ExprKind, LocalId, LocalVar, Place, PlaceRoot, PlaceStep,
    PortIndex, Pos, StateId,
};

impl Expr {
    /// Whether the expression reads a variable, an attribute or a part of one without computing
    /// anything. A loop over such a collection does not copy it.
    pub fn is_part_of_variable(&self) -> bool {
        match &self.kind {
            ExprKind::Local(_)
            | ExprKind::State(_)
            | ExprKind::Input { .. }
            | ExprKind::Attribute { .. }
            | ExprKind::OutputCall(_) => true,
            ExprKind::Field(base, _) | ExprKind::Index(base, _) | ExprKind::Unwrap(base) => {
                base.is_part_of_variable()
            }
            _ => false,
        }
    }

    /// An expression without a place in a program's text.
    pub fn new(kind: ExprKind, ty: Type) -> Expr {
        let pos = Pos::default();
        Expr { kind, ty, pos }
    }

    /// Sets the expression's position in the program's text.
    pub fn with_pos(mut self, pos: Pos) -> Expr {
        self.pos = pos;
        self
    }

    /// A constant of a type.
    pub fn constant(value: Value, ty: Type) -> Expr {
        debug_assert!(value.has_type(&ty), "{value:?} is no {ty}");
        Expr::new(ExprKind::Const(value), ty)
    }

    /// A constant of type boolean.
    pub fn boolean(value: bool) -> Expr {
        Expr::constant(Value::Boolean(value), Type::Boolean)
    }

    /// A local variable's value.
    pub fn local(id: LocalId, ty: Type) -> Expr {
        Expr::new(ExprKind::Local(id), ty)
    }

    /// A state variable's value.
    pub fn state(id: StateId, ty: Type) -> Expr {
        Expr::new(ExprKind::State(id), ty)
    }

    /// An attribute of the current tuple of an input port.
    pub fn attribute(port: PortIndex, index: u32, ty: Type) -> Expr {
        let history = 0;
        Expr::new(
            ExprKind::Attribute {
                port,
                history,
                index,
            },
            ty,
        )
    }

    /// `left op right` of two scalars or strings.
    ///
    /// # Example
    /// ```
    /// use thalweg_graph::{BinaryOp, Expr, PortIndex};
    /// use tuple::{Type, Value};
    ///
    /// let price = Expr::attribute(PortIndex(0), 1, Type::Float64);
    /// let limit = Expr::constant(Value::Float64(10.0), Type::Float64);
    /// let condition = Expr::binary(BinaryOp::Gt, price, limit);
    /// assert_eq!(condition.ty, Type::Boolean);
    /// ```
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let ty = if op.is_comparison() {
            Type::Boolean
        } else {
            left.ty.clone()
        };
        let pos = left.pos;
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty).with_pos(pos)
    }

    /// A cast of this expression to a type.
    pub fn cast(self, ty: Type) -> Expr {
        let pos = self.pos;
        Expr::new(ExprKind::Cast(Box::new(self)), ty).with_pos(pos)
    }

    /// An attribute of this tuple.
    ///
    /// # Panics
    /// If this is no tuple, or has no such attribute.
    pub fn field(self, name: &str) -> Expr {
        let schema = self.ty.as_tuple().expect("a tuple");
        let (at, attribute) = schema.find(name).expect("an attribute of the tuple");
        let (ty, pos) = (attribute.ty.clone(), self.pos);
        Expr::new(ExprKind::Field(Box::new(self), at as u32), ty).with_pos(pos)
    }

    /// The assignment `place = value`.
    ///
    /// # Example
    /// ```
    /// use thalweg_graph::{Expr, Place, StateId};
    /// use tuple::{Type, Value};
    ///
    /// let total = Place::state(StateId(0), Type::Int64);
    /// let zero = Expr::constant(Value::Int64(0), Type::Int64);
    /// assert_eq!(Expr::assign(total, zero).to_string(), "state0 = 0l");
    /// ```
    pub fn assign(place: Place, value: Expr) -> Expr {
        let pos = place.pos;
        Expr::new(ExprKind::Assign(place, Box::new(value)), Type::Void).with_pos(pos)
    }

    /// A call of a function with arguments.
    pub fn call(callee: Callee, args: impl IntoIterator<Item = Arg>, ty: Type) -> Expr {
        Expr::new(ExprKind::Call(callee, args.into_iter().collect()), ty)
    }
}

impl Place {
    /// The place that is a whole variable.
    pub fn new(root: PlaceRoot, ty: Type) -> Place {
        Place {
            root,
            steps: Vec::new(),
            ty,
            pos: Pos::default(),
        }
    }

    /// The place that is a local variable.
    pub fn local(id: LocalId, ty: Type) -> Place {
        Place::new(PlaceRoot::Local(id), ty)
    }

    /// The place that is a state variable.
    pub fn state(id: StateId, ty: Type) -> Place {
        Place::new(PlaceRoot::State(id), ty)
    }

    /// A part of this place, of a type.
    pub fn with_step(mut self, step: PlaceStep, ty: Type) -> Place {
        self.steps.push(step);
        self.ty = ty;
        self
    }
}

impl LocalVar {
    /// A variable, or a formal by value.
    pub fn new(name: &str, ty: Type) -> LocalVar {
        LocalVar {
            name: name.into(),
            ty,
            by_reference: false,
        }
    }

    /// A formal parameter declared `mutable`.
    pub fn mutable(name: &str, ty: Type) -> LocalVar {
        LocalVar {
            name: name.into(),
            ty,
            by_reference: true,
        }
    }
}
