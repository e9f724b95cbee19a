//! Samples of one thread, counted by operator.

use std::collections::HashMap;

use runtime::abi::OperatorCodeRange;
use runtime::{CpuSample, RunningOperator};

/// The operators whose code lies at an address.
#[derive(Debug)]
pub struct CodeAddresses {
    /// In order of their addresses; no two overlap.
    ranges: Vec<OperatorCodeRange>,
}

impl CodeAddresses {
    /// The operators of these ranges, in any order.
    pub fn new(mut ranges: Vec<OperatorCodeRange>) -> CodeAddresses {
        ranges.sort_by_key(|range| range.addresses.start);
        CodeAddresses { ranges }
    }

    fn operator_at(&self, address: usize) -> Option<u32> {
        let behind = self
            .ranges
            .partition_point(|range| range.addresses.start <= address);
        let range = self.ranges[..behind].last()?;
        range.addresses.contains(&address).then_some(range.operator)
    }
}

/// Numbers of a thread's samples.
#[derive(Debug, Default)]
pub struct SampleCounts {
    /// Samples in each operator.
    pub operators: HashMap<u32, u64>,
    /// Samples while the thread waited for others.
    pub polling: u64,
    /// Samples that no operator is known of.
    pub unknown: u64,
}

impl SampleCounts {
    /// Counts a sample of the thread.
    pub fn count(&mut self, sample: CpuSample, code: &CodeAddresses) {
        let compiled = code.operator_at(sample.instruction);
        let operator = compiled.or_else(|| RunningOperator::operator(sample.running));
        match operator {
            None => self.unknown += 1,
            Some(_) if compiled.is_none() && RunningOperator::is_waiting(sample.running) => {
                self.polling += 1;
            }
            Some(operator) => *self.operators.entry(operator).or_default() += 1,
        }
    }

    /// Number of all samples.
    pub fn total(&self) -> u64 {
        self.operators.values().sum::<u64>() + self.polling + self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_code_is_its_operators_and_all_else_what_the_thread_says() {
        let range = |addresses, operator| OperatorCodeRange {
            addresses,
            operator,
        };
        let code = CodeAddresses::new(vec![range(200..300, 2), range(100..180, 1)]);
        let running = RunningOperator::default();
        let mut counts = SampleCounts::default();
        let mut look = |instruction, running: &RunningOperator| {
            counts.count(
                CpuSample {
                    instruction,
                    running: running.word(),
                },
                &code,
            );
        };
        look(150, &running);
        look(180, &running);
        running.set(7);
        look(299, &running);
        look(300, &running);
        running.set_waiting(true);
        look(0, &running);
        look(200, &running);
        assert_eq!(counts.operators, HashMap::from([(1, 1), (2, 2), (7, 1)]));
        assert_eq!((counts.polling, counts.unknown, counts.total()), (1, 1, 6));
    }
}
