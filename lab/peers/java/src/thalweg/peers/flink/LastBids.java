package thalweg.peers.flink;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import thalweg.peers.events.Bid;

/** Query 18: each bid that is the last one so far of a person on an auction. */
final class LastBids extends KeyedProcessFunction<Long, Bid, String> {
    private transient ValueState<Long> last;

    static DataStream<String> lastBids(DataStream<String> lines) {
        return SingleBids.alone(lines.map(Bid::parse))
                .keyBy(Bid::personAndAuction)
                .process(new LastBids());
    }

    @Override
    public void open(OpenContext context) {
        last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Long.class));
    }

    @Override
    public void processElement(Bid bid, Context at, Collector<String> out) throws Exception {
        Long before = last.value();
        if (before == null || bid.dateTime >= before) {
            last.update(bid.dateTime);
            out.collect(bid.toLine());
        }
    }
}
