//! Query 18: each bid that is the last one so far of a person on an auction.

use std::collections::{BTreeMap, HashMap};

use nexmark::loops::EventLine;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Capability;
use timely::dataflow::operators::generic::operator::Operator;
use timely::worker::Worker;

use super::dataflow_run::{RecordSource, RecordTime, ResultBuilder, run_dataflow};
use super::records::FullBid;
use crate::BoxError;
use crate::nexmark::query_task::QueryTask;

/// The order of the input counts, so blocks are processed in their order.
pub fn last_bids(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Bid(bid) => Some(FullBid::new(bid)),
        _ => None,
    };
    run_dataflow(
        worker,
        task,
        RecordSource {
            time: RecordTime::Block,
            to_record,
        },
        keep_last,
        |bid, out| bid.write_fields(out).end(),
    )
}

/// The bids of a block that is not processed yet, with the right to send results of it.
type WaitingBlock = (Capability<u64>, Vec<Vec<FullBid>>);

fn keep_last<'s>(bids: StreamVec<'s, u64, FullBid>) -> StreamVec<'s, u64, FullBid> {
    let by_person = Exchange::new(|bid: &FullBid| bid.bidder as u64);
    bids.unary_frontier::<ResultBuilder<_>, _, _, _>(by_person, "LastBids", |_, _| {
        let mut waiting: BTreeMap<u64, WaitingBlock> = BTreeMap::new();
        let mut times: HashMap<(i64, i64), i64> = HashMap::new();
        move |(bids, frontier), output| {
            bids.for_each(|capability, batch| {
                if let Some(capability) = capability.retain_least(0) {
                    let block = *capability.time();
                    let (_, batches) = waiting.entry(block).or_insert((capability, Vec::new()));
                    batches.push(std::mem::take(batch));
                }
            });
            while let Some(first) = waiting.first_entry()
                && !frontier.less_equal(first.key())
            {
                let (capability, batches) = first.remove();
                let mut results = output.session(&capability);
                for bid in batches.into_iter().flatten() {
                    let last = times.entry((bid.bidder, bid.auction)).or_insert(i64::MIN);
                    if bid.date_time >= *last {
                        *last = bid.date_time;
                        results.give(bid);
                    }
                }
            }
        }
    })
}
