//! Queries that look at one bid alone: 0, 1, 2, 14, 21 and 22.

use std::io;

use memchr::{memchr_iter, memmem};

use super::fields::{BidLine, EventLine};
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;

/// Euros of a dollar, in thousandths.
const EUROS: i64 = 908;

/// A query that is a function of a bid.
pub struct EachBid(pub fn(&BidLine<'_>, &mut ResultLines) -> io::Result<()>);

impl QueryLoop for EachBid {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        match event {
            EventLine::Bid(bid) => self.0(bid, out),
            _ => Ok(()),
        }
    }
}

/// Query 0: the bid.
pub fn pass_through(bid: &BidLine<'_>, out: &mut ResultLines) -> io::Result<()> {
    out.number(bid.auction).number(bid.bidder);
    out.number(bid.price).number(bid.date_time);
    out.text(bid.extra).end()
}

/// Query 1: the bid in euros.
pub fn in_euros(bid: &BidLine<'_>, out: &mut ResultLines) -> io::Result<()> {
    out.number(bid.auction).number(bid.bidder);
    out.thousandths(bid.price * EUROS).number(bid.date_time);
    out.text(bid.extra).end()
}

/// Query 2: bids on some auctions.
pub fn selection(bid: &BidLine<'_>, out: &mut ResultLines) -> io::Result<()> {
    if bid.auction % 123 != 0 {
        return Ok(());
    }
    out.number(bid.auction).number(bid.price).end()
}

/// Query 14: bids in a range of prices, with the part of the day and a count of letters.
pub fn calculation(bid: &BidLine<'_>, out: &mut ResultLines) -> io::Result<()> {
    let thousandths = bid.price * EUROS;
    if thousandths <= 1_000_000_000 || thousandths >= 50_000_000_000 {
        return Ok(());
    }
    let part: &[u8] = match bid.date_time / 3_600_000 % 24 {
        8..=18 => b"dayTime",
        0..=6 | 20..=23 => b"nightTime",
        _ => b"otherTime",
    };
    out.number(bid.auction).number(bid.bidder);
    out.thousandths(thousandths).text(part);
    out.number(bid.date_time).text(bid.extra);
    let letters = memchr_iter(b'c', bid.extra).count();
    out.number(letters as i64).end()
}

/// Query 21: the bid with the id of its channel.
pub fn with_channel_id(bid: &BidLine<'_>, out: &mut ResultLines) -> io::Result<()> {
    let Some(id) = channel_id(bid) else {
        return Ok(());
    };
    out.number(bid.auction).number(bid.bidder);
    out.number(bid.price).text(bid.channel).text(id).end()
}

fn channel_id<'a>(bid: &BidLine<'a>) -> Option<&'a [u8]> {
    let hot: [(&[u8], &[u8]); 4] = [
        (b"apple", b"0"),
        (b"google", b"1"),
        (b"facebook", b"2"),
        (b"baidu", b"3"),
    ];
    let known = hot
        .iter()
        .find(|(name, _)| bid.channel.eq_ignore_ascii_case(name));
    if let Some((_, id)) = known {
        return Some(id);
    }
    const KEY: &[u8] = b"&channel_id=";
    let at = memmem::find(bid.url, KEY)?;
    let id = &bid.url[at + KEY.len()..];
    Some(id.split(|byte| *byte == b'&').next().unwrap_or(id))
}

/// Query 22: the bid with the folders of its page.
pub fn folders(bid: &BidLine<'_>, out: &mut ResultLines) -> io::Result<()> {
    let mut parts = bid.url.split(|byte| *byte == b'/').skip(3);
    let mut next = || parts.next().unwrap_or_default();
    let (first, second, third) = (next(), next(), next());
    out.number(bid.auction).number(bid.bidder);
    out.number(bid.price).text(bid.channel);
    out.text(first).text(second).text(third).end()
}
