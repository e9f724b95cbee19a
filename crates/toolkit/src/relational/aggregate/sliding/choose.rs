//! Which sliding function serves a call.

use super::blocked::{BlockedDeviation, BlockedSum};
use super::distinct::SlidingDistinctCount;
use super::extreme::{ExtremeResult, SlidingExtreme};
use super::first_last::{SlidingFirst, SlidingLast};
use super::sliding_function::SlidingFunction;
use super::sliding_sum::SlidingSum;
use super::whole_column::WholeColumnFunction;
use crate::function::number::numeric;
use crate::relational::aggregate::grouping::ColumnCall;

/// The function for a call in a window that slides, before its first tuple.
pub fn sliding_function(function: &ColumnCall) -> Box<dyn SlidingFunction> {
    let argument = &function.arguments[0];
    if !argument.is_numeric() || argument.is_integral() {
        return one_time_function(function);
    }
    numeric!(argument, T => match &*function.name {
        "Sum" => Box::new(BlockedSum::<T>::new(false)),
        "Average" => Box::new(BlockedSum::<T>::new(true)),
        "SampleStdDev" => Box::new(BlockedDeviation::<T>::new(argument, 1)),
        "PopulationStdDev" => Box::new(BlockedDeviation::<T>::new(argument, 0)),
        _ => one_time_function(function),
    })
}

/// The function for a call in a window that fires once, before its first tuple. Its result is that
/// of the function of its name over the whole column, to the bit.
pub fn one_time_function(function: &ColumnCall) -> Box<dyn SlidingFunction> {
    let argument = &function.arguments[0];
    let extreme = |greatest, result_kind| Box::new(SlidingExtreme::new(greatest, result_kind));
    match &*function.name {
        "Any" | "Last" => Box::new(SlidingLast::default()),
        "First" => Box::new(SlidingFirst::new(argument)),
        "CountDistinct" => Box::new(SlidingDistinctCount::new(argument)),
        "Max" if argument.is_ordered() => extreme(true, ExtremeResult::Value),
        "Min" if argument.is_ordered() => extreme(false, ExtremeResult::Value),
        "MaxCount" if argument.is_ordered() => extreme(true, ExtremeResult::Count),
        "MinCount" if argument.is_ordered() => extreme(false, ExtremeResult::Count),
        "ArgMax" if argument.is_ordered() => extreme(true, ExtremeResult::Argument),
        "ArgMin" if argument.is_ordered() => extreme(false, ExtremeResult::Argument),
        name @ ("Sum" | "Average") if argument.is_integral() => {
            let is_divided = name == "Average";
            numeric!(argument, T => Box::new(SlidingSum::<T>::new(argument, is_divided)))
        }
        _ => Box::new(WholeColumnFunction::new(function)),
    }
}
