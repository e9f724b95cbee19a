//! Queries that join: 3, 13 and 20.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use super::auction_state::{OwnAuction, OwnText};
use super::fields::{BidLine, EventLine, Fields};
use super::lines::Lines;
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;

/// The category of queries 3 and 20.
const CATEGORY: i64 = 10;

/// Query 3: sellers of three states, and auctions of one category.
#[derive(Default)]
pub struct LocalItems {
    /// Name, city and state by person.
    persons: HashMap<i64, [OwnText; 3]>,
    /// Auctions by seller, in the order of their arrival.
    auctions: HashMap<i64, Vec<i64>>,
}

impl QueryLoop for LocalItems {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        match event {
            EventLine::Person(person) if [b"OR", b"ID", b"CA"].contains(&&as_two(person.state)) => {
                let texts = [person.name, person.city, person.state];
                for auction in self.auctions.get(&person.id).into_iter().flatten() {
                    write_suggestion(texts, *auction, out)?;
                }
                self.persons.insert(person.id, texts.map(OwnText::from));
                Ok(())
            }
            EventLine::Auction(auction) if auction.category == CATEGORY => {
                self.auctions
                    .entry(auction.seller)
                    .or_default()
                    .push(auction.id);
                match self.persons.get(&auction.seller) {
                    Some(texts) => {
                        write_suggestion(texts.each_ref().map(|text| &**text), auction.id, out)
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// The first two bytes of a text, zeros where it is shorter.
fn as_two(text: &[u8]) -> [u8; 2] {
    text.try_into().unwrap_or_default()
}

fn write_suggestion(texts: [&[u8]; 3], auction: i64, out: &mut ResultLines) -> io::Result<()> {
    for text in texts {
        out.text(text);
    }
    out.number(auction).end()
}

/// Query 13: values of a file by key.
pub struct SideInput(HashMap<i64, OwnText>);

impl SideInput {
    /// Reads the file of the side input.
    ///
    /// # Errors
    /// The file cannot be read, or a line has no key.
    pub fn read(path: &Path) -> io::Result<SideInput> {
        let mut lines = Lines::new(std::fs::File::open(path)?);
        let mut values = HashMap::new();
        while let Some(line) = lines.next_line()? {
            let mut fields = Fields(line);
            let key = fields.number().ok_or(io::ErrorKind::InvalidData)?;
            values.insert(key, fields.text().into());
        }
        Ok(SideInput(values))
    }
}

impl QueryLoop for SideInput {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        let Some(value) = self.0.get(&(bid.auction % 10_000)) else {
            return Ok(());
        };
        out.number(bid.auction).number(bid.bidder);
        out.number(bid.price).number(bid.date_time);
        out.text(value).end()
    }
}

/// Query 20: auctions of one category, and bids that wait for their auctions.
#[derive(Default)]
pub struct ExpandedBids {
    auctions: HashMap<i64, OwnAuction>,
    /// Auctions of other categories.
    others: HashSet<i64>,
    waiting: HashMap<i64, Vec<WaitingBid>>,
}

/// A bid that came before its auction.
struct WaitingBid {
    bidder: i64,
    price: i64,
    channel: OwnText,
    url: OwnText,
    date_time: i64,
    extra: OwnText,
}

impl WaitingBid {
    fn new(bid: &BidLine<'_>) -> WaitingBid {
        WaitingBid {
            bidder: bid.bidder,
            price: bid.price,
            channel: bid.channel.into(),
            url: bid.url.into(),
            date_time: bid.date_time,
            extra: bid.extra.into(),
        }
    }

    fn to_line(&self, auction: i64) -> BidLine<'_> {
        BidLine {
            auction,
            bidder: self.bidder,
            price: self.price,
            channel: &self.channel,
            url: &self.url,
            date_time: self.date_time,
            extra: &self.extra,
        }
    }
}

impl QueryLoop for ExpandedBids {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        match event {
            EventLine::Person(_) => Ok(()),
            EventLine::Auction(auction) => {
                let waiting = self.waiting.remove(&auction.id).unwrap_or_default();
                if auction.category != CATEGORY {
                    self.others.insert(auction.id);
                    return Ok(());
                }
                let own = OwnAuction::new(auction);
                for bid in &waiting {
                    write_expanded(&bid.to_line(auction.id), &own, out)?;
                }
                self.auctions.insert(auction.id, own);
                Ok(())
            }
            EventLine::Bid(bid) => {
                if let Some(auction) = self.auctions.get(&bid.auction) {
                    return write_expanded(bid, auction, out);
                }
                if !self.others.contains(&bid.auction) {
                    let waiting = self.waiting.entry(bid.auction).or_default();
                    waiting.push(WaitingBid::new(bid));
                }
                Ok(())
            }
        }
    }
}

fn write_expanded(
    bid: &BidLine<'_>,
    auction: &OwnAuction,
    out: &mut ResultLines,
) -> io::Result<()> {
    out.number(bid.auction).number(bid.bidder).number(bid.price);
    out.text(bid.channel).text(bid.url);
    out.number(bid.date_time).text(bid.extra);
    out.text(&auction.item_name).text(&auction.description);
    out.number(auction.initial_bid).number(auction.reserve);
    out.number(auction.date_time).number(auction.expires);
    out.number(auction.seller).number(auction.category);
    out.text(&auction.extra).end()
}
