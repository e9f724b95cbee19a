//! Auctions that are kept.

use super::fields::AuctionLine;

/// A text that is kept.
pub type OwnText = Box<[u8]>;

/// An auction that is kept; its id is its key.
pub struct OwnAuction {
    pub item_name: OwnText,
    pub description: OwnText,
    pub initial_bid: i64,
    pub reserve: i64,
    pub date_time: i64,
    pub expires: i64,
    pub seller: i64,
    pub category: i64,
    pub extra: OwnText,
}

impl OwnAuction {
    /// Copies an auction out of its line.
    pub fn new(auction: &AuctionLine<'_>) -> OwnAuction {
        OwnAuction {
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
}
