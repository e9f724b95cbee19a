//! JSON into values.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use sonic_rs::{JsonValueTrait, LazyValue};

use super::super::parse_whole;
use super::failure::{JsonFailure, JsonNotes, parser_input};
use super::names::JsonNames;
use crate::{List, Map, Set, Timestamp, TupleType, Type, Value};

/// How JSON is read into values.
#[derive(Clone, Debug, Default)]
pub struct JsonOptions {
    /// Names of attributes in objects.
    pub names: JsonNames,
    /// Whether a value that does not fit its type counts as `null`, instead of being a failure.
    pub is_lenient: bool,
    /// Effect of `null` on an attribute that is not optional.
    pub null: JsonNull,
}

/// Effect of `null` on an attribute that is not optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonNull {
    /// The attribute becomes the default of its type.
    #[default]
    Default,
    /// The attribute stays as it is.
    Keep,
}

/// Reads a whole text into a value; bytes that are no UTF-8 count as U+FFFD. A tuple keeps the
/// attributes that the text does not have; any other value is replaced.
///
/// # Errors
/// If the text is not JSON, or a value in it does not fit its type.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::text::json::{JsonOptions, fill_json};
/// use thalweg_tuple::{TupleType, Type, Value};
///
/// let t = TupleType::new([("n", Type::Int32), ("name", Type::RString)]);
/// let ty = Type::Tuple(Arc::new(t));
/// let mut value = Value::Tuple([Value::Int32(1), Value::RString("one".into())].into());
/// fill_json(br#"{"n": 2, "other": [3]}"#, &ty, &mut value, &JsonOptions::default())?;
/// assert_eq!(value, Value::Tuple([Value::Int32(2), Value::RString("one".into())].into()));
/// # Ok::<(), thalweg_tuple::text::json::JsonFailure>(())
/// ```
pub fn fill_json(
    text: &[u8],
    ty: &Type,
    value: &mut Value,
    options: &JsonOptions,
) -> Result<(), JsonFailure> {
    let notes = JsonNotes::default();
    let seed = FillSeed {
        ty,
        value,
        reading: JsonReading {
            options,
            notes: &notes,
        },
    };
    let text = parser_input(text)?;
    let mut parser = sonic_rs::Deserializer::from_str(&text).utf8_lossy();
    let read = seed.deserialize(&mut parser).and_then(|()| parser.end());
    read.map_err(|error| JsonFailure::new(&error, text.as_bytes(), notes))
}

/// Options and notes that all visitors of a document share.
#[derive(Clone, Copy)]
pub(super) struct JsonReading<'a> {
    pub(super) options: &'a JsonOptions,
    pub(super) notes: &'a JsonNotes,
}

/// Reads into a value in place. The result is whether there was anything to take: not `null`.
struct FillSeed<'a> {
    ty: &'a Type,
    value: &'a mut Value,
    reading: JsonReading<'a>,
}

impl<'de> DeserializeSeed<'de> for FillSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let FillSeed { ty, value, reading } = self;
        let found = match (ty, &mut *value) {
            (Type::Tuple(t), Value::Tuple(values)) => {
                let seed = AttributesSeed { t, values, reading };
                from.deserialize_any(seed)?.then_some(None)
            }
            _ => ValueSeed { ty, reading }.deserialize(from)?.map(Some),
        };
        match found {
            Some(Some(found)) => *value = found,
            Some(None) => {}
            None if reading.options.null == JsonNull::Keep => {}
            None => *value = Value::default_of(ty),
        }
        Ok(())
    }
}

/// Reads an object into the attributes of a tuple; the result is whether it was one.
struct AttributesSeed<'a> {
    t: &'a TupleType,
    values: &'a mut [Value],
    reading: JsonReading<'a>,
}

impl AttributesSeed<'_> {
    fn no_object<E: Error>(&self, found: impl fmt::Display) -> Result<bool, E> {
        match self.reading.options.is_lenient {
            true => Ok(false),
            false => Err(self.reading.notes.no_object(found)),
        }
    }
}

impl<'de> Visitor<'de> for AttributesSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<bool, A::Error> {
        let (t, reading, mut next) = (self.t, self.reading, 0);
        while let Some(found) = entries.next_key_seed(KeySeed { t, reading, next })? {
            let Some(index) = found else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let attribute = &t.attributes[index];
            let seed = FillSeed {
                ty: &attribute.ty,
                value: &mut self.values[index],
                reading,
            };
            let read = entries.next_value_seed(seed);
            read.map_err(|error| reading.notes.within(&attribute.name, error))?;
            next = index + 1;
        }
        Ok(true)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<bool, E> {
        self.no_object(x)
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<bool, E> {
        self.no_object(x)
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<bool, E> {
        self.no_object(x)
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<bool, E> {
        self.no_object(x)
    }

    fn visit_str<E: Error>(self, x: &str) -> Result<bool, E> {
        self.no_object(x)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<bool, A::Error> {
        skip_array(elements)?;
        self.no_object("[")
    }
}

/// The index of the attribute that a key names, if one does.
pub(super) struct KeySeed<'a> {
    pub(super) t: &'a TupleType,
    pub(super) reading: JsonReading<'a>,
    pub(super) next: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<usize>, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Option<usize>, E> {
        Ok(self.reading.options.names.find(self.t, key, self.next))
    }
}

/// Reads a value of a type. `None`: it was `null`, and the type is not optional; or it did not fit,
/// and reading is lenient.
#[derive(Clone, Copy)]
pub(super) struct ValueSeed<'a> {
    pub(super) ty: &'a Type,
    pub(super) reading: JsonReading<'a>,
}

impl<'a> ValueSeed<'a> {
    fn of(self, ty: &'a Type) -> ValueSeed<'a> {
        ValueSeed { ty, ..self }
    }

    fn mismatch<E: Error>(&self, found: impl fmt::Display) -> Result<Option<Value>, E> {
        match self.reading.options.is_lenient {
            true => Ok(None),
            false => Err(self.reading.notes.mismatch(self.ty, found)),
        }
    }

    /// A string, or a number that is kept as text.
    fn text<E: Error>(self, text: &str) -> Result<Option<Value>, E> {
        if *self.ty == Type::UString {
            return Ok(Some(Value::UString(text.into())));
        }
        match parse_whole(text.as_bytes(), self.ty) {
            Ok(value) => Ok(Some(value)),
            Err(_) => self.mismatch(text),
        }
    }

    fn integer<E: Error>(self, x: i128) -> Result<Option<Value>, E> {
        if self.ty.is_string() {
            return self.text(&x.to_string());
        }
        match integer(self.ty, x) {
            Some(value) => Ok(Some(value)),
            None => self.mismatch(x),
        }
    }

    /// A number from the digits as they stand, which a float64 would round.
    fn digits<E: Error>(self, raw: &LazyValue<'_>) -> Result<Option<Value>, E> {
        match raw.as_str() {
            Some(text) => self.text(text),
            None if raw.is_null() => Ok(None),
            None => self.text(raw.as_raw_str()),
        }
    }
}

/// Whether numbers of a type are read from their digits.
pub(super) fn needs_digits(ty: &Type) -> bool {
    ty.is_decimal() || *ty == Type::Float32
}

/// The number in a type that has it; `None` if it is out of range, or the type has no numbers.
fn integer(ty: &Type, x: i128) -> Option<Value> {
    Some(match ty {
        Type::Int8 => Value::Int8(x.try_into().ok()?),
        Type::Int16 => Value::Int16(x.try_into().ok()?),
        Type::Int32 => Value::Int32(x.try_into().ok()?),
        Type::Int64 => Value::Int64(x.try_into().ok()?),
        Type::Uint8 => Value::Uint8(x.try_into().ok()?),
        Type::Uint16 => Value::Uint16(x.try_into().ok()?),
        Type::Uint32 => Value::Uint32(x.try_into().ok()?),
        Type::Uint64 => Value::Uint64(x.try_into().ok()?),
        Type::Float64 => Value::Float64(x as f64),
        Type::Timestamp => Value::Timestamp(Timestamp {
            seconds: x.try_into().ok()?,
            ..Timestamp::default()
        }),
        _ => return None,
    })
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<Value>, D::Error> {
        match self.ty {
            Type::Optional(t) => from.deserialize_option(OptionalSeed(self.of(t))),
            ty if needs_digits(ty) => {
                let raw: LazyValue<'_> = serde::Deserialize::deserialize(from)?;
                self.digits(&raw)
            }
            _ => from.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of type {}", self.ty)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, x: bool) -> Result<Option<Value>, E> {
        match self.ty {
            Type::Boolean => Ok(Some(Value::Boolean(x))),
            ty if ty.is_string() => self.text(if x { "true" } else { "false" }),
            _ => self.mismatch(x),
        }
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Option<Value>, E> {
        self.integer(x.into())
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Option<Value>, E> {
        self.integer(x.into())
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Option<Value>, E> {
        match self.ty {
            Type::Float64 => Ok(Some(Value::Float64(x))),
            ty if ty.is_string() => self.text(&x.to_string()),
            // Every whole number up to 2 to the power of 53 is a float of its own.
            ty if ty.is_integral() && x.trunc() == x && x.abs() <= 9007199254740992.0 => {
                self.integer(x as i128)
            }
            _ => self.mismatch(x),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Value>, E> {
        match self.ty {
            Type::List(..) | Type::Set(..) | Type::Map(..) | Type::Tuple(_) => self.mismatch(text),
            _ => self.text(text),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Option<Value>, A::Error> {
        let within = |len: usize, bound: &Option<u32>| bound.is_none_or(|n| len < n as usize);
        match self.ty {
            Type::List(t, bound) => {
                let mut list = List::new_for(t);
                while let Some(element) = elements.next_element_seed(self.of(t))? {
                    if let Some(element) = element
                        && within(list.len(), bound)
                    {
                        list.push(element);
                    }
                }
                Ok(Some(Value::List(list)))
            }
            Type::Set(t, bound) => {
                let mut set = Set::new();
                while let Some(element) = elements.next_element_seed(self.of(t))? {
                    if let Some(element) = element
                        && within(set.len(), bound)
                    {
                        set.insert(element);
                    }
                }
                Ok(Some(Value::Set(set)))
            }
            _ => {
                skip_array(elements)?;
                self.mismatch("[")
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Option<Value>, A::Error> {
        match self.ty {
            Type::Tuple(t) => {
                let mut values: Box<[Value]> = t
                    .attributes
                    .iter()
                    .map(|attribute| Value::default_of(&attribute.ty))
                    .collect();
                let seed = AttributesSeed {
                    t,
                    values: &mut values,
                    reading: self.reading,
                };
                seed.visit_map(entries)?;
                Ok(Some(Value::Tuple(values)))
            }
            Type::Map(kv, bound) => {
                let mut map = Map::new();
                while let Some(key) = entries.next_key::<String>()? {
                    let value = entries.next_value_seed(self.of(&kv.1))?;
                    let Some(key) = self.of(&kv.0).text(&key)? else {
                        continue;
                    };
                    if bound.is_none_or(|n| map.len() < n as usize) || map.contains(&key) {
                        map.insert(key, value.unwrap_or_else(|| Value::default_of(&kv.1)));
                    }
                }
                Ok(Some(Value::Map(map)))
            }
            _ => {
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                self.mismatch("{")
            }
        }
    }
}

/// Passes over an array that no type asked for.
fn skip_array<'de, A: SeqAccess<'de>>(mut elements: A) -> Result<(), A::Error> {
    while elements.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Reads an optional: `null`, or a value of its type.
struct OptionalSeed<'a>(ValueSeed<'a>);

impl<'de> Visitor<'de> for OptionalSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(Some(Value::Optional(None)))
    }

    fn visit_none<E: Error>(self) -> Result<Option<Value>, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<Value>, D::Error> {
        let value = self.0.deserialize(from)?;
        Ok(value.map(|value| Value::Optional(Some(Box::new(value)))))
    }
}
