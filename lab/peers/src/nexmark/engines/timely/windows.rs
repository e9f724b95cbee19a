//! Queries over intervals of event time: 5, 7 and 8.

use std::collections::{BTreeMap, HashMap};

use nexmark::loops::EventLine;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::{Exchange, ParallelizationContract, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;
use timely::worker::Worker;

use super::dataflow_run::{ResultBuilder, by_watermark, run_dataflow};
use super::open_windows::OpenWindows;
use super::records::{ShortBid, Text};
use crate::BoxError;
use crate::nexmark::query_task::QueryTask;

/// Milliseconds of an interval.
const INTERVAL_MS: u64 = 10_000;
/// Milliseconds from the start of one interval of query 5 to that of the next.
const SLIDE_MS: u64 = 2_000;

/// Query 5: auctions are counted where their key belongs; the best of the workers meet in one.
pub fn hot_items(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Bid(bid) => Some((bid.auction, bid.date_time)),
        _ => None,
    };
    run_dataflow(
        worker,
        task,
        by_watermark(to_record),
        |bids| best_items(count_items(bids)),
        |(start_s, auction, count), out| out.number(*auction).number(*start_s).number(*count).end(),
    )
}

/// Auctions with most bids of each interval, among those of this worker: end, count, auctions.
fn count_items<'s>(
    bids: StreamVec<'s, u64, (i64, i64)>,
) -> StreamVec<'s, u64, (u64, i64, Vec<i64>)> {
    let by_auction = Exchange::new(|bid: &(i64, i64)| bid.0 as u64);
    bids.unary_frontier::<ResultBuilder<_>, _, _, _>(by_auction, "CountItems", |_, _| {
        let mut ends: OpenWindows<()> = OpenWindows::new();
        let mut slides: BTreeMap<u64, HashMap<i64, i64>> = BTreeMap::new();
        move |(bids, frontier), output| {
            bids.for_each(|capability, batch| {
                for (auction, date_time) in batch.drain(..) {
                    let slide = date_time as u64 / SLIDE_MS * SLIDE_MS;
                    let counts = slides.entry(slide).or_insert_with(|| {
                        for after in 1..=INTERVAL_MS / SLIDE_MS {
                            ends.state(slide + after * SLIDE_MS, &capability);
                        }
                        HashMap::new()
                    });
                    *counts.entry(auction).or_default() += 1;
                }
            });
            while let Some((end, capability, ())) = ends.take_due(frontier) {
                let mut counts: HashMap<i64, i64> = HashMap::new();
                for (auction, count) in slides
                    .range(end.saturating_sub(INTERVAL_MS)..end)
                    .flat_map(|(_, slide)| slide)
                {
                    *counts.entry(*auction).or_default() += count;
                }
                slides = slides.split_off(&(end + SLIDE_MS).saturating_sub(INTERVAL_MS));
                let most = counts.values().copied().max().unwrap_or_default();
                counts.retain(|_, count| *count == most);
                let best = counts.into_keys().collect();
                output.session(&capability).give((end, most, best));
            }
        }
    })
}

/// Auctions with most bids of each interval, among all: start in seconds, auction, count.
fn best_items<'s>(
    best: StreamVec<'s, u64, (u64, i64, Vec<i64>)>,
) -> StreamVec<'s, u64, (i64, i64, i64)> {
    let by_end = Exchange::new(|best: &(u64, i64, Vec<i64>)| best.0 / SLIDE_MS);
    best.unary_frontier::<ResultBuilder<_>, _, _, _>(by_end, "BestItems", |_, _| {
        // Results of an end are sent at the end, so they are whole just behind it.
        let mut ends: OpenWindows<(i64, Vec<i64>)> = OpenWindows::new();
        move |(best, frontier), output| {
            best.for_each(|capability, batch| {
                for (end, count, auctions) in batch.drain(..) {
                    let (most, own) = ends.state(end + 1, &capability);
                    if count > *most {
                        *most = count;
                        own.clear();
                    }
                    if count == *most {
                        own.extend(auctions);
                    }
                }
            });
            while let Some((due, capability, (count, auctions))) = ends.take_due(frontier) {
                let start_s = (due - 1) as i64 / 1000 - (INTERVAL_MS / 1000) as i64;
                let rows = auctions
                    .into_iter()
                    .map(|auction| (start_s, auction, count));
                output.session(&capability).give_iterator(rows);
            }
        }
    })
}

/// Query 7: each worker keeps the highest of its bids; those of all workers meet in one.
pub fn highest_bids(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    run_dataflow(
        worker,
        task,
        by_watermark(ShortBid::of_event),
        |bids| {
            let own = keep_highest(bids, Pipeline, 0);
            let by_interval = Exchange::new(|bid: &ShortBid| bid.date_time as u64 / INTERVAL_MS);
            keep_highest(own, by_interval, 1)
        },
        ShortBid::write,
    )
}

/// The highest bids of each interval that come to this worker, sent `after_ms` behind its end.
fn keep_highest<'s>(
    bids: StreamVec<'s, u64, ShortBid>,
    pact: impl ParallelizationContract<u64, Vec<ShortBid>>,
    after_ms: u64,
) -> StreamVec<'s, u64, ShortBid> {
    bids.unary_frontier::<ResultBuilder<_>, _, _, _>(pact, "Highest", |_, _| {
        let mut intervals: OpenWindows<Vec<ShortBid>> = OpenWindows::new();
        move |(bids, frontier), output| {
            bids.for_each(|capability, batch| {
                for bid in batch.drain(..) {
                    let end = interval_end(bid.date_time) + after_ms;
                    let best = intervals.state(end, &capability);
                    let price = best.first().map_or(i64::MIN, |first| first.price);
                    if bid.price > price {
                        best.clear();
                    }
                    if bid.price >= price {
                        best.push(bid);
                    }
                }
            });
            while let Some((_, capability, best)) = intervals.take_due(frontier) {
                output.session(&capability).give_iterator(best.into_iter());
            }
        }
    })
}

/// Query 8: persons and auctions meet where the id of the person, who may be the seller, belongs.
pub fn new_sellers(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Person(person) => Some((person.id, person.date_time, Some(person.name.into()))),
        EventLine::Auction(auction) => Some((auction.seller, auction.date_time, None)),
        EventLine::Bid(_) => None,
    };
    run_dataflow(
        worker,
        task,
        by_watermark(to_record),
        join_intervals,
        |(id, name, start_s), out| out.number(*id).text(name).number(*start_s).end(),
    )
}

/// A person, or with no name a sale: id, time, name.
type Deed = (i64, i64, Option<Text>);

/// The name of a person who has come, and whether the person has sold something.
type PersonDeeds = (Option<Text>, bool);

fn join_intervals<'s>(deeds: StreamVec<'s, u64, Deed>) -> StreamVec<'s, u64, (i64, Text, i64)> {
    let by_id = Exchange::new(|deed: &Deed| deed.0 as u64);
    deeds.unary_frontier::<ResultBuilder<_>, _, _, _>(by_id, "NewSellers", |_, _| {
        let mut intervals: OpenWindows<HashMap<i64, PersonDeeds>> = OpenWindows::new();
        move |(deeds, frontier), output| {
            deeds.for_each(|capability, batch| {
                for (id, date_time, name) in batch.drain(..) {
                    let people = intervals.state(interval_end(date_time), &capability);
                    let (own_name, has_sold) = people.entry(id).or_default();
                    match name {
                        Some(name) => *own_name = Some(name),
                        None => *has_sold = true,
                    }
                }
            });
            while let Some((end, capability, people)) = intervals.take_due(frontier) {
                let start_s = (end - INTERVAL_MS) as i64 / 1000;
                let rows = people.into_iter().filter_map(|(id, (name, has_sold))| {
                    name.filter(|_| has_sold).map(|name| (id, name, start_s))
                });
                output.session(&capability).give_iterator(rows);
            }
        }
    })
}

fn interval_end(date_time: i64) -> u64 {
    date_time as u64 / INTERVAL_MS * INTERVAL_MS + INTERVAL_MS
}
