//! Places: finding what an assignment changes, and changing it.
//!
//! The indices of a place are computed first, then the value, and the place is looked at last.

use cranelift_codegen::ir;
use graph::{BinaryOp, Expr, ExprKind, MappedForm, Place, Pos, Root, Step, ops};
use tuple::{Type, Value};

use super::frame::StateHome;
use super::{Lower, Region, Storage};
use crate::code::{Import, Op, shapes};
use crate::shape;
use crate::value::Val;

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
            let map = self.table(&container, ty);
            let found = self.map_get(&map, &key.0, &entry.0);
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
