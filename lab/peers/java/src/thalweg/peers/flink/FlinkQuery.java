package thalweg.peers.flink;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Runs a query on Flink, in this process: QUERY PARALLELISM INPUT RESULTS. */
public final class FlinkQuery {
    private FlinkQuery() {}

    public static void main(String[] args) throws Exception {
        int query = Integer.parseInt(args[0]);
        int parallelism = Integer.parseInt(args[1]);
        StreamExecutionEnvironment flink =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism, new Configuration());
        flink.getConfig().enableObjectReuse();
        // A text file is read by one reader, and in its order.
        FileSource<String> file =
                FileSource.forRecordStreamFormat(
                                new TextLineInputFormat("ISO-8859-1"), new Path(args[2]))
                        .build();
        DataStream<String> lines =
                flink.fromSource(file, WatermarkStrategy.noWatermarks(), "events")
                        .setParallelism(1);
        DataStream<String> results = results(query, lines);
        // Chained to what makes the results.
        results.sinkTo(new ResultSink(args[3])).setParallelism(results.getParallelism());
        flink.execute("q" + query);
    }

    private static DataStream<String> results(int query, DataStream<String> lines) {
        switch (query) {
            case 0:
                return SingleBids.passThrough(lines);
            case 1:
                return SingleBids.inEuros(lines);
            case 2:
                return SingleBids.selection(lines);
            case 3:
                return Joins.localItems(lines);
            case 5:
                return Windows.hotItems(lines);
            case 7:
                return Windows.highestBids(lines);
            case 8:
                return Windows.newSellers(lines);
            case 11:
                return Windows.sessions(lines);
            case 18:
                return LastBids.lastBids(lines);
            case 20:
                return Joins.expandedBids(lines);
            default:
                throw new IllegalArgumentException("query " + query + " is not written for Flink");
        }
    }
}
