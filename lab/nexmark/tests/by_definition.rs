//! Loops that keep state give what the definition of their query gives over all events at once.

use std::collections::BTreeMap;
use std::fs::{self, File};

use thalweg_nexmark::loops::{self, LoopRun, LoopSource, ResultLines};
use thalweg_nexmark::{Auction, Bid, Disordered, Event, GeneratorOptions, Person};

/// Milliseconds by which events may come late, and still count.
const LAG_MS: i64 = 4_000;
/// Milliseconds of an interval, and of a pause between sessions.
const TEN_SECONDS: i64 = 10_000;

/// All events at once, by kind and in the order of their arrival.
struct AllEvents {
    persons: Vec<Person>,
    auctions: Vec<Auction>,
    bids: Vec<Bid>,
    /// Event times of all events.
    times: Vec<i64>,
}

fn options() -> GeneratorOptions {
    GeneratorOptions {
        events: 8_000,
        seed: 5,
        rate: 60,
        disorder_ms: 3_500,
        ..GeneratorOptions::default()
    }
}

impl AllEvents {
    fn new() -> AllEvents {
        let mut all = AllEvents {
            persons: Vec::new(),
            auctions: Vec::new(),
            bids: Vec::new(),
            times: Vec::new(),
        };
        for event in Disordered::new(options()) {
            all.times.push(event.date_time());
            match event {
                Event::Person(person) => all.persons.push(person),
                Event::Auction(auction) => all.auctions.push(auction),
                Event::Bid(bid) => all.bids.push(bid),
            }
        }
        all
    }

    /// Whether a second is over when the last event has come.
    fn is_over(&self, time: i64) -> bool {
        let latest = self.times.iter().max().unwrap();
        time / 1000 < (latest - LAG_MS) / 1000
    }

    /// Auctions that are over, with their best bids, in the order of their ends.
    fn winners(&self) -> Vec<(&Auction, &Bid)> {
        let over = self.auctions.iter().filter(|one| self.is_over(one.expires));
        let mut winners: Vec<_> = over
            .filter_map(|auction| {
                let bids = self.bids.iter().filter(|bid| {
                    bid.auction == auction.id
                        && bid.date_time >= auction.date_time
                        && bid.date_time <= auction.expires
                });
                let best = bids.min_by_key(|bid| (u64::MAX - bid.price, bid.date_time));
                best.map(|best| (auction, best))
            })
            .collect();
        winners.sort_by_key(|(auction, _)| (auction.expires, auction.id));
        winners
    }

    /// Bids of each interval that begins at a multiple of `slide` and is over.
    fn intervals(&self, slide: i64) -> Vec<(i64, Vec<&Bid>)> {
        let times = self.bids.iter().map(|bid| bid.date_time);
        let reached = watermark(times);
        let first = options().start_ms / TEN_SECONDS * TEN_SECONDS - TEN_SECONDS;
        let starts = (0..).map(|number| first + number * slide);
        let starts = starts.take_while(|start| start + TEN_SECONDS <= reached);
        let bids = |start: i64| {
            let is_in = move |bid: &&Bid| (start..start + TEN_SECONDS).contains(&bid.date_time);
            self.bids.iter().filter(is_in).collect()
        };
        starts.map(|start| (start, bids(start))).collect()
    }
}

/// The last watermark: it is sent when it is a tenth of a second ahead of the one before.
fn watermark(times: impl Iterator<Item = i64>) -> i64 {
    times.map(|time| time - LAG_MS).fold(i64::MIN, |sent, to| {
        if to >= sent.saturating_add(100) {
            to
        } else {
            sent
        }
    })
}

/// Checks the lines of a loop: in order, or sorted.
fn check(query: u32, is_ordered: bool, mut expected: Vec<String>) {
    let name = format!("thalweg-nexmark-{}-{query}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    thalweg_nexmark::write_folder(&folder, &options()).unwrap();
    for source in [LoopSource::Csv, LoopSource::Memory] {
        let run = LoopRun {
            query,
            folder: folder.clone(),
            log_prefix: String::new(),
            source,
        };
        let results = folder.join("results.csv");
        let lines = ResultLines::new(File::create(&results).unwrap());
        loops::run(&run, lines).unwrap();
        let text = fs::read_to_string(&results).unwrap();
        let mut found: Vec<&str> = text.lines().collect();
        if !is_ordered {
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert!(found.len() > 8, "query {query}: {} results", found.len());
        assert_eq!(found, expected, "query {query}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn sellers_are_persons_with_auctions() {
    let all = AllEvents::new();
    let near = all
        .persons
        .iter()
        .filter(|one| ["OR", "ID", "CA"].contains(&&*one.state));
    let lines = near.flat_map(|person| {
        let own = |one: &&Auction| one.seller == person.id && one.category == 10;
        let auctions = all.auctions.iter().filter(own);
        auctions.map(|auction| {
            let Person {
                name, city, state, ..
            } = person;
            format!("{name},{city},{state},{}", auction.id)
        })
    });
    check(3, false, lines.collect());
}

#[test]
fn winners_are_the_best_bids_in_time() {
    let all = AllEvents::new();
    let (mut categories, mut sellers) = (Vec::new(), Vec::new());
    let mut winners = Vec::new();
    let mut by_category: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut by_seller: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (auction, best) in all.winners() {
        let prices = by_category.entry(auction.category).or_default();
        prices.push(best.price);
        let average = prices.iter().sum::<u64>() / prices.len() as u64;
        categories.push(format!("{},{average}", auction.category));
        let prices = by_seller.entry(auction.seller).or_default();
        prices.push(best.price);
        let last = &prices[prices.len().saturating_sub(10)..];
        let average = last.iter().sum::<u64>() / last.len() as u64;
        sellers.push(format!("{},{average}", auction.seller));
        let fields = [
            auction.id.to_string(),
            auction.item_name.clone(),
            auction.description.clone(),
            auction.initial_bid.to_string(),
            auction.reserve.to_string(),
            auction.date_time.to_string(),
            auction.expires.to_string(),
            auction.seller.to_string(),
            auction.category.to_string(),
            auction.extra.clone(),
            best.bidder.to_string(),
            best.price.to_string(),
            best.date_time.to_string(),
            best.extra.clone(),
        ];
        winners.push(fields.join(","));
    }
    check(4, true, categories);
    check(6, true, sellers);
    check(9, true, winners);
}

#[test]
fn hot_items_have_most_bids_of_an_interval() {
    let all = AllEvents::new();
    let mut lines = Vec::new();
    for (start, bids) in all.intervals(2_000) {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for bid in bids {
            *counts.entry(bid.auction).or_default() += 1;
        }
        let most = counts.values().max().copied();
        let hot = counts.iter().filter(|(_, count)| Some(**count) == most);
        lines.extend(hot.map(|(auction, count)| format!("{auction},{},{count}", start / 1000)));
    }
    check(5, false, lines);
}

#[test]
fn highest_bids_have_the_highest_price_of_an_interval() {
    let all = AllEvents::new();
    let mut lines = Vec::new();
    for (_, bids) in all.intervals(TEN_SECONDS) {
        let most = bids.iter().map(|bid| bid.price).max();
        let best = bids.iter().filter(|bid| Some(bid.price) == most);
        lines.extend(best.map(|bid| {
            let (time, extra) = (bid.date_time, &bid.extra);
            format!(
                "{},{},{},{time},{extra}",
                bid.auction, bid.bidder, bid.price
            )
        }));
    }
    check(7, false, lines);
}

#[test]
fn new_sellers_come_and_sell_in_one_interval() {
    let all = AllEvents::new();
    let times = Disordered::new(options()).filter(|event| !matches!(event, Event::Bid(_)));
    let reached = watermark(times.map(|event| event.date_time()));
    let interval = |time: i64| time / TEN_SECONDS * TEN_SECONDS;
    let new = all.persons.iter().filter(|person| {
        let start = interval(person.date_time);
        let sells = |one: &Auction| one.seller == person.id && interval(one.date_time) == start;
        start + TEN_SECONDS <= reached && all.auctions.iter().any(sells)
    });
    let lines = new.map(|person| {
        let start = interval(person.date_time) / 1000;
        format!("{},{},{start}", person.id, person.name)
    });
    check(8, false, lines.collect());
}

#[test]
fn sessions_end_with_a_pause() {
    let all = AllEvents::new();
    let mut times: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    for bid in &all.bids {
        times.entry(bid.bidder).or_default().push(bid.date_time);
    }
    let mut lines = Vec::new();
    for (bidder, mut times) in times {
        times.sort_unstable();
        for session in times.chunk_by(|one, next| next - one < TEN_SECONDS) {
            let (first, end) = (session[0], session[session.len() - 1] + TEN_SECONDS);
            if all.is_over(end) {
                lines.push(format!("{bidder},{},{first},{end}", session.len()));
            }
        }
    }
    check(11, false, lines);
}
