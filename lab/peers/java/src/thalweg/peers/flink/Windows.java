package thalweg.peers.flink;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.CoGroupFunction;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import thalweg.peers.events.EventLine;
import thalweg.peers.events.Highest;
import thalweg.peers.events.KeyTime;
import thalweg.peers.events.Person;
import thalweg.peers.events.Sale;
import thalweg.peers.events.ShortBid;

/** Queries with windows of event time: 5, 7, 8 and 11. */
final class Windows {
    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final Duration SLIDE = Duration.ofSeconds(2);

    /** Flink's sessions join where one ends when the next begins, those of the query do not. */
    private static final Duration PAUSE = Duration.ofMillis(9_999);

    private Windows() {}

    static DataStream<String> hotItems(DataStream<String> lines) {
        DataStream<KeyTime> bids =
                SingleBids.alone(
                        SingleBids.alone(lines.map(KeyTime::ofAuction))
                                .assignTimestampsAndWatermarks(
                                        strategy().withTimestampAssigner((bid, t) -> bid.dateTime)));
        return bids.keyBy(bid -> bid.key)
                .window(SlidingEventTimeWindows.of(INTERVAL, SLIDE))
                .aggregate(new CountBids<>(), new KeyCount())
                .windowAll(TumblingEventTimeWindows.of(SLIDE))
                .aggregate(new MostBids())
                .flatMap(
                        (Highest<Tuple3<Long, Long, Long>> most, Collector<String> out) -> {
                            for (Tuple3<Long, Long, Long> item : most.items) {
                                out.collect(item.f0 + "," + item.f1 / 1000 + "," + item.f2);
                            }
                        })
                .returns(String.class);
    }

    static DataStream<String> highestBids(DataStream<String> lines) {
        WatermarkStrategy<ShortBid> byTime =
                WatermarkStrategy.<ShortBid>forBoundedOutOfOrderness(Duration.ofSeconds(4))
                        .withTimestampAssigner((bid, t) -> bid.dateTime);
        return SingleBids.alone(
                        SingleBids.alone(lines.map(ShortBid::parse))
                                .assignTimestampsAndWatermarks(byTime))
                .windowAll(TumblingEventTimeWindows.of(INTERVAL))
                .aggregate(new HighestPrice())
                .flatMap(
                        (Highest<ShortBid> best, Collector<String> out) -> {
                            for (ShortBid bid : best.items) {
                                out.collect(bid.toLine());
                            }
                        })
                .returns(String.class);
    }

    static DataStream<String> newSellers(DataStream<String> lines) {
        WatermarkStrategy<Person> personTime =
                WatermarkStrategy.<Person>forBoundedOutOfOrderness(Duration.ofSeconds(4))
                        .withTimestampAssigner((person, t) -> person.dateTime);
        WatermarkStrategy<Sale> saleTime =
                WatermarkStrategy.<Sale>forBoundedOutOfOrderness(Duration.ofSeconds(4))
                        .withTimestampAssigner((sale, t) -> sale.dateTime);
        DataStream<Person> persons =
                SingleBids.alone(
                        SingleBids.alone(
                                        SingleBids.alone(lines.filter(EventLine::isPerson))
                                                .map(Person::parse))
                                .assignTimestampsAndWatermarks(personTime));
        DataStream<Sale> sales =
                SingleBids.alone(
                        SingleBids.alone(
                                        SingleBids.alone(lines.filter(EventLine::isAuction))
                                                .map(Sale::parse))
                                .assignTimestampsAndWatermarks(saleTime));
        return persons.coGroup(sales)
                .where(person -> person.id)
                .equalTo(sale -> sale.seller)
                .window(TumblingEventTimeWindows.of(INTERVAL))
                .apply(new NewSeller());
    }

    static DataStream<String> sessions(DataStream<String> lines) {
        DataStream<KeyTime> bids =
                SingleBids.alone(
                        SingleBids.alone(lines.map(KeyTime::ofBidder))
                                .assignTimestampsAndWatermarks(
                                        strategy().withTimestampAssigner((bid, t) -> bid.dateTime)));
        return bids.keyBy(bid -> bid.key)
                .window(EventTimeSessionWindows.withGap(PAUSE))
                .aggregate(new CountBids<>(), new SessionLine());
    }

    private static WatermarkStrategy<KeyTime> strategy() {
        return WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofSeconds(4));
    }

    /** Number of elements. */
    static final class CountBids<T> implements AggregateFunction<T, Long, Long> {
        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(T bid, Long count) {
            return count + 1;
        }

        @Override
        public Long getResult(Long count) {
            return count;
        }

        @Override
        public Long merge(Long one, Long other) {
            return one + other;
        }
    }

    /** Key, start and count of a window. */
    static final class KeyCount
            extends ProcessWindowFunction<Long, Tuple3<Long, Long, Long>, Long, TimeWindow> {
        @Override
        public void process(
                Long key,
                Context at,
                Iterable<Long> counts,
                Collector<Tuple3<Long, Long, Long>> out) {
            for (Long count : counts) {
                out.collect(Tuple3.of(key, at.window().getStart(), count));
            }
        }
    }

    /** The keys with the greatest count. */
    static final class MostBids
            implements AggregateFunction<
                    Tuple3<Long, Long, Long>,
                    Highest<Tuple3<Long, Long, Long>>,
                    Highest<Tuple3<Long, Long, Long>>> {
        @Override
        public Highest<Tuple3<Long, Long, Long>> createAccumulator() {
            return new Highest<>();
        }

        @Override
        public Highest<Tuple3<Long, Long, Long>> add(
                Tuple3<Long, Long, Long> item, Highest<Tuple3<Long, Long, Long>> most) {
            return item.f2 < most.number ? most : most.add(item.copy(), item.f2);
        }

        @Override
        public Highest<Tuple3<Long, Long, Long>> getResult(Highest<Tuple3<Long, Long, Long>> most) {
            return most;
        }

        @Override
        public Highest<Tuple3<Long, Long, Long>> merge(
                Highest<Tuple3<Long, Long, Long>> one, Highest<Tuple3<Long, Long, Long>> other) {
            return one.addAll(other);
        }
    }

    /** The bids with the highest price. */
    static final class HighestPrice
            implements AggregateFunction<ShortBid, Highest<ShortBid>, Highest<ShortBid>> {
        @Override
        public Highest<ShortBid> createAccumulator() {
            return new Highest<>();
        }

        @Override
        public Highest<ShortBid> add(ShortBid bid, Highest<ShortBid> best) {
            return best.add(bid, bid.price);
        }

        @Override
        public Highest<ShortBid> getResult(Highest<ShortBid> best) {
            return best;
        }

        @Override
        public Highest<ShortBid> merge(Highest<ShortBid> one, Highest<ShortBid> other) {
            return one.addAll(other);
        }
    }

    /** The line of a session: person, bids, first bid, end of the pause. */
    static final class SessionLine extends ProcessWindowFunction<Long, String, Long, TimeWindow> {
        @Override
        public void process(Long key, Context at, Iterable<Long> counts, Collector<String> out) {
            for (Long count : counts) {
                TimeWindow session = at.window();
                out.collect(
                        key + "," + count + "," + session.getStart() + ","
                                + (session.getEnd() + 1));
            }
        }
    }

    /** The line of a person with a sale in the same interval. */
    static final class NewSeller implements CoGroupFunction<Person, Sale, String> {
        @Override
        public void coGroup(
                Iterable<Person> persons, Iterable<Sale> sales, Collector<String> out) {
            if (sales.iterator().hasNext()) {
                for (Person person : persons) {
                    long intervalMs = INTERVAL.toMillis();
                    long start = person.dateTime / intervalMs * intervalMs / 1000;
                    out.collect(person.id + "," + person.name + "," + start);
                }
            }
        }
    }
}
