//! Events in the order of their arrival, which may differ from that of event time.
//!
//! Each event takes a random time to arrive, less than the limit. So an event comes after no event
//! that is later by the limit or more.

use std::collections::BTreeMap;

use crate::event::Event;
use crate::generator::Generator;
use crate::options::GeneratorOptions;
use crate::random::Random;

/// Events in the order of their arrival.
pub struct Disordered {
    generator: Generator,
    options: GeneratorOptions,
    number: u64,
    /// Events under way, by the time of their arrival and their number.
    under_way: BTreeMap<(i64, u64), Event>,
}

impl Disordered {
    /// The events of some settings, in the order of their arrival.
    pub fn new(options: GeneratorOptions) -> Disordered {
        Disordered {
            generator: Generator::new(options.clone()),
            options,
            number: 0,
            under_way: BTreeMap::new(),
        }
    }
}

impl Iterator for Disordered {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if self.options.disorder_ms == 0 {
            return self.generator.next();
        }
        loop {
            let first = self.under_way.first_key_value();
            let first = first.map(|((arrival, _), _)| *arrival);
            let Some(event) = self.generator.next() else {
                return self.under_way.pop_first().map(|(_, event)| event);
            };
            let (number, time) = (self.number, event.date_time());
            self.number += 1;
            let delay = Random::of(!self.options.seed, number).below(self.options.disorder_ms);
            self.under_way.insert((time + delay as i64, number), event);
            // Later events arrive no earlier than this one has happened.
            if first.is_some_and(|arrival| arrival <= time) {
                return self.under_way.pop_first().map(|(_, event)| event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(disorder_ms: u64) -> GeneratorOptions {
        GeneratorOptions {
            events: 5_000,
            rate: 100,
            disorder_ms,
            ..GeneratorOptions::default()
        }
    }

    #[test]
    fn all_events_come_and_none_too_late() {
        let mut events: Vec<Event> = Disordered::new(options(3_000)).collect();
        let (mut latest, mut late) = (i64::MIN, 0);
        for event in &events {
            latest = latest.max(event.date_time());
            assert!(latest - event.date_time() < 3_000);
            late += u32::from(latest > event.date_time());
        }
        assert!(late > 2_000, "{late} events are late");
        let key = |event: &Event| format!("{:?} {event:?}", event.date_time());
        let mut in_order: Vec<Event> = Disordered::new(options(0)).collect();
        events.sort_by_key(key);
        in_order.sort_by_key(key);
        assert_eq!(events, in_order);
    }
}
