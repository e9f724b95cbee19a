//! Queries over intervals of event time: 5, 7 and 8.

use std::collections::{BTreeMap, HashMap};
use std::io;

use super::fields::{BidLine, EventLine};
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;
use super::time::IntervalWatermark;

/// Milliseconds of an interval.
const INTERVAL_MS: i64 = 10_000;
/// Milliseconds from the start of one interval of query 5 to that of the next.
const SLIDE_MS: i64 = 2_000;

/// Query 5: counts of bids by auction, for each interval that is not over.
#[derive(Default)]
pub struct HotItems {
    watermark: IntervalWatermark,
    /// Counts by the start of the slide in which the bids were made.
    slides: BTreeMap<i64, HashMap<i64, i64>>,
    /// The interval that ends next.
    next: Option<i64>,
}

impl QueryLoop for HotItems {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        if !self.watermark.is_late(bid.date_time) {
            let slide = bid.date_time / SLIDE_MS * SLIDE_MS;
            let counts = self.slides.entry(slide).or_default();
            *counts.entry(bid.auction).or_default() += 1;
        }
        let Some(reached) = self.watermark.advance(bid.date_time) else {
            return Ok(());
        };
        let first = self.slides.keys().next().copied();
        let earliest = first.map(|slide| slide + SLIDE_MS - INTERVAL_MS);
        let Some(mut start) = self.next.or(earliest) else {
            return Ok(());
        };
        while start + INTERVAL_MS <= reached {
            self.write_interval(start, out)?;
            start += SLIDE_MS;
            self.slides = self.slides.split_off(&start);
            self.next = Some(start);
        }
        Ok(())
    }
}

impl HotItems {
    fn write_interval(&self, start: i64, out: &mut ResultLines) -> io::Result<()> {
        let mut counts: HashMap<i64, i64> = HashMap::new();
        for (_, slide) in self.slides.range(start..start + INTERVAL_MS) {
            for (auction, count) in slide {
                *counts.entry(*auction).or_default() += count;
            }
        }
        let most = counts.values().copied().max();
        for (auction, count) in &counts {
            if Some(*count) == most {
                out.number(*auction)
                    .number(start / 1000)
                    .number(*count)
                    .end()?;
            }
        }
        Ok(())
    }
}

/// Query 7: the highest bids of each interval that is not over.
#[derive(Default)]
pub struct HighestBids {
    watermark: IntervalWatermark,
    intervals: BTreeMap<i64, Vec<OwnBid>>,
}

/// A bid that is kept.
struct OwnBid {
    auction: i64,
    bidder: i64,
    price: i64,
    date_time: i64,
    extra: Box<[u8]>,
}

impl OwnBid {
    fn new(bid: &BidLine<'_>) -> OwnBid {
        OwnBid {
            auction: bid.auction,
            bidder: bid.bidder,
            price: bid.price,
            date_time: bid.date_time,
            extra: bid.extra.into(),
        }
    }
}

impl QueryLoop for HighestBids {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        if !self.watermark.is_late(bid.date_time) {
            let start = bid.date_time / INTERVAL_MS * INTERVAL_MS;
            let best = self.intervals.entry(start).or_default();
            let price = best.first().map_or(i64::MIN, |first| first.price);
            if bid.price > price {
                best.clear();
            }
            if bid.price >= price {
                best.push(OwnBid::new(bid));
            }
        }
        let Some(reached) = self.watermark.advance(bid.date_time) else {
            return Ok(());
        };
        while let Some(first) = self.intervals.first_entry()
            && first.key() + INTERVAL_MS <= reached
        {
            for bid in first.remove() {
                out.number(bid.auction).number(bid.bidder);
                out.number(bid.price).number(bid.date_time);
                out.text(&bid.extra).end()?;
            }
        }
        Ok(())
    }
}

/// Query 8: persons and sellers of each interval that is not over.
#[derive(Default)]
pub struct NewSellers {
    watermark: IntervalWatermark,
    intervals: BTreeMap<i64, HashMap<i64, Deeds>>,
}

/// Deeds of somebody in an interval.
#[derive(Default)]
struct Deeds {
    /// Name of a person who came.
    name: Option<Box<[u8]>>,
    has_sold: bool,
}

impl QueryLoop for NewSellers {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let (id, name) = match event {
            EventLine::Person(person) => (person.id, Some(person.name)),
            EventLine::Auction(auction) => (auction.seller, None),
            EventLine::Bid(_) => return Ok(()),
        };
        let time = event.date_time();
        if !self.watermark.is_late(time) {
            let start = time / INTERVAL_MS * INTERVAL_MS;
            let deeds = self
                .intervals
                .entry(start)
                .or_default()
                .entry(id)
                .or_default();
            match name {
                Some(name) => deeds.name = Some(name.into()),
                None => deeds.has_sold = true,
            }
        }
        let Some(reached) = self.watermark.advance(time) else {
            return Ok(());
        };
        while let Some(first) = self.intervals.first_entry()
            && first.key() + INTERVAL_MS <= reached
        {
            let start = *first.key();
            for (id, deeds) in first.remove() {
                if let (Some(name), true) = (deeds.name, deeds.has_sold) {
                    out.number(id).text(&name).number(start / 1000).end()?;
                }
            }
        }
        Ok(())
    }
}
