package thalweg.peers.jet;

import com.hazelcast.jet.Traverser;
import com.hazelcast.jet.Traversers;
import com.hazelcast.jet.accumulator.LongAccumulator;
import com.hazelcast.jet.pipeline.BatchStage;
import java.io.Serializable;
import java.util.ArrayList;
import thalweg.peers.events.Auction;
import thalweg.peers.events.Bid;
import thalweg.peers.events.EventLine;
import thalweg.peers.events.Person;
import thalweg.peers.events.Sale;

/** Queries with state by key and without a window: 3, 18 and 20. */
final class Joins {
    private Joins() {}

    static BatchStage<String> lastBids(BatchStage<String> lines) {
        return lines.map(Bid::parse)
                .groupingKey(Bid::personAndAuction)
                .filterStateful(
                        LongAccumulator::new,
                        (last, bid) -> {
                            boolean isLast = bid.dateTime >= last.get();
                            if (isLast) {
                                last.set(bid.dateTime);
                            }
                            return isLast;
                        })
                .map(Bid::toLine);
    }

    static BatchStage<String> localItems(BatchStage<String> lines) {
        BatchStage<Object> persons =
                lines.filter(EventLine::isPerson).map(Person::parse).filter(Person::isNear)
                        .map(person -> (Object) person);
        BatchStage<Object> sales =
                lines.filter(EventLine::isAuction).map(Sale::parse)
                        .filter(sale -> sale.category == Auction.CATEGORY)
                        .map(sale -> (Object) sale);
        return persons.merge(sales)
                .groupingKey(event ->
                        event instanceof Person ? ((Person) event).id : ((Sale) event).seller)
                .flatMapStateful(LocalItems::new, (state, seller, event) -> state.add(event));
    }

    static BatchStage<String> expandedBids(BatchStage<String> lines) {
        BatchStage<Object> auctions =
                lines.filter(EventLine::isAuction).map(Auction::parse)
                        .map(auction -> (Object) auction);
        BatchStage<Object> bids =
                lines.filter(EventLine::isBid).map(Bid::parseEvent).map(bid -> (Object) bid);
        return auctions.merge(bids)
                .groupingKey(event ->
                        event instanceof Auction ? ((Auction) event).id : ((Bid) event).auction)
                .flatMapStateful(ExpandedBids::new, (state, auction, event) -> state.add(event));
    }

    /** A person and auctions that came before. */
    static final class LocalItems implements Serializable {
        private Person near;
        private ArrayList<Long> waiting;

        Traverser<String> add(Object event) {
            if (event instanceof Person) {
                near = (Person) event;
                ArrayList<Long> before = waiting;
                waiting = null;
                return before == null
                        ? Traversers.empty()
                        : Traversers.traverseIterable(before).map(near::toLine);
            }
            long auction = ((Sale) event).id;
            if (near != null) {
                return Traversers.singleton(near.toLine(auction));
            }
            waiting = waiting == null ? new ArrayList<>() : waiting;
            waiting.add(auction);
            return Traversers.empty();
        }
    }

    /** An auction, and bids that came before it. */
    static final class ExpandedBids implements Serializable {
        /** The fields of the auction as they are written; empty for other categories. */
        private String fields;

        private ArrayList<Bid> waiting;

        Traverser<String> add(Object event) {
            if (event instanceof Auction) {
                Auction auction = (Auction) event;
                fields = auction.category == Auction.CATEGORY ? auction.toLine() : "";
                ArrayList<Bid> before = waiting;
                waiting = null;
                return before == null || fields.isEmpty()
                        ? Traversers.empty()
                        : Traversers.traverseIterable(before).map(this::line);
            }
            Bid bid = (Bid) event;
            if (fields == null) {
                waiting = waiting == null ? new ArrayList<>() : waiting;
                waiting.add(bid);
                return Traversers.empty();
            }
            return fields.isEmpty() ? Traversers.empty() : Traversers.singleton(line(bid));
        }

        private String line(Bid bid) {
            return bid.toLine() + "," + fields;
        }
    }
}
