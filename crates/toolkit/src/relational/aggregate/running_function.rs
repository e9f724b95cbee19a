//! Functions that need not see all values of a group at once: a running result stands for the
//! values.
//!
//! Each gives what the function of its name over a whole column gives ([`super::column`]), to the
//! bit: the same steps in the same order.

use std::cmp::Ordering;

use eval::Fault;
use tuple::{Map, Set, Type, Value};

use super::column::{count_values, distinct_list};
use super::moments::Moments;
use crate::function::number::{NumericScalar, WideNumber, numeric};

/// A function that takes the values of a group one by one.
pub trait RunningFunction: Send + Sync {
    /// Adds a tuple: the value of its first argument, and that of the second one if there is any.
    fn add(&mut self, value: Value, other: Option<Value>) -> Result<(), Fault>;
    /// The result for the tuples so far, at least one.
    fn result(&self) -> Result<Value, Fault>;
    /// Removes all tuples, for the next window.
    fn clear(&mut self);
}

/// The function of a name, by the types of its first argument and of its result. `None`: it needs
/// the whole column.
pub fn running_function(
    name: &str,
    argument: &Type,
    result: &Type,
) -> Option<Box<dyn RunningFunction>> {
    let is_list = matches!(argument, Type::List(..));
    Some(match name {
        "Any" | "Last" => Box::new(RunningChoice::new(ValueChoice::Last)),
        "First" => Box::new(RunningChoice::new(ValueChoice::First)),
        "Max" if !is_list => Box::new(RunningChoice::new(GREATEST)),
        "Min" if !is_list => Box::new(RunningChoice::new(LEAST)),
        "MaxCount" => Box::new(RunningChoiceCount::new(GREATEST)),
        "MinCount" => Box::new(RunningChoiceCount::new(LEAST)),
        "ArgMax" => Box::new(RunningChoiceArgument::new(GREATEST)),
        "ArgMin" => Box::new(RunningChoiceArgument::new(LEAST)),
        "CollectArgMax" => Box::new(RunningChoiceArguments::new(GREATEST, result)),
        "CollectArgMin" => Box::new(RunningChoiceArguments::new(LEAST, result)),
        "CountDistinct" => Box::new(RunningDistinct::new(
            |set, _| Value::Int32(set.len() as i32),
            result,
        )),
        "CollectDistinct" => Box::new(RunningDistinct::new(distinct_list, result)),
        "CountByDistinct" => Box::new(RunningCounts(Map::new())),
        _ if result.is_numeric() => numeric!(result, T => moment_function::<T>(name, result)?),
        _ => return None,
    })
}

/// Sums, means and deviations of the values.
fn moment_function<T: NumericScalar + 'static>(
    name: &str,
    ty: &Type,
) -> Option<Box<dyn RunningFunction>> {
    Some(match name {
        "Sum" => Box::new(RunningSum::<T>::new(false)),
        "Average" => Box::new(RunningSum::<T>::new(true)),
        "SampleStdDev" => Box::new(RunningDeviation::<T>::new(1, ty)),
        "PopulationStdDev" => Box::new(RunningDeviation::<T>::new(0, ty)),
        _ => return None,
    })
}

/// Rule by which one of two values is kept.
#[derive(Clone, Copy)]
enum ValueChoice {
    First,
    Last,
    /// The new one if it compares to the old one like this.
    Surpassing(fn(Ordering) -> bool),
}

const GREATEST: ValueChoice = ValueChoice::Surpassing(Ordering::is_gt);
const LEAST: ValueChoice = ValueChoice::Surpassing(Ordering::is_lt);

/// A function that keeps one of the values.
struct RunningChoice {
    choice: ValueChoice,
    value: Option<Value>,
}

impl RunningChoice {
    fn new(choice: ValueChoice) -> RunningChoice {
        let value = None;
        RunningChoice { choice, value }
    }

    /// Whether a value takes the place of what was chosen so far.
    fn prefers(&self, value: &Value) -> bool {
        match (self.choice, &self.value) {
            (_, None) | (ValueChoice::Last, _) => true,
            (ValueChoice::First, _) => false,
            (ValueChoice::Surpassing(surpasses), Some(best)) => {
                value.spl_cmp(best).is_some_and(surpasses)
            }
        }
    }
}

impl RunningFunction for RunningChoice {
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

/// Number of values that equal the chosen one.
struct RunningChoiceCount {
    best: RunningChoice,
    count: i32,
}

impl RunningChoiceCount {
    fn new(choice: ValueChoice) -> RunningChoiceCount {
        let best = RunningChoice::new(choice);
        RunningChoiceCount { best, count: 0 }
    }
}

impl RunningFunction for RunningChoiceCount {
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
struct RunningChoiceArgument {
    best: RunningChoice,
    other: Option<Value>,
}

impl RunningChoiceArgument {
    fn new(choice: ValueChoice) -> RunningChoiceArgument {
        let (best, other) = (RunningChoice::new(choice), None);
        RunningChoiceArgument { best, other }
    }
}

impl RunningFunction for RunningChoiceArgument {
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

/// The second arguments, without those that came before, of the tuples whose first one equals the
/// chosen one.
struct RunningChoiceArguments {
    best: RunningChoice,
    others: RunningDistinct,
}

impl RunningChoiceArguments {
    fn new(choice: ValueChoice, result: &Type) -> RunningChoiceArguments {
        RunningChoiceArguments {
            best: RunningChoice::new(choice),
            others: RunningDistinct::new(distinct_list, result),
        }
    }
}

impl RunningFunction for RunningChoiceArguments {
    fn add(&mut self, value: Value, other: Option<Value>) -> Result<(), Fault> {
        let is_new_best = self.best.prefers(&value);
        if is_new_best {
            self.others.clear();
        }
        let best = self.best.value.as_ref().filter(|_| !is_new_best);
        // A NaN does not equal itself.
        if value.spl_eq(best.unwrap_or(&value)) {
            self.others.add(other.ok_or_else(no_value)?, None)?;
        }
        if is_new_best {
            self.best.value = Some(value);
        }
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        self.others.result()
    }

    fn clear(&mut self) {
        self.best.clear();
        self.others.clear();
    }
}

/// The values without those that came before.
struct RunningDistinct {
    set: Set,
    to_result: fn(&Set, &Type) -> Value,
    ty: Type,
}

impl RunningDistinct {
    fn new(show: fn(&Set, &Type) -> Value, ty: &Type) -> RunningDistinct {
        let (set, ty) = (Set::new(), ty.clone());
        RunningDistinct {
            set,
            to_result: show,
            ty,
        }
    }
}

impl RunningFunction for RunningDistinct {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        self.set.insert(value);
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        Ok((self.to_result)(&self.set, &self.ty))
    }

    fn clear(&mut self) {
        self.set.clear();
    }
}

/// Number of occurrences of each value.
struct RunningCounts(Map);

impl RunningFunction for RunningCounts {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        super::column::count(&mut self.0, value);
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        Ok(count_values(&self.0))
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// A sum, or the quotient of it and the count.
struct RunningSum<T: NumericScalar> {
    sum: Option<T::Wide>,
    count: i64,
    is_divided: bool,
}

impl<T: NumericScalar> RunningSum<T> {
    fn new(is_divided: bool) -> RunningSum<T> {
        let (sum, count) = (None, 0);
        RunningSum {
            sum,
            count,
            is_divided,
        }
    }
}

impl<T: NumericScalar> RunningFunction for RunningSum<T> {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        let number = T::from_value(&value).widen();
        self.sum = Some(self.sum.map_or(number, |sum| sum.add(number)));
        self.count += 1;
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        let mut sum = self.sum.ok_or_else(no_value)?;
        if self.is_divided {
            sum = sum.div(WideNumber::from_i64(self.count))?;
        }
        Ok(T::narrow(sum).to_value())
    }

    fn clear(&mut self) {
        *self = RunningSum::new(self.is_divided);
    }
}

/// The standard deviation of a group's values.
struct RunningDeviation<T: NumericScalar> {
    moments: Option<Moments<T::Wide>>,
    /// The divisor of the variance is the count minus this.
    divisor_reduction: i64,
    ty: Type,
}

impl<T: NumericScalar> RunningDeviation<T> {
    fn new(divisor_reduction: i64, ty: &Type) -> RunningDeviation<T> {
        RunningDeviation {
            moments: None,
            divisor_reduction,
            ty: ty.clone(),
        }
    }
}

impl<T: NumericScalar> RunningFunction for RunningDeviation<T> {
    fn add(&mut self, value: Value, _: Option<Value>) -> Result<(), Fault> {
        let number = T::from_value(&value).widen();
        let moments = self.moments;
        self.moments = Some(moments.map_or_else(|| Moments::of(number), |all| all.add(number)));
        Ok(())
    }

    fn result(&self) -> Result<Value, Fault> {
        let moments = self.moments.ok_or_else(no_value)?;
        Ok(match moments.deviation(self.divisor_reduction) {
            Some(deviation) => T::narrow(deviation).to_value(),
            None => Value::default_of(&self.ty),
        })
    }

    fn clear(&mut self) {
        self.moments = None;
    }
}

#[cold]
pub fn no_value() -> Fault {
    Fault::value("a group without a tuple is summed up")
}

#[cfg(test)]
mod tests {
    use tuple::List;

    use super::super::column::column_function;
    use super::*;

    const OF_ANY: [&str; 14] = [
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
        "CollectArgMax",
        "CollectArgMin",
    ];

    const OF_NUMBERS: [&str; 4] = ["Sum", "Average", "SampleStdDev", "PopulationStdDev"];

    /// The type of a function's result.
    fn result(name: &str, argument: &Type) -> Type {
        match name {
            "MaxCount" | "MinCount" | "CountDistinct" => Type::Int32,
            "ArgMax" | "ArgMin" => Type::RString,
            "CollectDistinct" => Type::List(argument.clone().into(), None),
            "CountByDistinct" => Type::List(Type::Int32.into(), None),
            "CollectArgMax" | "CollectArgMin" => Type::List(Type::RString.into(), None),
            _ => argument.clone(),
        }
    }

    /// After each value, running functions give what functions over the column so far give.
    fn agree(ty: &Type, values: &[Value]) {
        let of_numbers = OF_NUMBERS.iter().filter(|_| ty.is_numeric());
        for name in OF_ANY.iter().chain(of_numbers) {
            let result = result(name, ty);
            let mut running = running_function(name, ty, &result).expect(name);
            for _ in 0..2 {
                let mut columns = [List::new_for(ty), List::new_for(&Type::RString)];
                for (at, value) in values.iter().enumerate() {
                    let other = Value::RString(format!("of {}", at % 3).as_str().into());
                    running.add(value.clone(), Some(other.clone())).expect(name);
                    columns[0].push(value.clone());
                    columns[1].push(other);
                    let whole = column_function(name).expect(name);
                    let whole = whole(&columns[0], &columns[1], &result).expect(name);
                    let results_text = format!("{:?}", running.result().expect(name));
                    assert_eq!(
                        results_text,
                        format!("{whole:?}"),
                        "{name} of {values:?} to {at}"
                    );
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
        let mut sum =
            running_function("Sum", &Type::Complex64, &Type::Complex64).expect("it exists");
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
            ("Sum", &Type::RString, &Type::RString),
            ("Sum", &list, &list),
            ("Max", &list, &list),
            ("Average", &list, &list),
        ] {
            assert!(running_function(name, argument, result).is_none(), "{name}");
        }
    }
}
