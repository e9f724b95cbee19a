//! Operators of other toolkits and systems, with what does their work here.

/// How SPL's standard toolkit does what an operator of that name does elsewhere.
pub(crate) fn foreign_operator(name: &str) -> Option<&'static str> {
    transforming(name).or_else(|| connecting(name))
}

/// Operators that make tuples of tuples, in other stream systems and in SQL.
fn transforming(name: &str) -> Option<&'static str> {
    Some(match name {
        "Map" | "Select" | "Project" | "Projection" | "Transform" | "MapValues" => {
            "a Functor computes each tuple anew in its output clause"
        }
        "FlatMap" | "Process" | "ProcessFunction" | "ForEach" | "Foreach" | "Apply" => {
            "a Custom runs statements for each tuple and may `submit` any number"
        }
        "Where" | "Having" => "a Filter passes the tuples on for which its `filter` is true",
        "GroupBy" | "KeyBy" | "Reduce" | "Window" | "Summarize" | "Sum" | "Count" | "Average" => {
            "an Aggregate computes over a window, with `groupBy` or `partitionBy` for each key"
        }
        "OrderBy" => "a Sort puts the tuples of its window in order",
        "Distinct" | "Unique" | "Deduplicate" | "Dedup" => {
            "a DeDuplicate drops tuples that came before"
        }
        "Merge" | "Concat" | "UnionAll" | "FanIn" => {
            "an input port takes several streams, `Operator(A, B)`; a Union takes different types"
        }
        "Tee" | "Broadcast" | "Fork" | "FanOut" => {
            "a stream may be the input of any number of operators"
        }
        "Router" | "Partition" | "Branch" | "Demultiplex" => {
            "a Split sends each tuple to output ports that its `index` computes"
        }
        "LookupJoin" | "Enrich" | "Lookup" | "Zip" | "CoGroup" => {
            "a Join pairs tuples of two windows, a Barrier those that come together"
        }
        "Limit" | "Take" | "Sample" => {
            "a Custom with a counter in its `state` submits only the tuples that are wanted"
        }
        "Timer" | "Generator" | "Interval" | "Tick" => {
            "a Beacon makes tuples, one each `period` seconds"
        }
        "Print" | "Printer" | "PrintSink" | "Console" | "ConsoleSink" | "Log" | "Logger" => {
            "a Custom prints: `logic onTuple In : println(In);`"
        }
        "MatchRegex" => {
            "there is no pattern matching over tuples; a Custom can keep what came in its `state`"
        }
        "RateLimit" | "Limiter" => "a Throttle passes tuples on at a `rate`",
        _ => return None,
    })
}

/// Operators that read and write what lies outside.
fn connecting(name: &str) -> Option<&'static str> {
    Some(match name {
        "FileReader"
        | "CSVReader"
        | "CsvSource"
        | "CSVSource"
        | "TextSource"
        | "FileInput"
        | "HDFS2FileSource"
        | "HDFSFileSource"
        | "ObjectStorageSource" => {
            "a FileSource reads files, with `format : csv` or `line` for instance"
        }
        "FileWriter" | "CSVWriter" | "CsvSink" | "CSVSink" | "TextSink" | "FileOutput"
        | "HDFS2FileSink" | "HDFSFileSink" | "ObjectStorageSink" => {
            "a FileSink writes files, with `format : csv` or `line` for instance"
        }
        "HDFS2DirectoryScan" | "HDFSDirectoryScan" | "ObjectStorageScan" => {
            "a DirectoryScan reports the files of a local directory"
        }
        "SocketSource" | "InetSource" => "a TCPSource reads tuples from a connection",
        "SocketSink" => "a TCPSink writes tuples to a connection",
        "KafkaConsumer" | "KafkaSource" | "MQTTSource" | "JMSSource" | "XMSSource"
        | "RabbitMQSource" | "KinesisSource" | "HTTPGetStream" | "HTTPGetXMLContent"
        | "HTTPGetJSONContent" | "HTTPGetContent" | "HTTPTupleInjection" | "HTTPJSONInjection"
        | "HTTPXMLInjection" | "WebSocketInject" | "WebSocketSource" => {
            "no operator reads from message brokers or web servers; a TCPSource reads what a client \
             of theirs writes to a connection"
        }
        "KafkaProducer" | "KafkaSink" | "MQTTSink" | "JMSSink" | "XMSSink" | "RabbitMQSink"
        | "KinesisSink" | "HTTPPost" | "HTTPTupleView" | "WebSocketSend" | "WebSocketSink" => {
            "no operator writes to message brokers or web servers; a TCPSink writes to a connection \
             that a client of theirs reads"
        }
        "HTTPRequest" | "HTTPParser" => {
            "no operator speaks HTTP; TCPSink and TCPSource write and read lines of a connection"
        }
        "ODBCSource" | "ODBCAppend" | "ODBCEnrich" | "ODBCRun" | "JDBCRun" | "JDBCSource"
        | "SolidDBEnrich" | "DB2SplitDB" | "NetezzaLoad" | "HBASEGet" | "HBASEPut"
        | "HBASEScan" | "RedisGet" | "RedisPut" => {
            "no operator speaks to databases; FileSource and FileSink read and write their csv files"
        }
        "XMLParser" | "XMLSource" => "an XMLParse takes XML documents apart",
        "Publish" => "an Export makes a stream known to other programs, by properties or an id",
        "Subscribe" => "an Import takes the streams of other programs, by a subscription or an id",
        _ => return None,
    })
}
