package thalweg.peers.flink;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;
import thalweg.peers.events.Auction;
import thalweg.peers.events.Bid;
import thalweg.peers.events.EventLine;
import thalweg.peers.events.Person;
import thalweg.peers.events.Sale;

/** Queries that join without a window: 3 and 20. */
final class Joins {
    private Joins() {}

    static DataStream<String> localItems(DataStream<String> lines) {
        DataStream<Person> persons =
                SingleBids.alone(
                        SingleBids.alone(lines.filter(EventLine::isPerson)).map(Person::parse));
        DataStream<Sale> sales =
                SingleBids.alone(
                        SingleBids.alone(lines.filter(EventLine::isAuction)).map(Sale::parse));
        return SingleBids.alone(persons.filter(Person::isNear))
                .keyBy(person -> person.id)
                .connect(
                        SingleBids.alone(sales.filter(sale -> sale.category == Auction.CATEGORY))
                                .keyBy(sale -> sale.seller))
                .process(new LocalItems());
    }

    static DataStream<String> expandedBids(DataStream<String> lines) {
        DataStream<Auction> auctions =
                SingleBids.alone(
                        SingleBids.alone(lines.filter(EventLine::isAuction)).map(Auction::parse));
        DataStream<Bid> bids =
                SingleBids.alone(
                        SingleBids.alone(lines.filter(EventLine::isBid)).map(Bid::parseEvent));
        return auctions.keyBy(auction -> auction.id)
                .connect(bids.keyBy(bid -> bid.auction))
                .process(new ExpandedBids());
    }

    /** A person and auctions that came before. */
    static final class LocalItems extends KeyedCoProcessFunction<Long, Person, Sale, String> {
        private transient ValueState<Person> near;
        private transient ListState<Long> waiting;

        @Override
        public void open(OpenContext context) {
            near = getRuntimeContext().getState(new ValueStateDescriptor<>("near", Person.class));
            waiting =
                    getRuntimeContext()
                            .getListState(new ListStateDescriptor<>("waiting", Long.class));
        }

        @Override
        public void processElement1(Person person, Context at, Collector<String> out)
                throws Exception {
            near.update(person);
            for (Long auction : waiting.get()) {
                out.collect(person.toLine(auction));
            }
            waiting.clear();
        }

        @Override
        public void processElement2(Sale sale, Context at, Collector<String> out)
                throws Exception {
            Person person = near.value();
            if (person == null) {
                waiting.add(sale.id);
            } else {
                out.collect(person.toLine(sale.id));
            }
        }
    }

    /** An auction, and bids that came before it. */
    static final class ExpandedBids extends KeyedCoProcessFunction<Long, Auction, Bid, String> {
        /** The fields of the auction as they are written; empty for other categories. */
        private transient ValueState<String> fields;

        private transient ListState<Bid> waiting;

        @Override
        public void open(OpenContext context) {
            fields = getRuntimeContext().getState(new ValueStateDescriptor<>("fields", String.class));
            waiting =
                    getRuntimeContext()
                            .getListState(new ListStateDescriptor<>("waiting", Bid.class));
        }

        @Override
        public void processElement1(Auction auction, Context at, Collector<String> out)
                throws Exception {
            String own = auction.category == Auction.CATEGORY ? auction.toLine() : "";
            fields.update(own);
            if (!own.isEmpty()) {
                for (Bid bid : waiting.get()) {
                    out.collect(bid.toLine() + "," + own);
                }
            }
            waiting.clear();
        }

        @Override
        public void processElement2(Bid bid, Context at, Collector<String> out) throws Exception {
            String own = fields.value();
            if (own == null) {
                waiting.add(bid);
            } else if (!own.isEmpty()) {
                out.collect(bid.toLine() + "," + own);
            }
        }
    }
}
