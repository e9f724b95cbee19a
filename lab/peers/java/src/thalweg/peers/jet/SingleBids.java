package thalweg.peers.jet;

import com.hazelcast.jet.pipeline.BatchStage;
import thalweg.peers.events.ShortBid;

/** Queries that look at one bid alone: 0, 1 and 2. */
final class SingleBids {
    private SingleBids() {}

    static BatchStage<String> passThrough(BatchStage<String> lines) {
        return lines.map(ShortBid::parse).map(ShortBid::toLine);
    }

    static BatchStage<String> inEuros(BatchStage<String> lines) {
        return lines.map(ShortBid::parse).map(ShortBid::toEuroLine);
    }

    static BatchStage<String> selection(BatchStage<String> lines) {
        return lines.map(ShortBid::parse)
                .filter(bid -> bid.auction % 123 == 0)
                .map(bid -> bid.auction + "," + bid.price);
    }
}
