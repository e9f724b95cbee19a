//! Queries that look at one bid alone: 0, 1 and 2. Nothing is exchanged.

use nexmark::loops::EventLine;
use timely::dataflow::operators::vec::{Filter, Map};
use timely::worker::Worker;

use super::dataflow_run::{by_watermark, run_dataflow};
use super::records::ShortBid;
use crate::BoxError;
use crate::nexmark::query_task::QueryTask;

/// Euros of a dollar, in thousandths.
const EUROS: i64 = 908;

/// Query 0: the bid.
pub fn pass_through(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let bids = by_watermark(ShortBid::of_event);
    run_dataflow(worker, task, bids, |bids| bids, ShortBid::write)
}

/// Query 1: the bid in euros.
pub fn in_euros(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    run_dataflow(
        worker,
        task,
        by_watermark(ShortBid::of_event),
        |bids| {
            bids.map(|mut bid| {
                bid.price *= EUROS;
                bid
            })
        },
        |bid, out| {
            out.number(bid.auction).number(bid.bidder);
            out.thousandths(bid.price).number(bid.date_time);
            out.text(&bid.extra).end()
        },
    )
}

/// Query 2: bids on some auctions.
pub fn selection(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Bid(bid) => Some((bid.auction, bid.price)),
        _ => None,
    };
    run_dataflow(
        worker,
        task,
        by_watermark(to_record),
        |bids| bids.filter(|(auction, _)| auction % 123 == 0),
        |(auction, price), out| out.number(*auction).number(*price).end(),
    )
}
