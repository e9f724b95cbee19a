//! Settings of the generator, and the published constants.

/// Settings of a sequence of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorOptions {
    /// Number of events to generate.
    pub events: u64,
    /// Seed: equal seeds give equal events.
    pub seed: u64,
    /// Events in a second of event time.
    pub rate: u64,
    /// Event time of the first event, in milliseconds since 1970.
    pub start_ms: i64,
    /// Milliseconds by which an event may come after a later one; 0 keeps event time in order.
    pub disorder_ms: u64,
}

impl GeneratorOptions {
    /// Midnight at the beginning of 15 July 2015, in milliseconds since 1970.
    pub const START_MS: i64 = 1_436_918_400_000;

    /// Events in a second of event time, in the published settings.
    pub const RATE: u64 = 10_000;
}

impl Default for GeneratorOptions {
    fn default() -> GeneratorOptions {
        GeneratorOptions {
            events: 1_000_000,
            seed: 1,
            rate: GeneratorOptions::RATE,
            start_ms: GeneratorOptions::START_MS,
            disorder_ms: 0,
        }
    }
}

/// Events of a cycle: first `PERSONS` persons, then `AUCTIONS` auctions, then bids.
pub const CYCLE: u64 = 50;
/// Persons in a cycle of events.
pub const PERSONS: u64 = 1;
/// Auctions in a cycle of events.
pub const AUCTIONS: u64 = 3;

/// First id of persons, and of auctions.
pub const FIRST_ID: u64 = 1000;
/// First category of auctions.
pub const FIRST_CATEGORY: u64 = 10;
/// Number of categories of auctions.
pub const CATEGORIES: u64 = 5;

/// Newest persons, of whom bidders and sellers are taken.
pub const ACTIVE_PERSONS: u64 = 1000;
/// Newest auctions, on which bids are made.
pub const OPEN_AUCTIONS: u64 = 100;
/// Ids behind the newest one that bids and auctions may already name.
pub const ID_LEAD: u64 = 10;

/// One in so many auctions is not of the hot seller.
pub const COLD_SELLER: u64 = 4;
/// One in so many bids is not on the hot auction.
pub const COLD_AUCTION: u64 = 2;
/// One in so many bids is not of the hot bidder.
pub const COLD_BIDDER: u64 = 4;
/// One in so many bids is not by a hot channel.
pub const COLD_CHANNEL: u64 = 2;
/// The hot person and the hot auction change with so many new ones.
pub const HOT_SPAN: u64 = 100;
/// Number of channels that are not hot.
pub const CHANNELS: u64 = 10_000;

/// Bytes of a person on average.
pub const PERSON_BYTES: usize = 200;
/// Bytes of an auction on average.
pub const AUCTION_BYTES: usize = 500;
/// Bytes of a bid on average.
pub const BID_BYTES: usize = 100;
