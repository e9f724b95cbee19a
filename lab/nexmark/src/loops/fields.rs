//! Events as they lie in a line: numbers, and texts in place.

use memchr::memchr;

/// An event in a line.
#[derive(Clone, Copy, Debug)]
pub enum EventLine<'a> {
    /// A new person, in place.
    Person(PersonLine<'a>),
    /// A new auction, in place.
    Auction(AuctionLine<'a>),
    /// A bid on an auction, in place.
    Bid(BidLine<'a>),
}

/// A person in a line; mail address, credit card and extra text are passed over.
#[derive(Clone, Copy, Debug)]
pub struct PersonLine<'a> {
    /// Number of the person.
    pub id: i64,
    /// First and last name.
    pub name: &'a [u8],
    /// City of the person.
    pub city: &'a [u8],
    /// State, as two letters.
    pub state: &'a [u8],
    /// Event time in milliseconds since 1970.
    pub date_time: i64,
}

/// An auction in a line.
#[derive(Clone, Copy, Debug)]
pub struct AuctionLine<'a> {
    /// Number of the auction.
    pub id: i64,
    /// Name of the item.
    pub item_name: &'a [u8],
    /// Description of the item.
    pub description: &'a [u8],
    /// First price in cents.
    pub initial_bid: i64,
    /// Least price in cents for a sale.
    pub reserve: i64,
    /// Event time in milliseconds since 1970.
    pub date_time: i64,
    /// End of the auction in milliseconds since 1970.
    pub expires: i64,
    /// Person who sells the item.
    pub seller: i64,
    /// Category of the item.
    pub category: i64,
    /// Letters that fill the event up.
    pub extra: &'a [u8],
}

/// A bid in a line.
#[derive(Clone, Copy, Debug)]
pub struct BidLine<'a> {
    /// Auction that the bid is on.
    pub auction: i64,
    /// Person who makes the bid.
    pub bidder: i64,
    /// Price of the bid in cents.
    pub price: i64,
    /// Channel by which the bid came.
    pub channel: &'a [u8],
    /// Page of the item in that channel.
    pub url: &'a [u8],
    /// Event time in milliseconds since 1970.
    pub date_time: i64,
    /// Letters that fill the event up.
    pub extra: &'a [u8],
}

/// Columns of persons and auctions, empty before a bid in a line of events.
const BEFORE_BID: usize = 18;
/// Columns of persons, empty before an auction in a line of events.
const BEFORE_AUCTION: usize = 8;

impl<'a> BidLine<'a> {
    /// Reads a line of bids; `None` if it is none.
    pub fn parse(line: &'a [u8]) -> Option<BidLine<'a>> {
        Fields(line).bid()
    }
}

impl<'a> EventLine<'a> {
    /// Reads a line of events; `None` if it is none.
    pub fn parse(line: &'a [u8]) -> Option<EventLine<'a>> {
        let mut fields = Fields(line);
        match fields.number()? {
            0 => Some(EventLine::Person(fields.person()?)),
            1 => {
                fields.pass_empty(BEFORE_AUCTION)?;
                Some(EventLine::Auction(fields.auction()?))
            }
            2 => {
                fields.pass_empty(BEFORE_BID)?;
                Some(EventLine::Bid(fields.bid()?))
            }
            _ => None,
        }
    }

    /// Event time in milliseconds since 1970.
    pub fn date_time(&self) -> i64 {
        match self {
            EventLine::Person(person) => person.date_time,
            EventLine::Auction(auction) => auction.date_time,
            EventLine::Bid(bid) => bid.date_time,
        }
    }
}

/// The rest of a line.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The next field as it is.
    pub fn text(&mut self) -> &'a [u8] {
        let at = memchr(b',', self.0).unwrap_or(self.0.len());
        let (field, rest) = self.0.split_at(at);
        self.0 = rest.get(1..).unwrap_or_default();
        field
    }

    /// The next field as a number without a sign; `None` if it is no such number.
    pub fn number(&mut self) -> Option<i64> {
        let mut number: i64 = 0;
        for (at, byte) in self.0.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    number = number
                        .checked_mul(10)?
                        .checked_add(i64::from(byte - b'0'))?;
                }
                b',' if at > 0 => {
                    self.0 = &self.0[at + 1..];
                    return Some(number);
                }
                _ => return None,
            }
        }
        let is_there = !std::mem::take(&mut self.0).is_empty();
        is_there.then_some(number)
    }

    /// Passes a number of empty fields.
    fn pass_empty(&mut self, count: usize) -> Option<()> {
        let (empty, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        empty.iter().all(|byte| *byte == b',').then_some(())
    }

    fn person(&mut self) -> Option<PersonLine<'a>> {
        let (id, name) = (self.number()?, self.text());
        let (_email_address, _credit_card) = (self.text(), self.text());
        Some(PersonLine {
            id,
            name,
            city: self.text(),
            state: self.text(),
            date_time: self.number()?,
        })
    }

    fn auction(&mut self) -> Option<AuctionLine<'a>> {
        Some(AuctionLine {
            id: self.number()?,
            item_name: self.text(),
            description: self.text(),
            initial_bid: self.number()?,
            reserve: self.number()?,
            date_time: self.number()?,
            expires: self.number()?,
            seller: self.number()?,
            category: self.number()?,
            extra: self.text(),
        })
    }

    fn bid(&mut self) -> Option<BidLine<'a>> {
        Some(BidLine {
            auction: self.number()?,
            bidder: self.number()?,
            price: self.number()?,
            channel: self.text(),
            url: self.text(),
            date_time: self.number()?,
            extra: self.text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Generator, GeneratorOptions, csv};

    #[test]
    fn events_are_read_as_they_are_written() {
        let options = GeneratorOptions {
            events: 500,
            ..GeneratorOptions::default()
        };
        for event in Generator::new(options) {
            let mut line = Vec::new();
            csv::write_event(&mut line, &event).unwrap();
            let line = line.trim_ascii_end();
            match (event, EventLine::parse(line).unwrap()) {
                (Event::Person(event), EventLine::Person(read)) => {
                    assert_eq!(read.id as u64, event.id);
                    assert_eq!(read.state, event.state.as_bytes());
                    assert_eq!(read.date_time, event.date_time);
                }
                (Event::Auction(event), EventLine::Auction(read)) => {
                    assert_eq!(read.seller as u64, event.seller);
                    assert_eq!(read.expires, event.expires);
                    assert_eq!(read.extra, event.extra.as_bytes());
                }
                (Event::Bid(event), EventLine::Bid(read)) => {
                    assert_eq!(read.price as u64, event.price);
                    assert_eq!(read.url, event.url.as_bytes());
                    assert_eq!(read.extra, event.extra.as_bytes());
                }
                (event, read) => panic!("{event:?} was read as {read:?}"),
            }
        }
    }

    #[test]
    fn wrong_lines_are_none() {
        for line in ["", "3,,", "2,1", "1,,,,,,,,x", "0,a"] {
            assert!(EventLine::parse(line.as_bytes()).is_none(), "{line}");
        }
        assert!(BidLine::parse(b"1,2,-3,a,b,4,c").is_none());
    }
}
