//! Names, places, channels and addresses that events have.

use crate::options::CHANNELS;
use crate::random::Random;

/// First names of persons.
pub const FIRST_NAMES: [&str; 11] = [
    "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter",
];

/// Last names of persons.
pub const LAST_NAMES: [&str; 9] = [
    "Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris",
];

/// Cities in which persons live.
pub const CITIES: [&str; 10] = [
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
];

/// States in which persons live.
pub const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];

/// Channels by which half of the bids come.
pub const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];

/// Seed of the pages of channels, which are the same for all seeds of events.
const PAGE_SEED: u64 = 0x6368_616e_6e65_6c73;

/// One in so many channels has no id in its address.
const WITHOUT_ID: u64 = 10;

/// Names and pages of all channels, hot ones first.
pub fn channels() -> Vec<(String, String)> {
    let hot = HOT_CHANNELS.iter().enumerate();
    let hot = hot.map(|(number, name)| ((*name).to_owned(), page(CHANNELS + number as u64)));
    let others = (0..CHANNELS).map(|number| (format!("channel-{number}"), page_with_id(number)));
    hot.chain(others).collect()
}

fn page_with_id(number: u64) -> String {
    let has_id = Random::of(PAGE_SEED, !number).below(WITHOUT_ID) > 0;
    let id = i64::from((number as i32).reverse_bits()).abs();
    match has_id {
        true => format!("{}&channel_id={id}", page(number)),
        false => page(number),
    }
}

fn page(number: u64) -> String {
    let mut random = Random::of(PAGE_SEED, number);
    let folders: [String; 3] = std::array::from_fn(|_| folder(&mut random));
    let [first, second, third] = folders;
    format!("https://www.nexmark.com/{first}/{second}/{third}/item.htm?query=1")
}

/// Three or four letters, some of them underscores.
fn folder(random: &mut Random) -> String {
    let letter = |random: &mut Random| match random.below(13) {
        0 => "_".to_owned(),
        _ => random.letters(1),
    };
    let count = 3 + random.below(2);
    (0..count).map(|_| letter(random)).collect()
}

/// Letters that bring an event of `bytes` bytes to a size of `average`, give or take a fifth.
pub fn extra(random: &mut Random, bytes: usize, average: usize) -> String {
    let wanted = average.saturating_sub(bytes);
    let fifth = wanted.div_ceil(5);
    let count = wanted - fifth + random.below(2 * fifth as u64 + 1) as usize;
    random.letters(count)
}

/// A price in cents, of which each power of ten up to 10^8 has as many.
pub fn price(random: &mut Random) -> u64 {
    (10f64.powf(random.fraction() * 6.0) * 100.0).round() as u64
}
