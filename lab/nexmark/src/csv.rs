//! Events as lines of comma-separated values, without quotes: no text of an event needs them.

use std::io::{self, Write};

use crate::event::{Auction, Bid, Event, Person};

/// Commas that stand for the columns of a person.
const NO_PERSON: &str = ",,,,,,,";
/// Commas that stand for the columns of an auction.
const NO_AUCTION: &str = ",,,,,,,,,";
/// Commas that stand for the columns of a bid.
const NO_BID: &str = ",,,,,,";

/// Writes a line of `bids.csv`.
pub fn write_bid(out: &mut impl Write, bid: &Bid) -> io::Result<()> {
    let Bid {
        auction,
        bidder,
        price,
        channel,
        url,
        date_time,
        extra,
    } = bid;
    writeln!(
        out,
        "{auction},{bidder},{price},{channel},{url},{date_time},{extra}"
    )
}

/// Writes a line of `events.csv`: the kind, then the columns of a person, an auction and a bid, of
/// which two are empty.
pub fn write_event(out: &mut impl Write, event: &Event) -> io::Result<()> {
    match event {
        Event::Person(person) => {
            write!(out, "0,")?;
            write_person(out, person)?;
            writeln!(out, ",{NO_AUCTION},{NO_BID}")
        }
        Event::Auction(auction) => {
            write!(out, "1,{NO_PERSON},")?;
            write_auction(out, auction)?;
            writeln!(out, ",{NO_BID}")
        }
        Event::Bid(bid) => {
            write!(out, "2,{NO_PERSON},{NO_AUCTION},")?;
            write_bid(out, bid)
        }
    }
}

fn write_person(out: &mut impl Write, person: &Person) -> io::Result<()> {
    let Person {
        id,
        name,
        email_address,
        credit_card,
        city,
        state,
        date_time,
        extra,
    } = person;
    write!(
        out,
        "{id},{name},{email_address},{credit_card},{city},{state},{date_time},{extra}"
    )
}

fn write_auction(out: &mut impl Write, auction: &Auction) -> io::Result<()> {
    let Auction {
        id,
        item_name,
        description,
        initial_bid,
        reserve,
        date_time,
        expires,
        seller,
        category,
        extra,
    } = auction;
    write!(
        out,
        "{id},{item_name},{description},{initial_bid},{reserve},"
    )?;
    write!(out, "{date_time},{expires},{seller},{category},{extra}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generator, GeneratorOptions};

    #[test]
    fn every_line_has_all_columns() {
        let options = GeneratorOptions {
            events: 200,
            ..GeneratorOptions::default()
        };
        for event in Generator::new(options) {
            let mut line = Vec::new();
            write_event(&mut line, &event).unwrap();
            let line = String::from_utf8(line).unwrap();
            let kind: usize = line[..1].parse().unwrap();
            let columns: Vec<&str> = line.trim_end().split(',').collect();
            assert_eq!(columns.len(), 1 + 8 + 10 + 7, "{line}");
            let (first, count) = [(1, 8), (9, 10), (19, 7)][kind];
            let is_own = |at| (first..first + count).contains(&at);
            for (at, text) in columns.iter().enumerate().skip(1) {
                assert!(is_own(at) || text.is_empty(), "{line}");
            }
        }
    }
}
