package thalweg.peers.jet;

import static com.hazelcast.jet.aggregate.AggregateOperations.counting;
import static com.hazelcast.jet.aggregate.AggregateOperations.toList;
import static com.hazelcast.jet.pipeline.WindowDefinition.session;
import static com.hazelcast.jet.pipeline.WindowDefinition.sliding;
import static com.hazelcast.jet.pipeline.WindowDefinition.tumbling;

import com.hazelcast.function.ToLongFunctionEx;
import com.hazelcast.jet.Traversers;
import com.hazelcast.jet.aggregate.AggregateOperation;
import com.hazelcast.jet.aggregate.AggregateOperation1;
import com.hazelcast.jet.datamodel.KeyedWindowResult;
import com.hazelcast.jet.pipeline.BatchStage;
import com.hazelcast.jet.pipeline.StreamStage;
import com.hazelcast.jet.pipeline.StreamStageWithKey;
import thalweg.peers.events.EventLine;
import thalweg.peers.events.Highest;
import thalweg.peers.events.KeyTime;
import thalweg.peers.events.Person;
import thalweg.peers.events.Sale;
import thalweg.peers.events.ShortBid;

/** Queries with windows of event time: 5, 7, 8 and 11. */
final class Windows {
    private static final long INTERVAL_MS = 10_000;
    private static final long SLIDE_MS = 2_000;
    private static final long LAG_MS = 4_000;

    /** Jet's sessions join where one ends when the next begins, those of the query do not. */
    private static final long PAUSE_MS = 9_999;

    private Windows() {}

    static StreamStage<String> hotItems(BatchStage<String> lines) {
        return lines.map(KeyTime::ofAuction)
                .addTimestamps(bid -> bid.dateTime, LAG_MS)
                .groupingKey(bid -> bid.key)
                .window(sliding(INTERVAL_MS, SLIDE_MS))
                .aggregate(counting())
                .window(tumbling(SLIDE_MS))
                .aggregate(highest((KeyedWindowResult<Long, Long> counted) -> counted.result()))
                .flatMap(most -> Traversers.traverseIterable(most.result().items))
                .map(item -> item.key() + "," + item.start() / 1000 + "," + item.result());
    }

    static StreamStage<String> highestBids(BatchStage<String> lines) {
        return lines.map(ShortBid::parse)
                .addTimestamps(bid -> bid.dateTime, LAG_MS)
                .window(tumbling(INTERVAL_MS))
                .aggregate(highest((ShortBid bid) -> bid.price))
                .flatMap(best -> Traversers.traverseIterable(best.result().items))
                .map(ShortBid::toLine);
    }

    static StreamStage<String> newSellers(BatchStage<String> lines) {
        StreamStageWithKey<Sale, Long> sales =
                lines.filter(EventLine::isAuction)
                        .map(Sale::parse)
                        .addTimestamps(sale -> sale.dateTime, LAG_MS)
                        .groupingKey(sale -> sale.seller);
        return lines.filter(EventLine::isPerson)
                .map(Person::parse)
                .addTimestamps(person -> person.dateTime, LAG_MS)
                .groupingKey(person -> person.id)
                .window(tumbling(INTERVAL_MS))
                .aggregate2(toList(), sales, counting())
                .filter(joined -> joined.result().f1() > 0)
                .flatMap(joined -> Traversers.traverseStream(
                        joined.result().f0().stream().map(person -> line(person, joined.start()))));
    }

    static StreamStage<String> sessions(BatchStage<String> lines) {
        return lines.map(KeyTime::ofBidder)
                .addTimestamps(bid -> bid.dateTime, LAG_MS)
                .groupingKey(bid -> bid.key)
                .window(session(PAUSE_MS))
                .aggregate(counting())
                .map(one -> one.key() + "," + one.result() + "," + one.start() + ","
                        + (one.end() + 1));
    }

    private static String line(Person person, long startMs) {
        return person.id + "," + person.name + "," + startMs / 1000;
    }

    /** The items with the greatest number. */
    private static <T> AggregateOperation1<T, Highest<T>, Highest<T>> highest(
            ToLongFunctionEx<T> number) {
        return AggregateOperation.withCreate(Highest<T>::new)
                .andAccumulate((Highest<T> most, T item) ->
                        most.add(item, number.applyAsLong(item)))
                .andCombine(Highest<T>::addAll)
                .andExportFinish(most -> most);
    }
}
