//! Places: finding what an assignment changes, and changing it.
//!
//! The indices of a place are computed first, then the value, and the place is looked at last.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use graph::{BinaryOp, Expr, ExprKind, MappedForm, Place, Pos, Root, Step, ops};
use tuple::{Type, Value};

use super::frame::StateHome;
use super::index::{KeyKind, key_kind};
use super::{Lower, Region, Storage};
use crate::code::{Import, Op, shapes};
use crate::shape;
use crate::value::{Form, Val};

/// What an assignment changes.
#[derive(Clone, Debug)]
pub enum Loc {
    /// A variable in registers, or attributes of it: the way from the variable.
    Registers(u32, Vec<u32>),
    /// A scalar in a flat slot.
    Slot(Region, ir::Value, i32),
    /// A `Value`.
    Value(ir::Value),
}

/// The computed indices of a place, with their types.
pub type Keys = Vec<(Val, Type)>;

impl Lower<'_, '_> {
    /// `place = value`.
    pub fn assign(&mut self, place: &Place, value: &Expr) -> Val {
        let keys = self.keys(place);
        let new = self.expr(value);
        let new = self.fit(new, &value.ty, &place.ty);
        match self.map_entry(place, &keys) {
            Some((map, ty, key)) => self.insert(map, &ty, &key, &new, &place.ty),
            None => {
                let loc = self.locate(place, &keys);
                self.store_at(loc, new, &place.ty);
            }
        }
        Val::parts([])
    }

    /// `place op= value`.
    pub fn assign_op(&mut self, op: BinaryOp, place: &Place, value: &Expr) -> Val {
        let keys = self.keys(place);
        let operand = self.expr(value);
        let loc = self.locate(place, &keys);
        if let (Loc::Value(at), BinaryOp::Add, Type::RString) = (&loc, op, &place.ty) {
            let parts = self.parts(&operand, &value.ty);
            self.call(Import::AppendBytes, &[*at, parts[0], parts[1]]);
            return Val::parts([]);
        }
        let old = self.read_at(&loc, &place.ty);
        let new = self.combine(op, place, &old, (&operand, value));
        self.store_at(loc, new, &place.ty);
        Val::parts([])
    }

    /// `old op operand`, cut to the bound of the place.
    fn combine(&mut self, op: BinaryOp, place: &Place, old: &Val, operand: (&Val, &Expr)) -> Val {
        let (value, e) = operand;
        let ty = &place.ty;
        if ty.is_collection() {
            let form = if e.ty.is_collection() {
                MappedForm::Both
            } else {
                MappedForm::Left
            };
            let operands = [Lower::given(old, ty), Lower::given(value, &e.ty)];
            return self.run_at(Op::Mapped(op, form), &operands, ty, place.pos);
        }
        if op == BinaryOp::Add && ty.is_string() {
            let pieces = [self.parts(old, ty), self.parts(value, &e.ty)];
            let joined = self.join(&pieces, ty);
            return Val::parts(self.fitted(joined, ty));
        }
        let divisor = match &e.kind {
            ExprKind::Const(value) => super::arith::integer(value),
            _ => None,
        };
        // A fault of the operation is one of the place.
        let whole = Expr {
            kind: ExprKind::CurrentPunct,
            ty: ty.clone(),
            pos: place.pos,
        };
        self.operate(op, (old, ty), (value, &e.ty), divisor, &whole)
    }

    /// `++` and `--`.
    pub fn step(&mut self, place: &Place, down: bool, prefix: bool) -> Val {
        let one = ops::one(&place.ty).unwrap_or(Value::Int64(1));
        let op = if down { BinaryOp::Sub } else { BinaryOp::Add };
        let keys = self.keys(place);
        let loc = self.locate(place, &keys);
        let old = self.read_at(&loc, &place.ty);
        let old = Val::parts(self.parts(&old, &place.ty));
        let one = self.constant(&one, &place.ty);
        let whole = Expr {
            kind: ExprKind::CurrentPunct,
            ty: place.ty.clone(),
            pos: place.pos,
        };
        let new = self.operate(op, (&old, &place.ty), (&one, &place.ty), None, &whole);
        let new = Val::parts(self.parts(&new, &place.ty));
        self.store_at(loc, new.clone(), &place.ty);
        if prefix { new } else { old }
    }

    /// The indices of a place.
    pub fn keys(&mut self, place: &Place) -> Keys {
        let indexes = place.steps.iter().filter_map(|step| match step {
            Step::Index(e) => Some(e),
            Step::Field(_) => None,
        });
        let indexes: Vec<&Expr> = indexes.collect();
        indexes
            .into_iter()
            .map(|e| (self.expr(e), e.ty.clone()))
            .collect()
    }

    /// If a place is the entry of a map: the map, its type, and the key.
    fn map_entry(&mut self, place: &Place, keys: &Keys) -> Option<(ir::Value, Type, Val)> {
        let (Step::Index(_), path) = place.steps.split_last()? else {
            return None;
        };
        let ty = self.type_at(place.root, path);
        if !ty.is_map() {
            return None;
        }
        let (key, keys) = keys.split_last()?;
        let Loc::Value(map) = self.walk(place.root, path, keys, place.pos) else {
            return None;
        };
        Some((map, ty, key.0.clone()))
    }

    /// What a place is. It faults if that does not exist.
    pub fn locate(&mut self, place: &Place, keys: &Keys) -> Loc {
        self.walk(place.root, &place.steps, keys, place.pos)
    }

    /// The type that steps lead to.
    fn type_at(&self, root: Root, steps: &[Step]) -> Type {
        let mut ty = match root {
            Root::Local(local) => self.frame.types[local.0 as usize].clone(),
            Root::State(state) => self.frame.state_types[state.0 as usize].clone(),
        };
        for step in steps {
            ty = step_type(&ty, step);
        }
        ty
    }

    fn walk(&mut self, root: Root, steps: &[Step], keys: &[(Val, Type)], pos: Pos) -> Loc {
        let mut loc = match root {
            Root::Local(local) => match self.frame.locals[local.0 as usize] {
                Storage::Memory(at) => Loc::Value(at),
                _ => {
                    let fields = steps.iter().filter_map(|step| match step {
                        Step::Field(index) => Some(*index),
                        Step::Index(_) => None,
                    });
                    return Loc::Registers(local.0, fields.collect());
                }
            },
            Root::State(state) => self.state_loc(state.0),
        };
        let mut ty = self.type_at(root, &[]);
        let mut keys = keys.iter();
        for step in steps {
            let Loc::Value(at) = loc else {
                unreachable!("a step into a scalar")
            };
            loc = match step {
                Step::Field(index) => {
                    let (to, offset) = self.boxed_field((at, 0), *index as usize, Region::Values);
                    Loc::Value(self.offset(to, i64::from(offset)))
                }
                Step::Index(_) => {
                    let key = keys.next().expect("a key for each index").clone();
                    self.element_loc(at, &ty, &key, pos)
                }
            };
            ty = step_type(&ty, step);
        }
        loc
    }

    fn state_loc(&mut self, state: u32) -> Loc {
        let StateHome::At(scalars, values) = self.frame.state else {
            unreachable!("state without a home")
        };
        if shape::is_scalar(&self.frame.state_types[state as usize]) {
            return Loc::Slot(Region::Scalars, scalars, 16 * state as i32);
        }
        let offset = i64::from(state) * i64::from(shapes::VALUE_BYTES);
        Loc::Value(self.offset(values, offset))
    }

    /// An element of a list or blob, or the value of a key.
    fn element_loc(&mut self, at: ir::Value, ty: &Type, key: &(Val, Type), pos: Pos) -> Loc {
        let container = Val::variable(at);
        if let Type::Map(entry, _) = ty {
            let found = self.map_get(at, &key.0, &entry.0);
            let operands = [Lower::given(&container, ty), Lower::given(&key.0, &key.1)];
            self.fault_if_zero(found, Op::Index, &operands, pos);
            return Loc::Value(found);
        }
        let (data, len) = self.boxed_vector((at, 0), ty, Region::Values);
        let word = self.index_word(&key.0, &key.1);
        self.check_index((&container, ty), (&key.0, &key.1), word, len, pos);
        match ty {
            Type::List(element, _) if shape::is_scalar(element) => {
                let at = self.element(data, word, shape::scalar_bytes(element));
                Loc::Slot(Region::Bytes, at, 0)
            }
            Type::List(..) => Loc::Value(self.element(data, word, shapes::VALUE_BYTES)),
            _ => {
                let at = self.element(data, word, 1);
                Loc::Slot(Region::Bytes, at, 0)
            }
        }
    }

    /// What is there.
    pub fn read_at(&mut self, loc: &Loc, ty: &Type) -> Val {
        match loc {
            Loc::Slot(region, base, offset) => {
                Val::parts(self.load_slot(*region, *base, *offset, ty))
            }
            Loc::Value(at) => Val::variable(*at),
            Loc::Registers(local, fields) => {
                let mut value = self.read_local(graph::LocalId(*local));
                let mut ty = self.frame.types[*local as usize].clone();
                for &index in fields {
                    let Type::Tuple(t) = ty else {
                        unreachable!("an attribute of {ty}")
                    };
                    value = self.field(&value, &t, index as usize);
                    ty = t.attributes[index as usize].ty.clone();
                }
                value
            }
        }
    }

    /// Puts a value there.
    pub fn store_at(&mut self, loc: Loc, value: Val, ty: &Type) {
        match loc {
            Loc::Slot(region, base, offset) => {
                let parts = self.parts(&value, ty);
                self.store_slot(region, base, offset, ty, &parts);
            }
            Loc::Value(at) => self.assign_value(at, &value, ty),
            Loc::Registers(local, fields) => {
                let at = local as usize;
                let whole = self.frame.types[at].clone();
                let storage = std::mem::replace(&mut self.frame.locals[at], Storage::Unset);
                let storage = self.store_field(storage, &whole, &fields, value);
                self.frame.locals[at] = storage;
            }
        }
    }

    /// Sets an attribute of what lives in registers.
    fn store_field(&mut self, storage: Storage, ty: &Type, fields: &[u32], value: Val) -> Storage {
        let Some((&index, rest)) = fields.split_first() else {
            return self.set_storage(storage, value, ty);
        };
        let Type::Tuple(t) = ty else {
            unreachable!("an attribute of {ty}")
        };
        let index = index as usize;
        match storage {
            Storage::Fields(mut homes) => {
                let home = std::mem::replace(&mut homes[index], Storage::Unset);
                homes[index] = self.store_field(home, &t.attributes[index].ty, rest, value);
                Storage::Fields(homes)
            }
            // A tuple within a tuple: the parts of the attribute are adjacent.
            Storage::Registers(vars) => {
                let before = t.attributes[..index].iter();
                let start: usize = before.map(|a| shape::part_count(&a.ty)).sum();
                let inner = &t.attributes[index].ty;
                let own = vars[start..start + shape::part_count(inner)].to_vec();
                self.store_field(Storage::Registers(own), inner, rest, value);
                Storage::Registers(vars)
            }
            other => other,
        }
    }

    /// Writes over a `Value` of the same type.
    pub fn assign_value(&mut self, at: ir::Value, value: &Val, ty: &Type) {
        if shape::is_scalar(ty) {
            let parts = self.parts(value, ty);
            for (part, offset) in parts.into_iter().zip(shapes::scalar(ty)) {
                self.store(Region::Values, part, at, offset);
            }
            return;
        }
        let is_single = shape::is_view(ty) || shape::is_boxed(ty);
        let value = if is_single {
            value.clone()
        } else {
            self.stable(value.clone(), ty)
        };
        if let (Type::Tuple(t), false) = (ty, matches!(value.form, Form::Boxed(..))) {
            for (index, a) in t.attributes.iter().enumerate() {
                let field = self.field(&value, t, index);
                let (to, offset) = self.boxed_field((at, 0), index, Region::Values);
                let to = self.offset(to, i64::from(offset));
                self.assign_value(to, &field, &a.ty);
            }
            return;
        }
        let words = self.words(&value, ty);
        let ty = self.type_address(ty);
        self.call(Import::Assign, &[ty, words, at]);
    }

    /// `m[k] = value`: inserts, unless the map is bounded and full.
    pub fn insert(&mut self, map: ir::Value, map_type: &Type, key: &Val, value: &Val, ty: &Type) {
        let Type::Map(entry, bound) = map_type else {
            unreachable!("an entry of {map_type}")
        };
        // What the value points to may be in the map, whose entries move.
        let value = self.stable(value.clone(), ty);
        let type_at = self.type_address(map_type);
        let at = match key_kind(&entry.0) {
            KeyKind::Signed => {
                let key = self.index_word(key, &entry.0);
                self.call1(Import::MapEntrySigned, &[map, type_at, key])
            }
            KeyKind::Bytes => {
                let key = self.parts(key, &entry.0);
                self.call1(Import::MapEntryBytes, &[map, type_at, key[0], key[1]])
            }
            _ => {
                let words = self.words(key, &entry.0);
                self.call1(Import::MapEntry, &[map, type_at, words])
            }
        };
        if bound.is_none() {
            return self.assign_value(at, &value, ty);
        }
        let (store, done) = (self.block(), self.block());
        let has_room = self.icmp_const(IntCC::NotEqual, at, 0);
        self.branch(has_room, store, done);
        self.go_sealed(store);
        self.assign_value(at, &value, ty);
        self.jump(done, &[]);
        self.go_sealed(done);
    }

    /// A value cut to the bound of the place that it is assigned to.
    pub fn fit(&mut self, value: Val, from: &Type, to: &Type) -> Val {
        match to {
            Type::BoundedRString(_) if from.is_rstring() => {
                let is_volatile = value.is_volatile;
                let parts = self.parts(&value, from);
                Val::parts(self.fitted(parts, to)).volatile_if(is_volatile)
            }
            Type::List(element, Some(bound)) if shape::is_scalar(element) => {
                let parts = self.parts(&value, from);
                let bound = self.word(i64::from(*bound));
                let len = self.b.ins().umin(parts[1], bound);
                Val::parts([parts[0], len]).volatile_if(value.is_volatile)
            }
            to if super::construct::is_bounded(to) && from != to => {
                let given = Lower::given(&value, from);
                self.run_at(Op::Same, &[given], to, Pos::default())
            }
            _ => value,
        }
    }
}

/// The type that a step leads to.
fn step_type(ty: &Type, step: &Step) -> Type {
    match (step, ty) {
        (Step::Field(index), Type::Tuple(t)) => t.attributes[*index as usize].ty.clone(),
        (Step::Index(_), Type::List(element, _)) => (**element).clone(),
        (Step::Index(_), Type::Map(entry, _)) => entry.1.clone(),
        _ => Type::Uint8,
    }
}
