//! The state variables of an operator.

use std::sync::Arc;

use graph::{StateId, StateTable, StateVar};
use tuple::{Type, Value};

use super::scalar_slot::{is_scalar, pack_scalar, unpack_scalar};
use super::state_memory::StateMemory;
use super::table_layouts::TableLayouts;
use super::table_state::TableState;

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
    memory: Arc<StateMemory>,
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
        let memory = Arc::default();
        State {
            // Zero bytes are the default of every scalar.
            scalars: vec![[0; 2]; types.len()],
            values: values.collect(),
            types,
            tables: layouts
                .map(|layouts| TableState::new(layouts, &memory))
                .collect(),
            memory,
            homes,
        }
    }

    /// Memory of all tables.
    pub fn memory(&self) -> &Arc<StateMemory> {
        &self.memory
    }

    /// Whether variables of a type lie in [`State::scalars`].
    pub fn is_scalar(ty: &Type) -> bool {
        is_scalar(ty)
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
}
