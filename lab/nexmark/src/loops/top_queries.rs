//! Queries that keep the last or the highest bids: 18 and 19.

use std::collections::HashMap;
use std::io;

use super::fields::{BidLine, EventLine};
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;

/// Bids of an auction that query 19 ranks.
const TOP: usize = 10;

/// Writes all fields of a bid; the line goes on.
fn write_fields<'a>(bid: &BidLine<'_>, out: &'a mut ResultLines) -> &'a mut ResultLines {
    out.number(bid.auction).number(bid.bidder).number(bid.price);
    out.text(bid.channel).text(bid.url);
    out.number(bid.date_time).text(bid.extra)
}

/// Query 18: the time of the last bid by person and auction.
#[derive(Default)]
pub struct LastBids(HashMap<(i64, i64), i64>);

impl QueryLoop for LastBids {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let last = self.0.entry((bid.bidder, bid.auction)).or_insert(i64::MIN);
        if bid.date_time < *last {
            return Ok(());
        }
        *last = bid.date_time;
        write_fields(bid, out).end()
    }
}

/// Query 19: the highest prices by auction, highest first.
#[derive(Default)]
pub struct TopBids(HashMap<i64, Vec<i64>>);

impl QueryLoop for TopBids {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let prices = self.0.entry(bid.auction).or_default();
        // Of equal bids the earlier one is higher.
        let place = prices.partition_point(|price| *price >= bid.price);
        if place == TOP {
            return Ok(());
        }
        prices.insert(place, bid.price);
        prices.truncate(TOP);
        write_fields(bid, out).number(place as i64 + 1).end()
    }
}
