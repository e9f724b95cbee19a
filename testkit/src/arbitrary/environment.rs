//! The types, ports and state variables of all generated programs.

use std::sync::Arc;

use graph::{HistoryDepths, InPort, SortKey, StateId, StateTable, StateVar};
use tuple::{EnumType, TupleType, Type};

/// All scalar types of SPL.
pub fn scalars() -> Vec<Type> {
    vec![
        Type::Int32,
        Type::Boolean,
        Type::Int64,
        Type::Float64,
        Type::Int8,
        Type::Int16,
        Type::Uint8,
        Type::Uint16,
        Type::Uint32,
        Type::Uint64,
        Type::Float32,
        Type::Decimal32,
        Type::Decimal64,
        Type::Decimal128,
        Type::Complex32,
        Type::Complex64,
        Type::Timestamp,
        color(),
    ]
}

/// Every type that variables have; the simplest first.
pub fn types() -> Vec<Type> {
    let mut types = scalars();
    types.extend([
        Type::RString,
        Type::UString,
        Type::BoundedRString(5),
        Type::Blob,
    ]);
    types.extend([
        list(Type::Int32),
        list(Type::RString),
        list(Type::Float64),
        list(Type::Boolean),
        list(Type::Uint8),
        list(pair()),
        list(optional(Type::Int64)),
        list(list(Type::Int16)),
        set(Type::Int32),
        set(Type::RString),
        map(Type::RString, Type::Int32),
        map(Type::Int32, list(Type::Int32)),
        map(Type::Int32, pair()),
        map(Type::RString, Type::Boolean),
        pair(),
        nested(),
        variable_size_tuple(),
        reordered_pair(),
        map(Type::RString, variable_size_tuple()),
        map(Type::RString, list(Type::RString)),
        optional(nested()),
        optional(Type::Int32),
        optional(Type::RString),
        optional(pair()),
        Type::List(Type::Int32.into(), Some(3)),
        Type::Set(Type::Int16.into(), Some(2)),
        Type::Map((Type::Int32, Type::Int32).into(), Some(2)),
    ]);
    types.extend(rare_types());
    types
}

/// Elements and keys that are stored in ways of their own, and xml.
fn rare_types() -> Vec<Type> {
    vec![
        Type::Xml(None),
        list(Type::UString),
        list(Type::Uint64),
        list(Type::Decimal64),
        list(Type::Timestamp),
        list(Type::BoundedRString(5)),
        list(color()),
        list(numbers()),
        list(map(Type::Int32, Type::Int32)),
        set(Type::Boolean),
        set(Type::Float64),
        set(Type::UString),
        set(color()),
        set(pair()),
        map(Type::Uint64, Type::Float32),
        map(Type::UString, Type::Int64),
        map(Type::Float64, Type::RString),
        map(Type::Timestamp, Type::Timestamp),
        map(pair(), Type::Int32),
        map(color(), set(Type::Int32)),
        numbers(),
        optional(list(Type::Int32)),
        optional(Type::Timestamp),
    ]
}

/// A tuple of fixed length, with gaps between its attributes.
fn numbers() -> Type {
    let attributes = [
        ("a", Type::Int8),
        ("b", Type::Float64),
        ("c", Type::Boolean),
        ("d", Type::Decimal128),
        ("e", color()),
    ];
    Type::Tuple(Arc::new(TupleType::new(attributes)))
}

fn color() -> Type {
    enumeration(&["red", "green", "blue"])
}

/// A few types of different storage.
fn few_types() -> [Type; 5] {
    [
        Type::Int32,
        Type::RString,
        list(Type::Int32),
        Type::Float64,
        pair(),
    ]
}

/// Two input ports with one tuple of history each: all types; a few types.
pub fn inputs() -> Vec<InPort> {
    vec![
        port("A", numbered("a", &types()), 1),
        port("B", numbered("b", &few_types()), 1),
    ]
}

/// The type of a tuple of input port 1.
pub fn small_input() -> Type {
    Type::Tuple(Arc::new(numbered("b", &few_types())))
}

/// The schemas of three output ports: the last has that of the first, which is that of input
/// port 1.
pub fn outputs() -> Vec<Arc<TupleType>> {
    let few = Arc::new(numbered("b", &few_types()));
    let all = Arc::new(numbered("p", &types()));
    vec![few.clone(), all, few]
}

/// A state variable of each type, then those of tables: one more of each type.
pub fn state() -> Vec<StateVar> {
    let vars = types().into_iter().chain(types()).enumerate();
    vars.map(|(at, ty)| StateVar {
        name: format!("s{at}").into(),
        ty,
        init: None,
    })
    .collect()
}

/// Three tables with keys and one without, to which the variables of tables belong in turn. That
/// without has a queue; one of the others knows which entry was not used for the longest time.
pub fn tables() -> Vec<StateTable> {
    let scalar_keys = [
        ("a", Type::Int32),
        ("b", Type::Float64),
        ("c", Type::Boolean),
    ];
    let other_keys = [
        ("a", Type::RString),
        ("b", Type::Decimal64),
        ("c", list(Type::Int32)),
        ("d", Type::Timestamp),
    ];
    let integer_keys = [
        ("a", Type::Boolean),
        ("b", Type::Int8),
        ("c", Type::Uint16),
        ("d", Type::Int32),
        ("e", color()),
        ("f", Type::Int64),
    ];
    let keys = [
        Some(TupleType::new(integer_keys)),
        Some(TupleType::new(scalar_keys)),
        Some(TupleType::new(other_keys)),
        None,
    ];
    let count = keys.len();
    let first = types().len();
    let tables = keys.into_iter().enumerate().map(|(table, key)| {
        let variables = (first..2 * first).filter(|at| at % count == table);
        let variables: Vec<StateId> = variables.map(|at| StateId(at as u32)).collect();
        let sort_keys = variables.iter().enumerate().map(|(at, variable)| SortKey {
            variable: *variable,
            is_descending: at % 2 == 1,
        });
        StateTable {
            name: format!("t{table}").into(),
            sort_keys: match key {
                Some(_) => Vec::new(),
                None => sort_keys.collect(),
            },
            by_use: table == 1,
            key: key.map(Arc::new),
            variables,
        }
    });
    tables.collect()
}

/// The type of `currentPunct()`.
pub fn punctuation_type() -> Type {
    enumeration(&["WindowMarker", "FinalMarker"])
}

fn pair() -> Type {
    let attributes = [
        ("n", Type::Int32),
        ("s", Type::RString),
        ("l", list(Type::Int32)),
    ];
    Type::Tuple(Arc::new(TupleType::new(attributes)))
}

/// The attributes of [`pair`] in another order.
fn reordered_pair() -> Type {
    let attributes = [
        ("l", list(Type::Int32)),
        ("s", Type::RString),
        ("n", Type::Int32),
    ];
    Type::Tuple(Arc::new(TupleType::new(attributes)))
}

/// An attribute of each kind that points elsewhere, or holds elements in its slot.
fn variable_size_tuple() -> Type {
    let attributes = [
        ("b", Type::Blob),
        ("u", Type::UString),
        ("x", Type::BoundedRString(5)),
        ("s", set(Type::RString)),
        ("f", Type::List(Type::Int32.into(), Some(3))),
        ("r", list(Type::RString)),
        ("p", pair()),
        ("q", optional(pair())),
        ("t", Type::Timestamp),
    ];
    Type::Tuple(Arc::new(TupleType::new(attributes)))
}

fn nested() -> Type {
    let inner = TupleType::new([("x", Type::Float64), ("b", Type::Boolean)]);
    let attributes = [
        ("inner", Type::Tuple(Arc::new(inner))),
        ("m", map(Type::RString, Type::Int32)),
        ("o", optional(Type::Int32)),
    ];
    Type::Tuple(Arc::new(TupleType::new(attributes)))
}

fn numbered(prefix: &str, types: &[Type]) -> TupleType {
    let attributes = types.iter().enumerate();
    TupleType::new(attributes.map(|(at, ty)| (format!("{prefix}{at}"), ty.clone())))
}

fn port(name: &str, schema: TupleType, history: u32) -> InPort {
    InPort {
        history: HistoryDepths::up_to(history),
        ..InPort::new(name, Arc::new(schema), Vec::new())
    }
}

fn enumeration(names: &[&str]) -> Type {
    let names = names.iter().map(|&name| name.into()).collect();
    Type::Enum(Arc::new(EnumType { names }))
}

fn list(element: Type) -> Type {
    Type::List(Arc::new(element), None)
}

fn set(element: Type) -> Type {
    Type::Set(Arc::new(element), None)
}

fn map(key: Type, value: Type) -> Type {
    Type::Map(Arc::new((key, value)), None)
}

fn optional(held: Type) -> Type {
    Type::Optional(Arc::new(held))
}
