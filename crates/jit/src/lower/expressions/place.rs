//! Places: finding what an assignment changes, and changing it.
//!
//! The indices of a place are computed first, then the value, and the place is looked at last.

use cranelift_codegen::ir;
use cranelift_frontend::Variable;
use eval::ops;
use graph::{BinaryOp, Expr, ExprKind, MappedForm, Place, PlaceRoot, PlaceStep, Pos, StateId};
use tuple::{Type, Value};

use super::string::StringPieces;
use crate::code::{FallbackOp, value_layout};
use crate::lower::context::{FunctionLowering, LocalStorage, StateStorage};
use crate::lower::values::AccessRegion;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

/// Location of a place that an assignment changes.
#[derive(Clone, Debug)]
pub enum PlaceLocation {
    /// A variable in registers, or a part of it: the path of attributes from the variable.
    Registers(u32, Vec<u32>),
    /// A state variable in a register.
    Cached(Variable),
    /// A scalar in a flat slot.
    Slot(AccessRegion, ir::Value, i32),
    /// A `Value` at an address.
    Value(ir::Value),
}

/// The computed indices of a place, with their types.
pub type PlaceIndices = Vec<(LoweredValue, Type)>;

impl FunctionLowering<'_, '_> {
    /// Lowers an assignment, `place = value`.
    pub fn assign(&mut self, place: &Place, value: &Expr) -> LoweredValue {
        let keys = self.place_indices(place);
        let new = self.expr(value);
        let new = self.fit_to_bound(new, &value.ty, &place.ty);
        match self.map_entry(place, &keys) {
            Some((map, ty, key)) => self.insert(map, &ty, &key, &new, &place.ty),
            None => {
                let loc = self.locate(place, &keys);
                self.store_at(loc, new, &place.ty);
            }
        }
        LoweredValue::from_parts([])
    }

    /// Lowers an assignment with an operator, `place op= value`.
    pub fn assign_op(&mut self, op: BinaryOp, place: &Place, value: &Expr) -> LoweredValue {
        let keys = self.place_indices(place);
        let operand = self.expr(value);
        let loc = self.locate(place, &keys);
        if let (PlaceLocation::Value(at), BinaryOp::Add, Type::RString) = (&loc, op, &place.ty) {
            let parts = self.parts(&operand, &value.ty);
            self.append_bytes(*at, &parts, place.pos);
            return LoweredValue::from_parts([]);
        }
        let old = self.read_at(&loc, &place.ty);
        let new = self.combine(op, place, &old, (&operand, value));
        self.store_at(loc, new, &place.ty);
        LoweredValue::from_parts([])
    }

    /// Computes `old op operand`, cut to the bound of the place.
    fn combine(
        &mut self,
        op: BinaryOp,
        place: &Place,
        old: &LoweredValue,
        operand: (&LoweredValue, &Expr),
    ) -> LoweredValue {
        let (value, e) = operand;
        let ty = &place.ty;
        if ty.is_collection() {
            let form = if e.ty.is_collection() {
                MappedForm::Elementwise
            } else {
                MappedForm::CollectionScalar
            };
            let operands = [
                FunctionLowering::value_operand(old, ty),
                FunctionLowering::value_operand(value, &e.ty),
            ];
            return self.run_fallback(FallbackOp::Mapped(op, form), &operands, ty, place.pos);
        }
        if op == BinaryOp::Add && ty.is_string() {
            let mut pieces = StringPieces::default();
            for parts in [self.parts(old, ty), self.parts(value, &e.ty)] {
                self.push_piece(&mut pieces, parts, place.pos);
            }
            let joined = self.join_pieces(pieces, ty);
            return LoweredValue::from_parts(self.truncate_to_bound(joined, ty));
        }
        let divisor = match &e.kind {
            ExprKind::Const(value) => value.as_integer(),
            _ => None,
        };
        // A fault of the operation is one of the place.
        let whole = Expr {
            kind: ExprKind::CurrentPunct,
            ty: ty.clone(),
            pos: place.pos,
        };
        self.arithmetic(op, (old, ty), (value, &e.ty), divisor, &whole)
    }

    /// Lowers `++` and `--`; the value is that before or after the change, as `prefix` says.
    pub fn increment_or_decrement(
        &mut self,
        place: &Place,
        down: bool,
        prefix: bool,
    ) -> LoweredValue {
        let one = ops::one_of_type(&place.ty).unwrap_or(Value::Int64(1));
        let op = if down { BinaryOp::Sub } else { BinaryOp::Add };
        let keys = self.place_indices(place);
        let loc = self.locate(place, &keys);
        let old = self.read_at(&loc, &place.ty);
        let old = LoweredValue::from_parts(self.parts(&old, &place.ty));
        let one = self.constant(&one, &place.ty);
        let whole = Expr {
            kind: ExprKind::CurrentPunct,
            ty: place.ty.clone(),
            pos: place.pos,
        };
        let new = self.arithmetic(op, (&old, &place.ty), (&one, &place.ty), None, &whole);
        let new = LoweredValue::from_parts(self.parts(&new, &place.ty));
        self.store_at(loc, new.clone(), &place.ty);
        if prefix { new } else { old }
    }

    /// Evaluates the indices of a place.
    pub fn place_indices(&mut self, place: &Place) -> PlaceIndices {
        let indexes = place.steps.iter().filter_map(|step| match step {
            PlaceStep::Index(e) => Some(e),
            PlaceStep::Field(_) => None,
        });
        let indexes: Vec<&Expr> = indexes.collect();
        indexes
            .into_iter()
            .map(|e| (self.expr(e), e.ty.clone()))
            .collect()
    }

    /// If a place is the entry of a map: the map, its type, and the key.
    fn map_entry(
        &mut self,
        place: &Place,
        keys: &PlaceIndices,
    ) -> Option<(ir::Value, Type, LoweredValue)> {
        let (PlaceStep::Index(_), path) = place.steps.split_last()? else {
            return None;
        };
        let ty = self.type_at(place.root, path);
        if !ty.is_map() {
            return None;
        }
        let (key, keys) = keys.split_last()?;
        let PlaceLocation::Value(map) = self.walk(place.root, path, keys, place.pos) else {
            return None;
        };
        Some((map, ty, key.0.clone()))
    }

    /// Finds the location of a place. The code faults if the place does not exist.
    pub fn locate(&mut self, place: &Place, keys: &PlaceIndices) -> PlaceLocation {
        self.walk(place.root, &place.steps, keys, place.pos)
    }

    /// The type that steps lead to.
    fn type_at(&self, root: PlaceRoot, steps: &[PlaceStep]) -> Type {
        let mut ty = match root {
            PlaceRoot::Local(local) => self.body.types[local.0 as usize].clone(),
            PlaceRoot::State(state) => self.body.state_layout.ty(state).clone(),
        };
        for step in steps {
            ty = step_type(&ty, step);
        }
        ty
    }

    fn walk(
        &mut self,
        root: PlaceRoot,
        steps: &[PlaceStep],
        keys: &[(LoweredValue, Type)],
        pos: Pos,
    ) -> PlaceLocation {
        let mut loc = match root {
            PlaceRoot::Local(local) => match self.body.locals[local.0 as usize] {
                LocalStorage::Memory(at) => PlaceLocation::Value(at),
                _ => {
                    let fields = steps.iter().filter_map(|step| match step {
                        PlaceStep::Field(index) => Some(*index),
                        PlaceStep::Index(_) => None,
                    });
                    return PlaceLocation::Registers(local.0, fields.collect());
                }
            },
            PlaceRoot::State(state) => self.state_loc(state),
        };
        let mut ty = self.type_at(root, &[]);
        let mut keys = keys.iter();
        for step in steps {
            let PlaceLocation::Value(at) = loc else {
                unreachable!("a step into a scalar")
            };
            loc = match step {
                PlaceStep::Field(index) => {
                    let (to, offset) =
                        self.boxed_field((at, 0), *index as usize, AccessRegion::Values);
                    PlaceLocation::Value(self.offset(to, i64::from(offset)))
                }
                PlaceStep::Index(_) => {
                    let key = keys.next().expect("a key for each index").clone();
                    self.element_loc(at, &ty, &key, pos)
                }
            };
            ty = step_type(&ty, step);
        }
        loc
    }

    /// The address of a state variable that is a list or a set.
    pub fn collection_address(&mut self, variable: StateId) -> ir::Value {
        match self.state_loc(variable) {
            PlaceLocation::Value(at) => at,
            _ => unreachable!("a list or set is a value"),
        }
    }

    fn state_loc(&mut self, state: StateId) -> PlaceLocation {
        if let Some((table, home)) = self.body.state_layout.home(state) {
            return self.table_variable(table, home);
        }
        if let Some(variable) = self.cached_variable(state) {
            return PlaceLocation::Cached(variable);
        }
        let StateStorage::At {
            scalars, values, ..
        } = self.body.state
        else {
            unreachable!("state without storage")
        };
        if type_parts::is_scalar(self.body.state_layout.ty(state)) {
            return PlaceLocation::Slot(AccessRegion::Scalars, scalars, 16 * state.0 as i32);
        }
        let offset = i64::from(state.0) * i64::from(value_layout::VALUE_BYTES);
        PlaceLocation::Value(self.offset(values, offset))
    }

    /// An element of a list or blob, or the value of a key.
    fn element_loc(
        &mut self,
        at: ir::Value,
        ty: &Type,
        key: &(LoweredValue, Type),
        pos: Pos,
    ) -> PlaceLocation {
        let container = LoweredValue::of_variable(at);
        if let Type::Map(entry, _) = ty {
            let map = self.lowered_table(&container, ty);
            let found = self.map_get(&map, &key.0, &entry.0);
            let operands = [
                FunctionLowering::value_operand(&container, ty),
                FunctionLowering::value_operand(&key.0, &key.1),
            ];
            self.fault_if_zero(found, FallbackOp::Index, &operands, pos);
            return PlaceLocation::Value(found);
        }
        let (data, len) = self.boxed_vector((at, 0), ty, AccessRegion::Values);
        let word = self.index_word(&key.0, &key.1);
        self.check_index((&container, ty), (&key.0, &key.1), word, len, pos);
        match ty {
            Type::List(element, _) if type_parts::is_scalar(element) => {
                let at = self.element(data, word, type_parts::scalar_bytes(element));
                PlaceLocation::Slot(AccessRegion::Bytes, at, 0)
            }
            Type::List(..) => {
                PlaceLocation::Value(self.element(data, word, value_layout::VALUE_BYTES))
            }
            _ => {
                let at = self.element(data, word, 1);
                PlaceLocation::Slot(AccessRegion::Bytes, at, 0)
            }
        }
    }

    /// Reads the value at a location.
    pub fn read_at(&mut self, loc: &PlaceLocation, ty: &Type) -> LoweredValue {
        match loc {
            PlaceLocation::Slot(region, base, offset) => {
                LoweredValue::from_parts(self.load_slot(*region, *base, *offset, ty))
            }
            PlaceLocation::Value(at) => LoweredValue::of_variable(*at),
            PlaceLocation::Cached(variable) => {
                LoweredValue::from_part(self.builder.use_var(*variable))
            }
            PlaceLocation::Registers(local, fields) => {
                let mut value = self.read_local(graph::LocalId(*local));
                let mut ty = self.body.types[*local as usize].clone();
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
fn step_type(ty: &Type, step: &PlaceStep) -> Type {
    match (step, ty) {
        (PlaceStep::Field(index), Type::Tuple(t)) => t.attributes[*index as usize].ty.clone(),
        (PlaceStep::Index(_), Type::List(element, _)) => (**element).clone(),
        (PlaceStep::Index(_), Type::Map(entry, _)) => entry.1.clone(),
        _ => Type::Uint8,
    }
}
