//! Functions over the values of a group, with one column for each argument, in the order of
//! arrival.
//!
//! A column is never empty: a group has at least one tuple. Functions of lists work element by
//! element, and fault on lists of different length.

use std::cmp::Ordering;

use eval::Fault;
use tuple::{List, Map, RString, Set, Type, UString, Value};

use super::moments::Moments;
use crate::function::number::{NumericScalar, WideNumber, numeric, total};

/// A function of one or two columns; the type is that of the result.
pub type ColumnFunction = fn(&List, &List, &Type) -> Result<Value, Fault>;

/// The function of a name.
pub fn column_function(name: &str) -> Option<ColumnFunction> {
    Some(match name {
        "Any" | "Last" => |v, _, _| Ok(element_at(v, v.len() - 1)),
        "First" => |v, _, _| Ok(element_at(v, 0)),
        "Collect" => |v, _, _| Ok(Value::List(v.clone())),
        "CollectDistinct" => |v, _, ty| Ok(distinct_list(&distinct_values(v.iter()), ty)),
        "CountDistinct" => |v, _, _| Ok(Value::Int32(distinct_values(v.iter()).len() as i32)),
        "CountByDistinct" => |v, _, _| Ok(count_by_distinct(v)),
        "Sum" => |v, _, ty| by_element(v, ty, &sum),
        "Average" => |v, _, ty| by_element(v, ty, &average),
        "Max" => |v, _, ty| {
            by_element(v, ty, &|v, _| {
                Ok(element_at(v, extreme(v, Ordering::is_gt)))
            })
        },
        "Min" => |v, _, ty| {
            by_element(v, ty, &|v, _| {
                Ok(element_at(v, extreme(v, Ordering::is_lt)))
            })
        },
        "MaxCount" => |v, _, _| Ok(extreme_count(v, Ordering::is_gt)),
        "MinCount" => |v, _, _| Ok(extreme_count(v, Ordering::is_lt)),
        "ArgMax" => |v, k, _| Ok(element_at(k, extreme(v, Ordering::is_gt))),
        "ArgMin" => |v, k, _| Ok(element_at(k, extreme(v, Ordering::is_lt))),
        "CollectArgMax" => |v, k, ty| Ok(collect_arg(v, k, ty, Ordering::is_gt)),
        "CollectArgMin" => |v, k, ty| Ok(collect_arg(v, k, ty, Ordering::is_lt)),
        "SampleStdDev" => |v, _, ty| by_element(v, ty, &|v, ty| deviation(v, ty, 1)),
        "PopulationStdDev" => |v, _, ty| by_element(v, ty, &|v, ty| deviation(v, ty, 0)),
        _ => return None,
    })
}

fn element_at(column: &List, index: usize) -> Value {
    column.get(index).expect("a group has at least one tuple")
}

fn distinct_values(values: impl Iterator<Item = Value>) -> Set {
    let mut set = Set::new();
    values.for_each(|value| {
        set.insert(value);
    });
    set
}

/// The elements of a set as a list of this type, in the order of their first coming.
pub fn distinct_list(values: &Set, ty: &Type) -> Value {
    let Type::List(element, _) = ty else {
        unreachable!("{ty} should be a list")
    };
    Value::List(List::from_values(element, values.iter().cloned()))
}

fn count_by_distinct(column: &List) -> Value {
    let mut map = Map::new();
    column.iter().for_each(|value| count(&mut map, value));
    count_values(&map)
}

/// Adds 1 to the count of a value.
pub fn count(counts: &mut Map, value: Value) {
    if let Value::Int32(n) = counts.get_or_insert_with(value, || Value::Int32(0)) {
        *n += 1;
    }
}

/// Counts of all values, in the order of their first occurrence.
pub fn count_values(counts: &Map) -> Value {
    Value::List(List::from_values(&Type::Int32, counts.values().cloned()))
}

/// Applies a function of scalars to a column of scalars, or to each position of a column of lists.
fn by_element(
    column: &List,
    ty: &Type,
    function: &dyn Fn(&List, &Type) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let (Type::List(element, _), Some(rows)) = (ty, column.as_values()) else {
        return function(column, ty);
    };
    let rows: Vec<&List> = rows.iter().filter_map(as_list).collect();
    let width = rows[0].len();
    if let Some(other) = rows.iter().find(|row| row.len() != width) {
        return Err(Fault::value(format!(
            "lists of {width} and of {} elements cannot be aggregated together",
            other.len()
        )));
    }
    let position = |at: usize| {
        let values = rows.iter().filter_map(|row| row.get(at));
        function(&List::from_values(element, values), element)
    };
    let values = (0..width).map(position).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::List(List::from_values(element, values)))
}

fn as_list(value: &Value) -> Option<&List> {
    if let Value::List(list) = value {
        Some(list)
    } else {
        None
    }
}

fn sum(column: &List, ty: &Type) -> Result<Value, Fault> {
    match ty {
        Type::RString | Type::BoundedRString(_) => {
            let mut text = Vec::new();
            column.iter().for_each(|value| {
                if let Value::RString(s) = value {
                    text.extend_from_slice(&s.0);
                }
            });
            Ok(eval::ops::truncate_to_bound(
                Value::RString(RString(text)),
                ty,
            ))
        }
        Type::UString => {
            let mut text = Vec::new();
            column.iter().for_each(|value| {
                if let Value::UString(s) = value {
                    text.extend_from_slice(&s.0);
                }
            });
            Ok(Value::UString(UString(text)))
        }
        _ => Ok(numeric!(ty, T => T::narrow(total(numbers::<T>(column))).to_value())),
    }
}

fn numbers<T: NumericScalar>(column: &List) -> &[T] {
    column.as_slice().unwrap_or_default()
}

/// The sum divided by the count: of integers the exact mean, cut off.
fn average(column: &List, ty: &Type) -> Result<Value, Fault> {
    numeric!(ty, T => {
        let numbers = numbers::<T>(column);
        let count = WideNumber::from_i64(numbers.len() as i64);
        Ok(T::narrow(total(numbers).div(count)?).to_value())
    })
}

/// In the type of the values: for integers the running mean is cut off.
fn deviation(column: &List, ty: &Type, divisor_reduction: i64) -> Result<Value, Fault> {
    numeric!(ty, T => {
        let mut numbers = numbers::<T>(column).iter().map(|number| number.widen());
        let moments = numbers.next().map(Moments::of);
        let moments = moments.map(|first| numbers.fold(first, Moments::add));
        Ok(match moments.and_then(|all| all.deviation(divisor_reduction)) {
            Some(deviation) => T::narrow(deviation).to_value(),
            None => Value::default_of(ty),
        })
    })
}

/// Index of the first value that no other surpasses.
fn extreme(column: &List, surpasses: impl Fn(Ordering) -> bool + Copy) -> usize {
    match column {
        List::Int32(numbers) => return extreme_number(numbers, surpasses),
        List::Int64(numbers) => return extreme_number(numbers, surpasses),
        List::Uint32(numbers) => return extreme_number(numbers, surpasses),
        List::Uint64(numbers) => return extreme_number(numbers, surpasses),
        List::Float32(numbers) => return extreme_number(numbers, surpasses),
        List::Float64(numbers) => return extreme_number(numbers, surpasses),
        _ => {}
    }
    let mut best = (0, element_at(column, 0));
    for (index, value) in column.iter().enumerate().skip(1) {
        if value.spl_cmp(&best.1).is_some_and(surpasses) {
            best = (index, value);
        }
    }
    best.0
}

/// [`extreme`] of the most frequent types, without wrapping each number nor calling the comparison.
fn extreme_number<T: PartialOrd>(
    numbers: &[T],
    surpasses: impl Fn(Ordering) -> bool + Copy,
) -> usize {
    let mut best = 0;
    for (index, number) in numbers.iter().enumerate().skip(1) {
        if number.partial_cmp(&numbers[best]).is_some_and(surpasses) {
            best = index;
        }
    }
    best
}

/// Indices of all values that equal the extreme one.
fn extremes(
    column: &List,
    surpasses: impl Fn(Ordering) -> bool + Copy,
) -> impl Iterator<Item = usize> {
    let best = element_at(column, extreme(column, surpasses));
    let values = column.iter().enumerate();
    values
        .filter(move |(_, value)| value.spl_eq(&best))
        .map(|(index, _)| index)
}

fn extreme_count(column: &List, surpasses: impl Fn(Ordering) -> bool + Copy) -> Value {
    Value::Int32(extremes(column, surpasses).count() as i32)
}

fn collect_arg(
    column: &List,
    of: &List,
    ty: &Type,
    surpasses: impl Fn(Ordering) -> bool + Copy,
) -> Value {
    let found = extremes(column, surpasses).map(|index| element_at(of, index));
    distinct_list(&distinct_values(found), ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(name: &str, values: &List, ty: &Type) -> Value {
        column_function(name).expect("it exists")(values, values, ty).expect("it does not fault")
    }

    #[test]
    fn integers_are_averaged_exactly_and_cut_off() {
        let column = List::Int64(vec![i64::MAX, i64::MAX, i64::MAX - 1]);
        assert_eq!(
            apply("Average", &column, &Type::Int64),
            Value::Int64(i64::MAX - 1)
        );
        let column = List::Int32(vec![-3, -4]);
        assert_eq!(apply("Average", &column, &Type::Int32), Value::Int32(-3));
    }

    #[test]
    fn deviations_of_integers_stay_integers() {
        let column = List::Int32(vec![2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(
            apply("PopulationStdDev", &column, &Type::Int32),
            Value::Int32(2)
        );
        assert_eq!(
            apply("SampleStdDev", &List::Int32(vec![7]), &Type::Int32),
            Value::Int32(0)
        );
    }

    #[test]
    fn deviations_of_floats() {
        let column = List::Float64(vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        let Value::Float64(population) = apply("PopulationStdDev", &column, &Type::Float64) else {
            panic!("a float64 is meant")
        };
        assert!((population - 2.0).abs() < 1e-12);
    }

    #[test]
    fn extremes_are_counted_and_located() {
        let column = List::Int32(vec![3, 1, 3, 2]);
        let names = ["a", "b", "c", "d"].map(|s| Value::RString(RString::from(s)));
        let names = List::from_values(&Type::RString, names);
        let with =
            |name: &str, ty: &Type| column_function(name).unwrap()(&column, &names, ty).unwrap();
        assert_eq!(with("MaxCount", &Type::Int32), Value::Int32(2));
        assert_eq!(with("MinCount", &Type::Int32), Value::Int32(1));
        assert_eq!(with("ArgMax", &Type::RString), Value::RString("a".into()));
        assert_eq!(with("ArgMin", &Type::RString), Value::RString("b".into()));
    }

    #[test]
    fn distinct_values_keep_their_order() {
        let column = List::Int32(vec![5, 2, 5, 5, 2, 9]);
        let ty = Type::List(Type::Int32.into(), None);
        let list = |v: &[i32]| Value::List(List::Int32(v.to_vec()));
        assert_eq!(apply("CollectDistinct", &column, &ty), list(&[5, 2, 9]));
        assert_eq!(apply("CountByDistinct", &column, &ty), list(&[3, 2, 1]));
        assert_eq!(
            apply("CountDistinct", &column, &Type::Int32),
            Value::Int32(3)
        );
    }

    #[test]
    fn lists_are_aggregated_position_by_position() {
        let row = |v: &[i32]| Value::List(List::Int32(v.to_vec()));
        let column = List::Any(vec![row(&[1, 10]), row(&[2, 30])]);
        let ty = Type::List(Type::Int32.into(), None);
        assert_eq!(apply("Sum", &column, &ty), row(&[3, 40]));
        assert_eq!(apply("Max", &column, &ty), row(&[2, 30]));
        let uneven = List::Any(vec![row(&[1, 10]), row(&[2])]);
        assert!(column_function("Sum").unwrap()(&uneven, &uneven, &ty).is_err());
    }
}
