//! Functions that need not see all values of a group at once: what they have come to so far stands in
//! place of the values.
//!
//! Each gives what the function of its name over a whole column gives ([`super::column`]), to the bit:
//! the same steps in the same order.

use std::cmp::Ordering;

use graph::Fault;
use tuple::{Map, Set, Type, Value};

use super::column::{counts, distinct_list};
use crate::function::number::{Number, Wide, numeric};

/// A function on its way through the values of a group.
pub trait Running: Send + Sync {
    /// One more tuple: the value of the first argument, and that of the second one if there is any.
    fn add(&mut self, value: Value, other: Option<Value>) -> Result<(), Fault>;
    /// The result for the tuples so far; there is at least one.
    fn result(&self) -> Result<Value, Fault>;
    /// Begins anew.
    fn clear(&mut self);
}

/// The function of a name, by the types of its first argument and of its result. `None`: it needs the
/// whole column.
pub fn running(name: &str, argument: &Type, result: &Type) -> Option<Box<dyn Running>> {
    let is_list = matches!(argument, Type::List(..));
    Some(match name {
        "Any" | "Last" => Box::new(Chosen::by(Choice::Last)),
        "First" => Box::new(Chosen::by(Choice::First)),
        "Max" if !is_list => Box::new(Chosen::by(GREATEST)),
        "Min" if !is_list => Box::new(Chosen::by(LEAST)),
        "MaxCount" => Box::new(Alike::of(GREATEST)),
        "MinCount" => Box::new(Alike::of(LEAST)),
        "ArgMax" => Box::new(Argument::of(GREATEST)),
        "ArgMin" => Box::new(Argument::of(LEAST)),
        "CountDistinct" => Box::new(Distinct::new(
            |set, _| Value::Int32(set.len() as i32),
            result,
        )),
        "CollectDistinct" => Box::new(Distinct::new(distinct_list, result)),
        "CountByDistinct" => Box::new(Frequencies(Map::new())),
        _ if result.is_numeric() => numeric!(result, T => moment::<T>(name, result)?),
        _ => return None,
    })
}

/// Sums and what is made of them.
fn moment<T: Number + 'static>(name: &str, ty: &Type) -> Option<Box<dyn Running>>
where
    T::Wide: Send + Sync,
{
    Some(match name {
        "Sum" => Box::new(Sum::<T>::new(false)),
        "Average" if ty.is_float() => Box::new(Moving::<T>::new(Moment::Mean, ty)),
        "Average" => Box::new(Sum::<T>::new(true)),
        "SampleStdDev" => Box::new(Moving::<T>::new(Moment::Deviation { less: 1 }, ty)),
        "PopulationStdDev" => Box::new(Moving::<T>::new(Moment::Deviation { less: 0 }, ty)),
        _ => return None,
    })
}

/// Which value stays of two.
#[derive(Clone, Copy)]
enum Choice {
    First,
    Last,
    /// The new one if it compares to the old one like this.
    Surpassing(fn(Ordering) -> bool),
}

const GREATEST: Choice = Choice::Surpassing(Ordering::is_gt);
const LEAST: Choice = Choice::Surpassing(Ordering::is_lt);

/// One of the values.
struct Chosen {
    choice: Choice,
    value: Option<Value>,
}

impl Chosen {
    fn by(choice: Choice) -> Chosen {
        let value = None;
        Chosen { choice, value }
    }

    /// Whether a value takes the place of what was chosen so far.
    fn prefers(&self, value: &Value) -> bool {
        match (self.choice, &self.value) {
            (_, None) | (Choice::Last, _) => true,
            (Choice::First, _) => false,
            (Choice::Surpassing(surpasses), Some(best)) => {
                value.spl_cmp(best).is_some_and(surpasses)
            }
        }
    }
}

impl Running for Chosen {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        if self.prefers(&value) {
            self.value = Some(value);
        }
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        self.value.clone().ok_or_else(no_value)
    }

    fn clear(&mut self) {
        self.value = None;
    }
}

/// How many values equal the one that is chosen.
struct Alike {
    best: Chosen,
    count: i32,
}

impl Alike {
    fn of(choice: Choice) -> Alike {
        let best = Chosen::by(choice);
        Alike { best, count: 0 }
    }
}

impl Running for Alike {
    fn add(&mut self, value: Value, other: Option<Value>) -> Result<(), Fault> {
        if self.best.prefers(&value) {
            self.best.add(value.clone(), other)?;
            self.count = 0;
        }
        // A NaN does not equal itself.
        let is_alike = self
            .best
            .value
            .as_ref()
            .is_some_and(|best| value.spl_eq(best));
        self.count += i32::from(is_alike);
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        Ok(Value::Int32(self.count))
    }

    fn clear(&mut self) {
        self.best.clear();
        self.count = 0;
    }
}

/// The second argument of the tuple whose first one is chosen.
struct Argument {
    best: Chosen,
    other: Option<Value>,
}

impl Argument {
    fn of(choice: Choice) -> Argument {
        let (best, other) = (Chosen::by(choice), None);
        Argument { best, other }
    }
}

impl Running for Argument {
    fn add(&mut self, value: Value, other: Option<Value>) -> Result<(), Fault> {
        if self.best.prefers(&value) {
            self.other = other;
            self.best.add(value, None)?;
        }
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        self.other.clone().ok_or_else(no_value)
    }

    fn clear(&mut self) {
        self.best.clear();
        self.other = None;
    }
}

/// The values without those that came before.
struct Distinct {
    set: Set,
    show: fn(&Set, &Type) -> Value,
    ty: Type,
}

impl Distinct {
    fn new(show: fn(&Set, &Type) -> Value, ty: &Type) -> Distinct {
        let (set, ty) = (Set::new(), ty.clone());
        Distinct { set, show, ty }
    }
}

impl Running for Distinct {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        self.set.insert(value);
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        Ok((self.show)(&self.set, &self.ty))
    }

    fn clear(&mut self) {
        self.set.clear();
    }
}

/// How often each value came.
struct Frequencies(Map);

impl Running for Frequencies {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        super::column::count(&mut self.0, value);
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        Ok(counts(&self.0))
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// A sum, or the quotient of it and the count.
struct Sum<T: Number> {
    sum: Option<T::Wide>,
    count: i64,
    is_divided: bool,
}

impl<T: Number> Sum<T> {
    fn new(is_divided: bool) -> Sum<T> {
        let (sum, count) = (None, 0);
        Sum {
            sum,
            count,
            is_divided,
        }
    }
}

impl<T: Number> Running for Sum<T>
where
    T::Wide: Send + Sync,
{
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        let number = T::of(&value).widen();
        self.sum = Some(self.sum.map_or(number, |sum| sum.add(number)));
        self.count += 1;
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        let mut sum = self.sum.ok_or_else(no_value)?;
        if self.is_divided {
            sum = sum.div(Wide::from_i64(self.count))?;
        }
        Ok(T::narrow(sum).value())
    }

    fn clear(&mut self) {
        *self = Sum::new(self.is_divided);
    }
}

/// What a moving mean leads to.
#[derive(Clone, Copy)]
enum Moment {
    Mean,
    /// The divisor is so much less than the count.
    Deviation {
        less: i64,
    },
}

/// The mean as it moves with each value, and Knuth's update of the squares of the differences from it.
struct Moving<T: Number> {
    moment: Moment,
    count: i64,
    mean: T::Wide,
    squares: T::Wide,
    ty: Type,
}

impl<T: Number> Moving<T> {
    fn new(moment: Moment, ty: &Type) -> Moving<T> {
        let zero: T::Wide = Wide::from_i64(0);
        let (mean, squares) = (zero, zero);
        Moving {
            moment,
            count: 0,
            mean,
            squares,
            ty: ty.clone(),
        }
    }
}

impl<T: Number> Running for Moving<T>
where
    T::Wide: Send + Sync,
{
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        let number = T::of(&value).widen();
        self.count += 1;
        if self.count == 1 {
            self.mean = number;
            self.squares = number.sub(number);
            return Ok(());
        }
        let delta = number.sub(self.mean);
        self.mean = self.mean.add(delta.div(Wide::from_i64(self.count))?);
        if let Moment::Deviation { .. } = self.moment {
            self.squares = self.squares.add(delta.mul(number.sub(self.mean)));
        }
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        let Moment::Deviation { less } = self.moment else {
            return Ok(T::narrow(self.mean).value());
        };
        let divisor = self.count - less;
        if divisor < 1 {
            return Ok(Value::default_of(&self.ty));
        }
        let variance = self.squares.div(Wide::from_i64(divisor))?;
        Ok(T::narrow(variance.sqrt()).value())
    }

    fn clear(&mut self) {
        *self = Moving::new(self.moment, &self.ty);
    }
}

#[cold]
pub fn no_value() -> Fault {
    Fault::value("a group without a tuple is summed up")
}

#[cfg(test)]
mod tests {
    use super::super::column::function;
    use super::*;
    use tuple::List;

    const OF_ANY: [&str; 12] = [
        "Any",
        "Last",
        "First",
        "Max",
        "Min",
        "MaxCount",
        "MinCount",
        "ArgMax",
        "ArgMin",
        "CountDistinct",
        "CollectDistinct",
        "CountByDistinct",
    ];

    const OF_NUMBERS: [&str; 4] = ["Sum", "Average", "SampleStdDev", "PopulationStdDev"];

    /// The type of a function's result.
    fn result(name: &str, argument: &Type) -> Type {
        match name {
            "MaxCount" | "MinCount" | "CountDistinct" => Type::Int32,
            "ArgMax" | "ArgMin" => Type::RString,
            "CollectDistinct" => Type::List(argument.clone().into(), None),
            "CountByDistinct" => Type::List(Type::Int32.into(), None),
            _ => argument.clone(),
        }
    }

    /// After each value, running functions give what functions over the column so far give.
    fn agree(ty: &Type, values: &[Value]) {
        let of_numbers = OF_NUMBERS.iter().filter(|_| ty.is_numeric());
        for name in OF_ANY.iter().chain(of_numbers) {
            let result = result(name, ty);
            let mut running = running(name, ty, &result).expect(name);
            for _ in 0..2 {
                let mut columns = [List::new_for(ty), List::new_for(&Type::RString)];
                for (at, value) in values.iter().enumerate() {
                    let other = Value::RString(format!("of {at}").as_str().into());
                    running.add(value.clone(), Some(other.clone())).expect(name);
                    columns[0].push(value.clone());
                    columns[1].push(other);
                    let whole = function(name).expect(name);
                    let whole = whole(&columns[0], &columns[1], &result).expect(name);
                    let shown = format!("{:?}", running.result().expect(name));
                    assert_eq!(shown, format!("{whole:?}"), "{name} of {values:?} to {at}");
                }
                running.clear();
            }
        }
    }

    #[test]
    fn integers() {
        agree(&Type::Int8, &[7, -128, 7, 127, 127, -128].map(Value::Int8));
        let most = [u64::MAX, 1, u64::MAX, 0, 5];
        agree(&Type::Uint64, &most.map(Value::Uint64));
        let least = [i64::MIN, i64::MIN, 3, i64::MAX, -4];
        agree(&Type::Int64, &least.map(Value::Int64));
    }

    #[test]
    fn floats_with_what_is_no_number() {
        let numbers = [0.1, 0.2, -0.0, 1e300, 0.3, 1e300];
        agree(&Type::Float64, &numbers.map(Value::Float64));
        let odd = [f32::NAN, 2.5, f32::INFINITY, f32::NAN, -1.0];
        agree(&Type::Float32, &odd.map(Value::Float32));
        let odd = [-0.0, f64::NAN, 3.0, 3.0, 0.0];
        agree(&Type::Float64, &odd.map(Value::Float64));
    }

    #[test]
    fn decimals_and_complex_numbers() {
        let numbers = [1, 3, -7, 3].map(tuple::Decimal64::from_i64);
        agree(&Type::Decimal64, &numbers.map(Value::Decimal64));
        let numbers = [(1.0, 2.0), (0.5, -2.0), (1.0, 2.0)];
        let numbers = numbers.map(|(re, im)| Value::Complex64(re, im));
        let mut sum = running("Sum", &Type::Complex64, &Type::Complex64).expect("it exists");
        for number in numbers {
            sum.add(number, None).expect("no fault");
        }
        assert_eq!(sum.result(), Ok(Value::Complex64(2.5, 2.0)));
    }

    #[test]
    fn texts_and_truth() {
        let texts = ["b", "", "ab", "b", "c", "c"];
        agree(&Type::RString, &texts.map(|s| Value::RString(s.into())));
        agree(
            &Type::Boolean,
            &[false, true, true, false].map(Value::Boolean),
        );
    }

    #[test]
    fn functions_that_need_all_values_do_not_run() {
        let list = Type::List(Type::Int32.into(), None);
        for (name, argument, result) in [
            ("Collect", &Type::Int32, &list),
            ("CollectArgMax", &Type::Int32, &list),
            ("Sum", &Type::RString, &Type::RString),
            ("Sum", &list, &list),
            ("Max", &list, &list),
            ("Average", &list, &list),
        ] {
            assert!(running(name, argument, result).is_none(), "{name}");
        }
    }
}
