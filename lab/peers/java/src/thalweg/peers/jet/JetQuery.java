package thalweg.peers.jet;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.jet.pipeline.BatchStage;
import com.hazelcast.jet.pipeline.GeneralStage;
import com.hazelcast.jet.pipeline.Pipeline;
import com.hazelcast.jet.pipeline.Sink;
import com.hazelcast.jet.pipeline.SinkBuilder;
import com.hazelcast.jet.pipeline.Sources;
import java.io.File;
import thalweg.peers.events.ResultFile;

/** Runs a query on Hazelcast Jet, in this process: QUERY THREADS INPUT RESULTS. */
public final class JetQuery {
    private JetQuery() {}

    public static void main(String[] args) {
        int query = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        HazelcastInstance member = Hazelcast.newHazelcastInstance(config(threads));
        try {
            member.getJet().newJob(pipeline(query, new File(args[2]), args[3])).join();
        } finally {
            member.shutdown();
        }
    }

    /** One member that looks for no other and tells nobody of itself. */
    private static Config config(int threads) {
        Config config = new Config();
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "none");
        config.setProperty("hazelcast.socket.bind.any", "false");
        config.getJetConfig().setEnabled(true).setCooperativeThreadCount(threads);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        return config;
    }

    private static Pipeline pipeline(int query, File input, String results) {
        Pipeline pipeline = Pipeline.create();
        // Query 18 needs the bids of a key in their order.
        pipeline.setPreserveOrder(query == 18);
        BatchStage<String> lines =
                pipeline.readFrom(
                        Sources.filesBuilder(input.getParent()).glob(input.getName()).build());
        results(query, lines).writeTo(sink(results));
        return pipeline;
    }

    private static GeneralStage<String> results(int query, BatchStage<String> lines) {
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
                return Joins.lastBids(lines);
            case 20:
                return Joins.expandedBids(lines);
            default:
                throw new IllegalArgumentException("query " + query + " is not written for Jet");
        }
    }

    private static Sink<String> sink(String results) {
        return SinkBuilder.sinkBuilder(
                        "results", at -> new ResultFile(results, at.globalProcessorIndex()))
                .<String>receiveFn(ResultFile::write)
                .destroyFn(ResultFile::close)
                .build();
    }
}
