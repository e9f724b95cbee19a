//! Values that are kept while the variables that they were made of change.
//!
//! ```text
//!   T kept = { n = a.n, l = m["k"] };    a literal, cast, choice or call over places
//!   a.n++; removeM(m, "k");              each of those variables changes, in place or as a whole
//!   s = kept;                            what was kept goes where the outcome shows it
//! ```
//! A value in SPL is a copy: code that holds an address instead is found out here.

use graph::{Arg, BinaryOp, Expr, ExprKind, Place, PlaceRoot, PlaceStep, StateId, Stmt};
use tuple::Type;

use super::generator::ProgramGenerator;
use super::native;

/// How deep literals nest within the value that is kept.
const LITERAL_DEPTH: u32 = 3;

impl ProgramGenerator<'_> {
    /// Keeps a value, changes what it was made of, and shows it.
    pub(super) fn copy_and_change(&mut self, out: &mut Vec<Stmt>) {
        let ty = self.copied_type();
        let init = self.over_places(&ty, LITERAL_DEPTH);
        let roots = roots_read(&init);
        let kept = self.local(ty.clone());
        self.visible.push(kept);
        out.push(Stmt::Let(kept, Some(init)));
        for root in roots {
            if self.changeable_roots().contains(&root) {
                let place = self.variable_place(root);
                self.change(place, 2, out);
            }
        }
        if self.choices.percent(20) {
            let place = self.variable_place(PlaceRoot::Local(kept));
            self.change(place, 2, out);
        }
        self.show(PlaceRoot::Local(kept), &ty, out);
    }

    /// A type with parts; within a function mostly that of its result.
    fn copied_type(&mut self) -> Type {
        match self.result.clone() {
            Some(result) if result != Type::Void && self.choices.percent(60) => result,
            _ => {
                let has_parts = |ty: &&Type| !super::environment::scalars().contains(ty);
                let types: Vec<Type> = self.types.iter().filter(has_parts).cloned().collect();
                self.choices.one_of(&types).clone()
            }
        }
    }

    /// Puts a value where the outcome of a run, or of a function, shows it.
    fn show(&mut self, root: PlaceRoot, ty: &Type, out: &mut Vec<Stmt>) {
        let value = self.node(super::expr::root_expr_kind(root), ty.clone());
        if self.result.as_ref() == Some(ty) && self.choices.percent(50) {
            let condition = self.expr(&Type::Boolean, 1);
            return out.push(Stmt::If(condition, vec![Stmt::Return(Some(value))], vec![]));
        }
        let place = match self.result {
            Some(_) => self.place_of(|other| other == ty),
            None => {
                let at = self.types.iter().position(|other| other == ty);
                at.map(|at| self.variable_place(PlaceRoot::State(StateId(at as u32))))
            }
        };
        if let Some(place) = place {
            let kind = ExprKind::Assign(place, Box::new(value));
            out.push(Stmt::Expr(self.node(kind, Type::Void)));
        }
    }

    /// An expression whose parts are variables and parts of variables.
    fn over_places(&mut self, ty: &Type, depth: u32) -> Expr {
        if depth == 0 || self.choices.percent(15) {
            return self.variable_read(ty);
        }
        match self.choices.below(10) {
            0 => {
                let condition = self.expr(&Type::Boolean, 1);
                let (yes, no) = (
                    self.over_places(ty, depth - 1),
                    self.over_places(ty, depth - 1),
                );
                self.guarded(condition, yes, no)
            }
            1 => self
                .call(ty, depth - 1)
                .unwrap_or_else(|| self.variable_read(ty)),
            2 => self.cast_of_places(ty, depth - 1),
            3 => self.part(ty, 1).unwrap_or_else(|| self.variable_read(ty)),
            _ => self.literal(ty, depth - 1),
        }
    }

    /// A literal of a type over places; a read of one if the type has no literals.
    fn literal(&mut self, ty: &Type, depth: u32) -> Expr {
        let kind = match ty {
            Type::Tuple(t) => {
                let parts = t.attributes.iter().map(|a| self.over_places(&a.ty, depth));
                ExprKind::Tuple(parts.collect())
            }
            Type::List(element, _) => ExprKind::List(self.place_reads(element, depth)),
            Type::Set(element, _) => ExprKind::Set(self.place_reads(element, depth)),
            Type::Map(entry, _) => {
                let keys = self.place_reads(&entry.0, depth);
                let entries = keys.into_iter().map(|key| {
                    let value = self.over_places(&entry.1, depth);
                    (key, value)
                });
                ExprKind::Map(entries.collect())
            }
            Type::Optional(held) => ExprKind::Wrap(Box::new(self.over_places(held, depth))),
            _ => return self.variable_read(ty),
        };
        self.node(kind, ty.clone())
    }

    fn place_reads(&mut self, ty: &Type, depth: u32) -> Vec<Expr> {
        let len = 1 + self.choices.below(3);
        (0..len).map(|_| self.over_places(ty, depth)).collect()
    }

    /// A cast from a tuple of other order or types, or from another collection.
    fn cast_of_places(&mut self, ty: &Type, depth: u32) -> Expr {
        let is_source = |from: &&Type| !from.is_primitive() && super::expr::is_cast(from, ty);
        let sources: Vec<Type> = self.types.iter().filter(is_source).cloned().collect();
        if sources.is_empty() {
            return self.literal(ty, depth);
        }
        let from = self.choices.one_of(&sources).clone();
        let source = self.over_places(&from, depth);
        self.node(ExprKind::Cast(Box::new(source)), ty.clone())
    }

    /// A variable of a type, or an attribute of one.
    fn variable_read(&mut self, ty: &Type) -> Expr {
        let mut paths = Vec::new();
        for root in self.readable_roots() {
            each_attribute_of(self.type_of(root), ty, &mut Vec::new(), &mut |path| {
                paths.push((root, path.to_vec()));
            });
        }
        if paths.is_empty() || self.choices.percent(15) {
            return self.leaf(ty);
        }
        let (root, path) = self.choices.one_of(&paths).clone();
        let mut value = self.node(
            super::expr::root_expr_kind(root),
            self.type_of(root).clone(),
        );
        for index in path {
            let held = value
                .ty
                .as_tuple()
                .map(|t| t.attributes[index as usize].ty.clone());
            let held = held.expect("a path leads through tuples");
            value = self.node(ExprKind::Field(Box::new(value), index), held);
        }
        value
    }

    /// Changes a place: attributes one by one, elements in place, or the whole.
    fn change(&mut self, place: Place, depth: u32, out: &mut Vec<Stmt>) {
        let ty = place.ty.clone();
        if depth > 0 && self.choices.percent(80) {
            match &ty {
                Type::Tuple(t) => {
                    for (at, attribute) in t.attributes.iter().enumerate() {
                        if self.choices.percent(50) {
                            let part = place
                                .clone()
                                .with_step(PlaceStep::Field(at as u32), attribute.ty.clone());
                            self.change(part, depth - 1, out);
                        }
                    }
                    return;
                }
                Type::List(..) | Type::Set(..) | Type::Map(..) => {
                    return self.change_collection(place, out);
                }
                Type::RString => {
                    let more = self.constant(&ty);
                    let kind = ExprKind::AssignOp(BinaryOp::Add, place, Box::new(more));
                    return out.push(Stmt::Expr(self.node(kind, Type::Void)));
                }
                _ if ty.is_numeric() => {
                    let (down, prefix) = (self.choices.percent(50), false);
                    let kind = ExprKind::Increment {
                        place,
                        is_decrement: down,
                        is_prefix: prefix,
                    };
                    return out.push(Stmt::Expr(self.node(kind, ty)));
                }
                _ => {}
            }
        }
        let value = self.constant(&ty);
        let kind = ExprKind::Assign(place, Box::new(value));
        out.push(Stmt::Expr(self.node(kind, Type::Void)));
    }

    /// Adds to a collection, takes from it, or empties it, in place.
    fn change_collection(&mut self, place: Place, out: &mut Vec<Stmt>) {
        let (id, others) = match &place.ty {
            Type::List(element, None) => match self.choices.below(3) {
                0 => (native::CLEAR, vec![]),
                _ => (native::APPEND, vec![(**element).clone()]),
            },
            Type::Map(entry, None) => match self.choices.below(3) {
                0 => (native::INSERT, vec![entry.0.clone(), entry.1.clone()]),
                _ => (native::REMOVE, vec![entry.0.clone()]),
            },
            ty => {
                let value = self.constant(&ty.clone());
                let kind = ExprKind::Assign(place, Box::new(value));
                return out.push(Stmt::Expr(self.node(kind, Type::Void)));
            }
        };
        let mut args = vec![Arg::Place(place)];
        args.extend(others.iter().map(|ty| Arg::Value(self.constant(ty))));
        let call = self.native(id, args, Type::Void);
        out.push(Stmt::Expr(call));
    }
}

/// The variables that an expression reads, each once.
fn roots_read(e: &Expr) -> Vec<PlaceRoot> {
    let mut roots = Vec::new();
    e.for_each_ref(&mut |part| {
        let root = match part.kind {
            ExprKind::Local(id) => PlaceRoot::Local(id),
            ExprKind::State(id) => PlaceRoot::State(id),
            _ => return,
        };
        if !roots.contains(&root) {
            roots.push(root);
        }
    });
    roots
}

/// Calls with the way to each attribute of type `wanted` within a type; the empty way is the type
/// itself.
fn each_attribute_of(ty: &Type, wanted: &Type, way: &mut Vec<u32>, found: &mut dyn FnMut(&[u32])) {
    if ty == wanted {
        found(way);
    }
    if let Type::Tuple(t) = ty {
        for (at, attribute) in t.attributes.iter().enumerate() {
            way.push(at as u32);
            each_attribute_of(&attribute.ty, wanted, way, found);
            way.pop();
        }
    }
}
