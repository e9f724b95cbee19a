//! Events in the order of their numbers.

use crate::event::{Auction, Bid, Event, Person};
use crate::options::{
    ACTIVE_PERSONS, AUCTION_BYTES, AUCTIONS, BID_BYTES, CATEGORIES, CHANNELS, COLD_AUCTION,
    COLD_BIDDER, COLD_CHANNEL, COLD_SELLER, CYCLE, FIRST_CATEGORY, FIRST_ID, GeneratorOptions,
    HOT_SPAN, ID_LEAD, OPEN_AUCTIONS, PERSON_BYTES, PERSONS,
};
use crate::random::Random;
use crate::texts::{CITIES, FIRST_NAMES, HOT_CHANNELS, LAST_NAMES, STATES, channels, extra, price};

/// The events of some settings, one by one, in the order of event time.
#[derive(Clone, Debug)]
pub struct Generator {
    options: GeneratorOptions,
    next: u64,
    /// Names and pages of channels, hot ones first.
    channels: Vec<(String, String)>,
}

impl Generator {
    /// A generator at its first event.
    pub fn new(options: GeneratorOptions) -> Generator {
        Generator {
            options,
            next: 0,
            channels: channels(),
        }
    }

    /// Event time of an event.
    fn date_time(&self, number: u64) -> i64 {
        self.options.start_ms + (number * 1000 / self.options.rate) as i64
    }

    fn person(&self, number: u64, random: &mut Random) -> Person {
        let name = [random.choice(&FIRST_NAMES), random.choice(&LAST_NAMES)].join(" ");
        let email_address = format!("{}@{}.com", random.letters(7), random.letters(5));
        let digits: [u64; 4] = std::array::from_fn(|_| random.below(10_000));
        let credit_card = digits.map(|four| format!("{four:04}")).join(" ");
        let (city, state) = (random.choice(&CITIES), random.choice(&STATES));
        let texts = [&name, &email_address, &credit_card, city, state];
        let bytes = 8 + texts.iter().map(|text| text.len()).sum::<usize>();
        Person {
            id: FIRST_ID + last_person(number),
            date_time: self.date_time(number),
            extra: extra(random, bytes, PERSON_BYTES),
            city: city.to_owned(),
            state: state.to_owned(),
            name,
            email_address,
            credit_card,
        }
    }

    fn auction(&self, number: u64, random: &mut Random) -> Auction {
        let (item_name, description) = (random.letters(20), random.letters(100));
        let initial_bid = price(random);
        let date_time = self.date_time(number);
        // As long as it takes until so many further auctions are open, on average.
        let span = OPEN_AUCTIONS * CYCLE / AUCTIONS;
        let span_ms = (self.date_time(number + span) - date_time) as u64;
        let seller = match random.below(COLD_SELLER) {
            0 => some_person(number, random),
            _ => last_person(number) / HOT_SPAN * HOT_SPAN,
        };
        let bytes = 48 + item_name.len() + description.len();
        Auction {
            id: FIRST_ID + last_auction(number),
            item_name,
            description,
            initial_bid,
            reserve: initial_bid + price(random),
            date_time,
            expires: date_time + 1 + random.below((2 * span_ms).max(1)) as i64,
            seller: FIRST_ID + seller,
            category: FIRST_CATEGORY + random.below(CATEGORIES),
            extra: extra(random, bytes, AUCTION_BYTES),
        }
    }

    fn bid(&self, number: u64, random: &mut Random) -> Bid {
        let auction = match random.below(COLD_AUCTION) {
            0 => some_auction(number, random),
            _ => last_auction(number) / HOT_SPAN * HOT_SPAN,
        };
        let bidder = match random.below(COLD_BIDDER) {
            0 => some_person(number, random),
            _ => last_person(number) / HOT_SPAN * HOT_SPAN + 1,
        };
        let price = price(random);
        let hot = HOT_CHANNELS.len() as u64;
        let channel = match random.below(COLD_CHANNEL) {
            0 => hot + random.below(CHANNELS),
            _ => random.below(hot),
        };
        let (channel, url) = self.channels[channel as usize].clone();
        Bid {
            auction: FIRST_ID + auction,
            bidder: FIRST_ID + bidder,
            price,
            channel,
            url,
            date_time: self.date_time(number),
            extra: extra(random, 32, BID_BYTES),
        }
    }
}

impl Iterator for Generator {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let number = self.next;
        if number == self.options.events {
            return None;
        }
        self.next += 1;
        let mut random = Random::of(self.options.seed, number);
        Some(match number % CYCLE {
            place if place < PERSONS => Event::Person(self.person(number, &mut random)),
            place if place < PERSONS + AUCTIONS => {
                Event::Auction(self.auction(number, &mut random))
            }
            _ => Event::Bid(self.bid(number, &mut random)),
        })
    }
}

/// The newest person when an event comes, counted from 0. A cycle begins with its persons.
fn last_person(number: u64) -> u64 {
    let here = (number % CYCLE + 1).min(PERSONS);
    number / CYCLE * PERSONS + here - 1
}

/// The newest auction when an event comes, counted from 0; the first one if none has come yet.
fn last_auction(number: u64) -> u64 {
    let place = number % CYCLE;
    let here = place.saturating_sub(PERSONS - 1).min(AUCTIONS);
    (number / CYCLE * AUCTIONS + here).saturating_sub(1)
}

/// One of the newest persons, or one who comes soon.
fn some_person(number: u64, random: &mut Random) -> u64 {
    let persons = last_person(number) + 1;
    let active = persons.min(ACTIVE_PERSONS);
    persons - active + random.below(active + ID_LEAD)
}

/// One of the open auctions, or one that comes soon.
fn some_auction(number: u64, random: &mut Random) -> u64 {
    let last = last_auction(number);
    let first = last.saturating_sub(OPEN_AUCTIONS);
    first + random.below(last - first + 1 + ID_LEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(events: u64) -> Vec<Event> {
        Generator::new(GeneratorOptions {
            events,
            ..GeneratorOptions::default()
        })
        .collect()
    }

    #[test]
    fn kinds_have_the_published_proportions() {
        let events = events(5_000);
        let persons = events
            .iter()
            .filter(|event| matches!(event, Event::Person(_)));
        let auctions = events
            .iter()
            .filter(|event| matches!(event, Event::Auction(_)));
        assert_eq!((persons.count(), auctions.count()), (100, 300));
    }

    #[test]
    fn ids_are_consecutive() {
        let (mut persons, mut auctions) = (FIRST_ID, FIRST_ID);
        for event in events(2_000) {
            match event {
                Event::Person(person) => {
                    assert_eq!(person.id, persons);
                    persons += 1;
                }
                Event::Auction(auction) => {
                    assert_eq!(auction.id, auctions);
                    auctions += 1;
                }
                Event::Bid(_) => {}
            }
        }
    }

    #[test]
    fn half_of_the_bids_and_three_quarters_of_the_bidders_are_hot() {
        let bids = events(50_000).into_iter().filter_map(|event| match event {
            Event::Bid(bid) => Some(bid),
            _ => None,
        });
        let bids: Vec<Bid> = bids.collect();
        let share = |is_hot: &dyn Fn(&Bid) -> bool| {
            bids.iter().filter(|bid| is_hot(bid)).count() as f64 / bids.len() as f64
        };
        let auctions = share(&|bid| (bid.auction - FIRST_ID).is_multiple_of(HOT_SPAN));
        assert!((0.48..0.53).contains(&auctions), "{auctions}");
        let bidders = share(&|bid| (bid.bidder - FIRST_ID) % HOT_SPAN == 1);
        assert!((0.73..0.78).contains(&bidders), "{bidders}");
        let channels = share(&|bid| HOT_CHANNELS.contains(&bid.channel.as_str()));
        assert!((0.48..0.52).contains(&channels), "{channels}");
        let extra = bids.iter().map(|bid| bid.extra.len()).sum::<usize>() / bids.len();
        assert!((66..=70).contains(&extra), "{extra}");
        assert!(
            bids.iter()
                .all(|bid| (100..=100_000_000).contains(&bid.price))
        );
    }

    #[test]
    fn a_seed_gives_the_same_events_and_another_seed_others() {
        let of_seed = |seed| {
            let options = GeneratorOptions {
                events: 100,
                seed,
                ..GeneratorOptions::default()
            };
            Generator::new(options).collect::<Vec<_>>()
        };
        assert_eq!(of_seed(7), of_seed(7));
        assert_ne!(of_seed(7), of_seed(8));
    }
}
