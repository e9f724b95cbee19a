//! The state variables of an operator.

use graph::{StateId, StateTable, StateVar};
use tuple::{Decimal32, Decimal64, Decimal128, Timestamp, Type, Value};

use super::table_state::{TableLayouts, TableState};

/// The state variables of one operator.
///
/// A scalar (boolean, number, timestamp, enum) lies in `scalars` as in a flat tuple's slot, native
/// byte order, low bytes first; everything else in `values`. Both are indexed by
/// [`graph::StateId`]; the other one's entry is unused, and both are for a variable of a table.
#[derive(Debug, Default)]
pub struct State {
    /// 16 bytes a variable.
    pub scalars: Vec<[u64; 2]>,
    /// A value a variable.
    pub values: Vec<Value>,
    /// The type of each variable.
    pub types: Vec<Type>,
    /// Tables of the operator, in the order of their declaration.
    pub tables: Vec<TableState>,
    /// For each variable of a table, the index of the table, and that of the variable in it.
    homes: Vec<Option<(usize, usize)>>,
}

impl State {
    /// Default values for all variables; their initializers run at start-up.
    pub fn new(vars: &[StateVar]) -> State {
        State::with_tables(vars, &[])
    }

    /// Default values for all variables, and tables without entries.
    pub fn with_tables(vars: &[StateVar], tables: &[StateTable]) -> State {
        let mut homes = vec![None; vars.len()];
        for (table, declared) in tables.iter().enumerate() {
            for (at, variable) in declared.variables.iter().enumerate() {
                homes[variable.0 as usize] = Some((table, at));
            }
        }
        let layouts = tables.iter().map(|table| TableLayouts::new(table, vars));
        let types: Vec<Type> = vars.iter().map(|v| v.ty.clone()).collect();
        let values = types.iter().map(Value::default_of);
        State {
            // Zero bytes are the default of every scalar.
            scalars: vec![[0; 2]; types.len()],
            values: values.collect(),
            types,
            tables: layouts.map(TableState::new).collect(),
            homes,
        }
    }

    /// Whether variables of a type lie in [`State::scalars`].
    pub fn is_scalar(ty: &Type) -> bool {
        ty.is_numeric() || matches!(ty, Type::Boolean | Type::Timestamp | Type::Enum(_))
    }

    /// The table of a variable that lives in one, and its index there.
    pub fn home(&self, var: StateId) -> Option<(&TableState, usize)> {
        let (table, variable) = self.homes[var.0 as usize]?;
        Some((&self.tables[table], variable))
    }

    /// A variable that is no scalar.
    pub fn value(&self, var: StateId) -> Option<&Value> {
        let at = var.0 as usize;
        match self.homes.get(at).copied().flatten() {
            Some((table, variable)) => self.tables[table].value(variable),
            None => self.values.get(at),
        }
    }

    /// A variable that is no scalar, for changes.
    pub fn value_mut(&mut self, var: StateId) -> Option<&mut Value> {
        let at = var.0 as usize;
        match self.homes.get(at).copied().flatten() {
            Some((table, variable)) => self.tables[table].value_mut(variable),
            None => self.values.get_mut(at),
        }
    }

    /// A variable's value, cloned.
    pub fn get(&self, var: StateId) -> Value {
        let at = var.0 as usize;
        if let Some((table, variable)) = self.homes[at] {
            return self.tables[table].get(variable);
        }
        if State::is_scalar(&self.types[at]) {
            unpack_scalar(&self.types[at], self.scalars[at])
        } else {
            self.values[at].clone()
        }
    }

    /// Sets a variable to a value of its type.
    pub fn set(&mut self, var: StateId, value: Value) {
        let at = var.0 as usize;
        debug_assert!(
            value.has_type(&self.types[at]),
            "{value:?}: {}",
            self.types[at]
        );
        if let Some((table, variable)) = self.homes[at] {
            return self.tables[table].set(variable, value);
        }
        match pack_scalar(&value) {
            Some(words) => self.scalars[at] = words,
            None => self.values[at] = value,
        }
    }
}

/// A scalar as in a flat tuple's slot; `None` for what is no scalar.
pub(super) fn pack_scalar(value: &Value) -> Option<[u64; 2]> {
    let mut slot = [0; 16];
    let mut put = |at: usize, bytes: &[u8]| slot[at..at + bytes.len()].copy_from_slice(bytes);
    match value {
        Value::Boolean(x) => put(0, &[u8::from(*x)]),
        Value::Int8(x) => put(0, &x.to_ne_bytes()),
        Value::Int16(x) => put(0, &x.to_ne_bytes()),
        Value::Int32(x) => put(0, &x.to_ne_bytes()),
        Value::Int64(x) => put(0, &x.to_ne_bytes()),
        Value::Uint8(x) => put(0, &x.to_ne_bytes()),
        Value::Uint16(x) => put(0, &x.to_ne_bytes()),
        Value::Uint32(x) | Value::Enum(x) => put(0, &x.to_ne_bytes()),
        Value::Uint64(x) => put(0, &x.to_ne_bytes()),
        Value::Float32(x) => put(0, &x.to_ne_bytes()),
        Value::Float64(x) => put(0, &x.to_ne_bytes()),
        Value::Decimal32(x) => put(0, &x.0.to_ne_bytes()),
        Value::Decimal64(x) => put(0, &x.0.to_ne_bytes()),
        Value::Decimal128(x) => return Some(x.0),
        Value::Complex32(re, im) => {
            put(0, &re.to_ne_bytes());
            put(4, &im.to_ne_bytes());
        }
        Value::Complex64(re, im) => return Some([re.to_bits(), im.to_bits()]),
        Value::Timestamp(x) => {
            put(0, &x.seconds.to_ne_bytes());
            put(8, &x.nanos.to_ne_bytes());
            put(12, &x.machine.to_ne_bytes());
        }
        _ => return None,
    }
    let word = |at| u64::from_ne_bytes(*slot[at..].first_chunk().expect("16 bytes"));
    Some([word(0), word(8)])
}

/// The scalar in a slot.
fn unpack_scalar(ty: &Type, words: [u64; 2]) -> Value {
    fn part<const N: usize>(words: [u64; 2], at: usize) -> [u8; N] {
        let mut slot = [0; 16];
        slot[..8].copy_from_slice(&words[0].to_ne_bytes());
        slot[8..].copy_from_slice(&words[1].to_ne_bytes());
        *slot[at..].first_chunk().expect("a part within 16 bytes")
    }
    match ty {
        Type::Boolean => Value::Boolean(part::<1>(words, 0) != [0]),
        Type::Int8 => Value::Int8(i8::from_ne_bytes(part(words, 0))),
        Type::Int16 => Value::Int16(i16::from_ne_bytes(part(words, 0))),
        Type::Int32 => Value::Int32(i32::from_ne_bytes(part(words, 0))),
        Type::Int64 => Value::Int64(i64::from_ne_bytes(part(words, 0))),
        Type::Uint8 => Value::Uint8(u8::from_ne_bytes(part(words, 0))),
        Type::Uint16 => Value::Uint16(u16::from_ne_bytes(part(words, 0))),
        Type::Uint32 => Value::Uint32(u32::from_ne_bytes(part(words, 0))),
        Type::Uint64 => Value::Uint64(u64::from_ne_bytes(part(words, 0))),
        Type::Enum(_) => Value::Enum(u32::from_ne_bytes(part(words, 0))),
        Type::Float32 => Value::Float32(f32::from_ne_bytes(part(words, 0))),
        Type::Float64 => Value::Float64(f64::from_ne_bytes(part(words, 0))),
        Type::Decimal32 => Value::Decimal32(Decimal32(u32::from_ne_bytes(part(words, 0)))),
        Type::Decimal64 => Value::Decimal64(Decimal64(words[0])),
        Type::Decimal128 => Value::Decimal128(Decimal128(words)),
        Type::Complex32 => {
            let number = |at| f32::from_ne_bytes(part(words, at));
            Value::Complex32(number(0), number(4))
        }
        Type::Complex64 => Value::Complex64(f64::from_bits(words[0]), f64::from_bits(words[1])),
        Type::Timestamp => Value::Timestamp(Timestamp {
            seconds: i64::from_ne_bytes(part(words, 0)),
            nanos: u32::from_ne_bytes(part(words, 8)),
            machine: i32::from_ne_bytes(part(words, 12)),
        }),
        other => Value::default_of(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_survive_their_slots() {
        let values = [
            (Type::Boolean, Value::Boolean(true)),
            (Type::Int8, Value::Int8(-3)),
            (Type::Uint16, Value::Uint16(65_535)),
            (Type::Int64, Value::Int64(i64::MIN)),
            (Type::Float32, Value::Float32(-0.5)),
            (Type::Complex32, Value::Complex32(1.5, -2.0)),
            (Type::Complex64, Value::Complex64(-1.5, 1e300)),
        ];
        let vars: Vec<StateVar> = values
            .iter()
            .map(|(ty, _)| StateVar {
                name: "v".into(),
                ty: ty.clone(),
                init: None,
            })
            .collect();
        let mut state = State::new(&vars);
        for (at, (ty, value)) in values.iter().enumerate() {
            let var = StateId(at as u32);
            assert_eq!(state.get(var), Value::default_of(ty));
            state.set(var, value.clone());
            assert_eq!(state.get(var), *value);
        }
    }

    #[test]
    fn timestamps_keep_the_machine() {
        let stamp = Timestamp {
            seconds: -7,
            nanos: 999_999_999,
            machine: -2,
        };
        let words = pack_scalar(&Value::Timestamp(stamp)).expect("a scalar");
        let Value::Timestamp(back) = unpack_scalar(&Type::Timestamp, words) else {
            panic!("not a timestamp");
        };
        assert_eq!(
            (back.seconds, back.nanos, back.machine),
            (-7, 999_999_999, -2)
        );
    }
}
