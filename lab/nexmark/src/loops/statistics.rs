//! Queries that count bids by rank of the price, after each bid: 15, 16 and 17.

use std::collections::{HashMap, HashSet};
use std::io;

use super::auction_state::OwnText;
use super::fields::{BidLine, EventLine};
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;
use super::time::{DAY_MS, day_text, minute_text};

/// The text of a day, made once for all bids of it.
#[derive(Default)]
struct DayText {
    day: Option<i64>,
    text: Vec<u8>,
}

impl DayText {
    /// The number and the text of the day of a time.
    fn of(&mut self, time: i64) -> (i64, &[u8]) {
        let day = time.div_euclid(DAY_MS);
        if self.day != Some(day) {
            self.day = Some(day);
            self.text = day_text(time);
        }
        (day, &self.text)
    }
}

/// Rank of a price, 1 to 3.
fn rank(price: i64) -> usize {
    match price {
        ..10_000 => 1,
        10_000..1_000_000 => 2,
        _ => 3,
    }
}

/// Bids, and the persons and auctions among them.
#[derive(Default)]
struct Distinct {
    bids: i64,
    bidders: HashSet<i64>,
    auctions: HashSet<i64>,
}

/// Statistics of a day: of all bids, then of each rank.
#[derive(Default)]
struct RankCounts {
    minute: [u8; 5],
    ranks: [Distinct; 4],
}

impl RankCounts {
    fn count(&mut self, bid: &BidLine<'_>) {
        self.minute = self.minute.max(minute_text(bid.date_time));
        for at in [0, rank(bid.price)] {
            let counts = &mut self.ranks[at];
            counts.bids += 1;
            counts.bidders.insert(bid.bidder);
            counts.auctions.insert(bid.auction);
        }
    }

    fn write(&self, out: &mut ResultLines) -> io::Result<()> {
        for one in &self.ranks {
            out.number(one.bids);
        }
        for one in &self.ranks {
            out.number(one.bidders.len() as i64);
        }
        for one in &self.ranks {
            out.number(one.auctions.len() as i64);
        }
        out.end()
    }
}

/// Query 15: statistics by day.
#[derive(Default)]
pub struct DayStatistics {
    text: DayText,
    days: HashMap<i64, RankCounts>,
}

impl QueryLoop for DayStatistics {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let (day, text) = self.text.of(bid.date_time);
        let ranks = self.days.entry(day).or_default();
        ranks.count(bid);
        ranks.write(out.text(text))
    }
}

/// Query 16: statistics by day and channel.
#[derive(Default)]
pub struct ChannelStatistics {
    text: DayText,
    days: HashMap<i64, HashMap<OwnText, RankCounts>>,
}

impl QueryLoop for ChannelStatistics {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let (day, text) = self.text.of(bid.date_time);
        let channels = self.days.entry(day).or_default();
        if !channels.contains_key(bid.channel) {
            channels.insert(bid.channel.into(), RankCounts::default());
        }
        let Some(ranks) = channels.get_mut(bid.channel) else {
            return Ok(());
        };
        ranks.count(bid);
        let out = out.text(bid.channel).text(text).text(&ranks.minute);
        ranks.write(out)
    }
}

/// Query 17: prices by day and auction.
#[derive(Default)]
pub struct AuctionStatistics {
    text: DayText,
    prices: HashMap<(i64, i64), Prices>,
}

/// Bids by rank, from all to rank 3, and their prices.
struct Prices {
    bids: [i64; 4],
    min: i64,
    max: i64,
    sum: i64,
}

impl QueryLoop for AuctionStatistics {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let (day, text) = self.text.of(bid.date_time);
        let prices = self.prices.entry((bid.auction, day)).or_insert(Prices {
            bids: [0; 4],
            min: bid.price,
            max: bid.price,
            sum: 0,
        });
        prices.bids[0] += 1;
        prices.bids[rank(bid.price)] += 1;
        prices.min = prices.min.min(bid.price);
        prices.max = prices.max.max(bid.price);
        prices.sum += bid.price;
        out.number(bid.auction).text(text);
        for bids in prices.bids {
            out.number(bids);
        }
        out.number(prices.min).number(prices.max);
        out.number(prices.sum / prices.bids[0]);
        out.number(prices.sum).end()
    }
}
