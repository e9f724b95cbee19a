//! Counts of every operator of a PE, from the counters of its ports.

use super::wiring::Wiring;
use crate::counters::punctuation_counters::PunctuationCounters;
use crate::services::report::OperatorCounts;

impl Wiring {
    pub(crate) fn operator_counts(&self) -> Vec<OperatorCounts> {
        let inputs = self.processed.iter().zip(&self.punctuation);
        let all = self.services.iter().zip(inputs).zip(&self.outs);
        let all = all.map(
            |((services, (processed, punctuation)), outs)| OperatorCounts {
                operator: services.name().clone(),
                processed: processed.iter().map(|counter| counter.get()).collect(),
                submitted: outs.iter().map(|out| out.submitted.get()).collect(),
                punctuation_in: punctuation.iter().map(PunctuationCounters::get).collect(),
                punctuation_out: outs.iter().map(|out| out.punctuation.get()).collect(),
                metrics: services.metrics(),
            },
        );
        all.collect()
    }
}
