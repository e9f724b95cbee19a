//! Queries that join without a window: 3 and 20. Their results do not depend on an order.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use nexmark::loops::EventLine;
use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::worker::Worker;

use super::dataflow_run::{ResultBuilder, by_watermark, run_dataflow};
use super::records::{FullAuction, FullBid, Text};
use crate::BoxError;
use crate::nexmark::query_task::QueryTask;

/// The category of queries 3 and 20.
const CATEGORY: i64 = 10;

/// A person of three states, or an auction of one category, with the person's number.
#[derive(Clone, Debug, Deserialize, Serialize)]
enum LocalEvent {
    Person(i64, [Text; 3]),
    Auction(i64, i64),
}

/// Query 3: persons and auctions meet where the number of the person belongs.
pub fn local_items(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Person(person) if matches!(person.state, b"OR" | b"ID" | b"CA") => {
            let texts = [person.name, person.city, person.state];
            Some(LocalEvent::Person(person.id, texts.map(Text::from)))
        }
        EventLine::Auction(auction) if auction.category == CATEGORY => {
            Some(LocalEvent::Auction(auction.seller, auction.id))
        }
        _ => None,
    };
    run_dataflow(
        worker,
        task,
        by_watermark(to_record),
        join_sellers,
        |(texts, auction), out| {
            for text in texts {
                out.text(text);
            }
            out.number(*auction).end()
        },
    )
}

fn join_sellers<'s>(
    events: StreamVec<'s, u64, LocalEvent>,
) -> StreamVec<'s, u64, ([Text; 3], i64)> {
    let by_person = Exchange::new(|event: &LocalEvent| match event {
        LocalEvent::Person(id, _) | LocalEvent::Auction(id, _) => *id as u64,
    });
    events.unary::<ResultBuilder<_>, _, _, _>(by_person, "LocalItems", |_, _| {
        let mut persons: HashMap<i64, [Text; 3]> = HashMap::new();
        let mut auctions: HashMap<i64, Vec<i64>> = HashMap::new();
        move |events, output| {
            events.for_each_stamp(|capability, batches| {
                let mut results = output.session(&capability);
                for event in batches.flat_map(|batch| batch.drain(..)) {
                    match event {
                        LocalEvent::Person(id, texts) => {
                            for auction in auctions.get(&id).into_iter().flatten() {
                                results.give((texts.clone(), *auction));
                            }
                            persons.insert(id, texts);
                        }
                        LocalEvent::Auction(seller, id) => {
                            auctions.entry(seller).or_default().push(id);
                            if let Some(texts) = persons.get(&seller) {
                                results.give((texts.clone(), id));
                            }
                        }
                    }
                }
            });
        }
    })
}

/// An auction, of which other categories have no columns, or a bid.
#[derive(Clone, Debug, Deserialize, Serialize)]
enum MarketEvent {
    Auction(i64, Option<FullAuction>),
    Bid(FullBid),
}

/// Query 20: auctions and bids meet where the number of the auction belongs.
pub fn expanded_bids(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Person(_) => None,
        EventLine::Auction(auction) => {
            let own = (auction.category == CATEGORY).then(|| FullAuction::new(auction));
            Some(MarketEvent::Auction(auction.id, own))
        }
        EventLine::Bid(bid) => Some(MarketEvent::Bid(FullBid::new(bid))),
    };
    run_dataflow(
        worker,
        task,
        by_watermark(to_record),
        join_auctions,
        |(bid, auction), out| {
            bid.write_fields(out);
            auction.write_fields(out).end()
        },
    )
}

/// The auctions and bids of one worker.
#[derive(Default)]
struct Market {
    auctions: HashMap<i64, Rc<FullAuction>>,
    /// Auctions of other categories.
    others: HashSet<i64>,
    /// Bids that came before their auctions.
    waiting: HashMap<i64, Vec<FullBid>>,
}

type ExpandedBid = (FullBid, Rc<FullAuction>);

impl Market {
    fn add(&mut self, event: MarketEvent, mut give: impl FnMut(ExpandedBid)) {
        match event {
            MarketEvent::Auction(id, own) => {
                let waiting = self.waiting.remove(&id).unwrap_or_default();
                let Some(own) = own.map(Rc::new) else {
                    self.others.insert(id);
                    return;
                };
                waiting.into_iter().for_each(|bid| give((bid, own.clone())));
                self.auctions.insert(id, own);
            }
            MarketEvent::Bid(bid) => match self.auctions.get(&bid.auction) {
                Some(auction) => give((bid, auction.clone())),
                None if self.others.contains(&bid.auction) => {}
                None => self.waiting.entry(bid.auction).or_default().push(bid),
            },
        }
    }
}

fn join_auctions<'s>(events: StreamVec<'s, u64, MarketEvent>) -> StreamVec<'s, u64, ExpandedBid> {
    let by_auction = Exchange::new(|event: &MarketEvent| match event {
        MarketEvent::Auction(id, _) => *id as u64,
        MarketEvent::Bid(bid) => bid.auction as u64,
    });
    events.unary::<ResultBuilder<_>, _, _, _>(by_auction, "ExpandedBids", |_, _| {
        let mut market = Market::default();
        move |events, output| {
            events.for_each_stamp(|capability, batches| {
                let mut results = output.session(&capability);
                for event in batches.flat_map(|batch| batch.drain(..)) {
                    market.add(event, |row| results.give(row));
                }
            });
        }
    })
}
