//! Rates of phases, from the lines that the operators of a run have printed.

use std::collections::BTreeMap;

/// Tuples a second of all operators together, by phase, in the last part of each.
#[derive(Debug, PartialEq)]
pub struct PhaseRates(pub Vec<f64>);

impl PhaseRates {
    /// Reads lines `phase NUMBER NS` and `count OPERATOR NS TUPLES`. The part of a phase begins
    /// `settled_after` seconds behind its begin; an operator with fewer than two lines there has no
    /// rate. `None` if none has one, or the output has other lines.
    pub fn read(output: &str, phases: u32, settled_after: f64) -> Option<PhaseRates> {
        let mut begins: BTreeMap<u64, u64> = BTreeMap::new();
        let mut counts: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for line in output.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let numbers = words.iter().skip(1).map(|word| word.parse::<u64>());
            let numbers: Result<Vec<u64>, _> = numbers.collect();
            match (words[0], &numbers.ok()?[..]) {
                ("phase", &[phase, at]) => {
                    begins.insert(phase, at);
                }
                ("count", &[operator, at, tuples]) => {
                    counts.entry(operator).or_default().push((at, tuples));
                }
                _ => return None,
            }
        }
        let settled_ns = (settled_after * 1e9) as u64;
        let phases = (0..u64::from(phases)).map(|phase| {
            let part = begins.get(&phase)? + settled_ns..*begins.get(&(phase + 1))?;
            let rates = counts.values().filter_map(|counts| {
                let mut inside = counts.iter().filter(|(at, _)| part.contains(at));
                let (begin, first) = inside.next()?;
                let (end, last) = inside.next_back()?;
                let seconds = end.checked_sub(*begin)?.max(1) as f64 / 1e9;
                Some((last - first) as f64 / seconds)
            });
            Some(rates.sum()).filter(|rate| *rate > 0.0)
        });
        phases.collect::<Option<Vec<f64>>>().map(PhaseRates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_phase_is_that_of_its_last_part() {
        let output = "phase 0 0\n\
                      count 0 1000000000 9\n\
                      count 0 3000000000 100\n\
                      count 1 3500000000 10\n\
                      count 0 4000000000 300\n\
                      count 1 4500000000 15\n\
                      phase 1 5000000000\n\
                      count 0 7000000000 301\n";
        let rates = PhaseRates::read(output, 1, 2.0);
        assert_eq!(rates, Some(PhaseRates(vec![205.0])));
        assert_eq!(PhaseRates::read(output, 2, 2.0), None, "phase 1 has no end");
        let rates = PhaseRates::read(output, 1, 3.2);
        assert_eq!(
            rates,
            Some(PhaseRates(vec![5.0])),
            "one line of operator 0 is left"
        );
        assert_eq!(PhaseRates::read(output, 1, 4.2), None, "one line is left");
        assert_eq!(PhaseRates::read("another line", 0, 1.0), None);
    }
}
