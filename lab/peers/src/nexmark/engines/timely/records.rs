//! Records of events, with the columns that queries need.

use std::io;

use nexmark::loops::{AuctionLine, BidLine, EventLine, ResultLines};
use serde::{Deserialize, Serialize};

/// Text of a record.
pub type Text = Box<[u8]>;

/// A bid without its channel and its page.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ShortBid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub date_time: i64,
    pub extra: Text,
}

impl ShortBid {
    /// The record of a bid; `None` for other events.
    pub fn of_event(event: &EventLine<'_>) -> Option<ShortBid> {
        let EventLine::Bid(bid) = event else {
            return None;
        };
        Some(ShortBid {
            auction: bid.auction,
            bidder: bid.bidder,
            price: bid.price,
            date_time: bid.date_time,
            extra: bid.extra.into(),
        })
    }

    /// Writes the line of a bid.
    pub fn write(&self, out: &mut ResultLines) -> io::Result<()> {
        out.number(self.auction).number(self.bidder);
        out.number(self.price).number(self.date_time);
        out.text(&self.extra).end()
    }
}

/// A bid with all its columns.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FullBid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub channel: Text,
    pub url: Text,
    pub date_time: i64,
    pub extra: Text,
}

impl FullBid {
    /// The record of a bid.
    pub fn new(bid: &BidLine<'_>) -> FullBid {
        FullBid {
            auction: bid.auction,
            bidder: bid.bidder,
            price: bid.price,
            channel: bid.channel.into(),
            url: bid.url.into(),
            date_time: bid.date_time,
            extra: bid.extra.into(),
        }
    }

    /// Adds the fields of a bid to a line, which goes on.
    pub fn write_fields<'a>(&self, out: &'a mut ResultLines) -> &'a mut ResultLines {
        out.number(self.auction)
            .number(self.bidder)
            .number(self.price);
        out.text(&self.channel).text(&self.url);
        out.number(self.date_time).text(&self.extra)
    }
}

/// An auction with all its columns but its number.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FullAuction {
    pub item_name: Text,
    pub description: Text,
    pub initial_bid: i64,
    pub reserve: i64,
    pub date_time: i64,
    pub expires: i64,
    pub seller: i64,
    pub category: i64,
    pub extra: Text,
}

impl FullAuction {
    /// The record of an auction.
    pub fn new(auction: &AuctionLine<'_>) -> FullAuction {
        FullAuction {
            item_name: auction.item_name.into(),
            description: auction.description.into(),
            initial_bid: auction.initial_bid,
            reserve: auction.reserve,
            date_time: auction.date_time,
            expires: auction.expires,
            seller: auction.seller,
            category: auction.category,
            extra: auction.extra.into(),
        }
    }

    /// Adds the fields of an auction to a line, which goes on.
    pub fn write_fields<'a>(&self, out: &'a mut ResultLines) -> &'a mut ResultLines {
        out.text(&self.item_name).text(&self.description);
        out.number(self.initial_bid).number(self.reserve);
        out.number(self.date_time).number(self.expires);
        out.number(self.seller).number(self.category);
        out.text(&self.extra)
    }
}
