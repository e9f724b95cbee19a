//! Queries on auctions that are over: 4, 6 and 9.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;

use super::auction_state::{OwnAuction, OwnText};
use super::fields::{AuctionLine, BidLine, EventLine};
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;
use super::session_query::PassedSeconds;

/// Auctions of a seller that query 6 averages.
const SELLER_AUCTIONS: usize = 10;

/// Auctions that are not over, for a query that is told of each that ends with a bid.
pub struct Auctions<Q> {
    query: Q,
    seconds: PassedSeconds,
    open: HashMap<i64, OpenAuction>,
    /// Ends and ids by the second of the end.
    ends: BTreeMap<i64, Vec<(i64, i64)>>,
    /// Bids that came before their auctions, by second and auction.
    waiting: BTreeMap<i64, HashMap<i64, Vec<Offer>>>,
}

/// A query on the winner of each auction.
pub trait WinnerQuery {
    /// Works on an auction that is over and its best offer.
    fn winner(
        &mut self,
        id: i64,
        auction: &OwnAuction,
        best: &Offer,
        out: &mut ResultLines,
    ) -> io::Result<()>;
}

struct OpenAuction {
    auction: OwnAuction,
    best: Option<Offer>,
}

/// A bid as an auction keeps it.
pub struct Offer {
    bidder: i64,
    price: i64,
    date_time: i64,
    extra: OwnText,
}

impl OpenAuction {
    /// Keeps an offer that is in time and better than the best: by its price, else by its time.
    fn offer(&mut self, offer: Offer) {
        let is_in_time = (self.auction.date_time..=self.auction.expires).contains(&offer.date_time);
        let is_better = self
            .best
            .as_ref()
            .is_none_or(|best| (best.price, -best.date_time) < (offer.price, -offer.date_time));
        if is_in_time && is_better {
            self.best = Some(offer);
        }
    }
}

impl<Q: WinnerQuery> Auctions<Q> {
    /// A house in which no auction has begun.
    pub fn new(query: Q) -> Auctions<Q> {
        Auctions {
            query,
            seconds: PassedSeconds::default(),
            open: HashMap::new(),
            ends: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    fn begin(&mut self, auction: &AuctionLine<'_>) {
        let mut new = OpenAuction {
            auction: OwnAuction::new(auction),
            best: None,
        };
        let first = auction.date_time.div_euclid(1000);
        for bids in self.waiting.range_mut(first..).map(|(_, bids)| bids) {
            for offer in bids.remove(&auction.id).unwrap_or_default() {
                new.offer(offer);
            }
        }
        self.open.insert(auction.id, new);
        let ends = self
            .ends
            .entry(auction.expires.div_euclid(1000))
            .or_default();
        ends.push((auction.expires, auction.id));
    }

    fn bid(&mut self, bid: &BidLine<'_>) {
        let offer = Offer {
            bidder: bid.bidder,
            price: bid.price,
            date_time: bid.date_time,
            extra: bid.extra.into(),
        };
        match self.open.get_mut(&bid.auction) {
            Some(auction) => auction.offer(offer),
            None => {
                let second = self
                    .waiting
                    .entry(bid.date_time.div_euclid(1000))
                    .or_default();
                second.entry(bid.auction).or_default().push(offer);
            }
        }
    }

    /// Ends the auctions of a second, in the order of their ends.
    fn end(&mut self, second: i64, out: &mut ResultLines) -> io::Result<()> {
        self.waiting.remove(&second);
        let mut ends = self.ends.remove(&second).unwrap_or_default();
        ends.sort_unstable();
        for (_, id) in ends {
            if let Some(over) = self.open.remove(&id)
                && let Some(best) = &over.best
            {
                self.query.winner(id, &over.auction, best, out)?;
            }
        }
        Ok(())
    }
}

impl<Q: WinnerQuery> QueryLoop for Auctions<Q> {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        if self.seconds.accept(event.date_time()) {
            match event {
                EventLine::Person(_) => {}
                EventLine::Auction(auction) => self.begin(auction),
                EventLine::Bid(bid) => self.bid(bid),
            }
        }
        while let Some(second) = self.seconds.pass() {
            self.end(second, out)?;
        }
        Ok(())
    }
}

/// Query 4: sum and number of prices by category.
#[derive(Default)]
pub struct CategoryAverages(HashMap<i64, (i64, i64)>);

impl WinnerQuery for CategoryAverages {
    fn winner(
        &mut self,
        _: i64,
        auction: &OwnAuction,
        best: &Offer,
        out: &mut ResultLines,
    ) -> io::Result<()> {
        let (sum, count) = self.0.entry(auction.category).or_default();
        *sum += best.price;
        *count += 1;
        out.number(auction.category).number(*sum / *count).end()
    }
}

/// Query 6: the prices of the last auctions by seller.
#[derive(Default)]
pub struct SellerAverages(HashMap<i64, VecDeque<i64>>);

impl WinnerQuery for SellerAverages {
    fn winner(
        &mut self,
        _: i64,
        auction: &OwnAuction,
        best: &Offer,
        out: &mut ResultLines,
    ) -> io::Result<()> {
        let prices = self.0.entry(auction.seller).or_default();
        if prices.len() == SELLER_AUCTIONS {
            prices.pop_front();
        }
        prices.push_back(best.price);
        let average = prices.iter().sum::<i64>() / prices.len() as i64;
        out.number(auction.seller).number(average).end()
    }
}

/// Query 9: the auction with its best offer.
#[derive(Default)]
pub struct Winners;

impl WinnerQuery for Winners {
    fn winner(
        &mut self,
        id: i64,
        auction: &OwnAuction,
        best: &Offer,
        out: &mut ResultLines,
    ) -> io::Result<()> {
        out.number(id);
        out.text(&auction.item_name).text(&auction.description);
        out.number(auction.initial_bid).number(auction.reserve);
        out.number(auction.date_time).number(auction.expires);
        out.number(auction.seller).number(auction.category);
        out.text(&auction.extra);
        out.number(best.bidder).number(best.price);
        out.number(best.date_time).text(&best.extra).end()
    }
}
