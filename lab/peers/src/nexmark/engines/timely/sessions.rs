//! Query 11: bids of a person until a pause of ten seconds.

use std::collections::HashMap;

use nexmark::loops::EventLine;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::worker::Worker;

use super::dataflow_run::{ResultBuilder, by_watermark, run_dataflow};
use super::open_windows::OpenWindows;
use crate::BoxError;
use crate::nexmark::query_task::QueryTask;

/// Milliseconds without a bid that end a session.
const PAUSE_MS: i64 = 10_000;

/// Bids without a pause between them.
#[derive(Clone, Copy)]
struct BidderSession {
    first: i64,
    last: i64,
    bids: i64,
}

impl BidderSession {
    /// The full second in which the session is looked at: it is over then, unless bids came.
    fn due(&self) -> u64 {
        (self.last + PAUSE_MS) as u64 / 1000 * 1000 + 1000
    }
}

/// Sessions are kept where their person belongs; each second, those that may be over are looked at.
pub fn sessions(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    let to_record = |event: &EventLine<'_>| match event {
        EventLine::Bid(bid) => Some((bid.bidder, bid.date_time)),
        _ => None,
    };
    run_dataflow(
        worker,
        task,
        by_watermark(to_record),
        keep_sessions,
        |(bidder, session), out| {
            out.number(*bidder).number(session.bids);
            out.number(session.first);
            out.number(session.last + PAUSE_MS).end()
        },
    )
}

fn keep_sessions<'s>(
    bids: StreamVec<'s, u64, (i64, i64)>,
) -> StreamVec<'s, u64, (i64, BidderSession)> {
    let by_bidder = Exchange::new(|bid: &(i64, i64)| bid.0 as u64);
    bids.unary_frontier::<ResultBuilder<_>, _, _, _>(by_bidder, "Sessions", |_, _| {
        let mut open: HashMap<i64, Vec<BidderSession>> = HashMap::new();
        // Persons by the second in which one of their sessions may be over.
        let mut seconds: OpenWindows<Vec<i64>> = OpenWindows::new();
        move |(bids, frontier), output| {
            bids.for_each(|capability, batch| {
                for (bidder, date_time) in batch.drain(..) {
                    let sessions = open.entry(bidder).or_default();
                    let is_new = sessions.is_empty();
                    let session = add_bid(sessions, date_time);
                    if is_new {
                        seconds.state(session.due(), &capability).push(bidder);
                    }
                }
            });
            while let Some((due, capability, bidders)) = seconds.take_due(frontier) {
                let mut results = output.session(&capability);
                for bidder in bidders {
                    let Some(sessions) = open.get_mut(&bidder) else {
                        continue;
                    };
                    sessions.retain(|session| {
                        let is_over = session.due() <= due;
                        if is_over {
                            results.give((bidder, *session));
                        }
                        !is_over
                    });
                    match sessions.iter().map(BidderSession::due).min() {
                        Some(next) => seconds.reopen(next, &capability).push(bidder),
                        None => {
                            open.remove(&bidder);
                        }
                    }
                }
            }
        }
    })
}

/// Adds a bid, which may join sessions, to those of a person; the session that has it now.
fn add_bid(sessions: &mut Vec<BidderSession>, date_time: i64) -> BidderSession {
    let mut session = BidderSession {
        first: date_time,
        last: date_time,
        bids: 1,
    };
    sessions.retain(|other| {
        let is_apart = date_time - other.last >= PAUSE_MS || other.first - date_time >= PAUSE_MS;
        if !is_apart {
            session.first = session.first.min(other.first);
            session.last = session.last.max(other.last);
            session.bids += other.bids;
        }
        is_apart
    });
    sessions.push(session);
    session
}
