package thalweg.peers.flink;

import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import thalweg.peers.events.ShortBid;

/** Queries that look at one bid alone: 0, 1 and 2. One chain of operators with the reader. */
final class SingleBids {
    private SingleBids() {}

    static DataStream<String> passThrough(DataStream<String> lines) {
        return alone(alone(lines.map(ShortBid::parse)).map(ShortBid::toLine));
    }

    static DataStream<String> inEuros(DataStream<String> lines) {
        return alone(alone(lines.map(ShortBid::parse)).map(ShortBid::toEuroLine));
    }

    static DataStream<String> selection(DataStream<String> lines) {
        DataStream<ShortBid> bids = alone(lines.map(ShortBid::parse));
        return alone(alone(bids.filter(bid -> bid.auction % 123 == 0))
                .map(bid -> bid.auction + "," + bid.price));
    }

    /** An operator that stays in the chain of the only reader. */
    static <T> DataStream<T> alone(SingleOutputStreamOperator<T> operator) {
        return operator.setParallelism(1);
    }
}
