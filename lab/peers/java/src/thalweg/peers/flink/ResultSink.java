package thalweg.peers.flink;

import java.io.IOException;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import thalweg.peers.events.ResultFile;

/** Writes lines to a file for each subtask. */
final class ResultSink implements Sink<String> {
    private final String results;

    ResultSink(String results) {
        this.results = results;
    }

    @Override
    public SinkWriter<String> createWriter(WriterInitContext context) throws IOException {
        ResultFile file = new ResultFile(results, context.getTaskInfo().getIndexOfThisSubtask());
        return new SinkWriter<>() {
            @Override
            public void write(String line, Context at) throws IOException {
                file.write(line);
            }

            @Override
            public void flush(boolean isEndOfInput) throws IOException {
                file.flush();
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }
}
