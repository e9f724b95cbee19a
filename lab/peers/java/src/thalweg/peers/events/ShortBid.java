package thalweg.peers.events;

import java.io.Serializable;

/** A bid without its channel and its page. */
public class ShortBid implements Serializable {
    public long auction;
    public long bidder;
    public long price;
    public long dateTime;
    public String extra;

    /** Reads a line of `bids.csv`. */
    public static ShortBid parse(String line) {
        Fields fields = new Fields(line, 0);
        ShortBid bid = new ShortBid();
        bid.auction = fields.number();
        bid.bidder = fields.number();
        bid.price = fields.number();
        bid.dateTime = fields.skip(2).number();
        bid.extra = fields.text();
        return bid;
    }

    /** The line of results of queries 0 and 7. */
    public String toLine() {
        return auction + "," + bidder + "," + price + "," + dateTime + "," + extra;
    }

    /** The line of results of query 1, with the price in euros. */
    public String toEuroLine() {
        long thousandths = price * 908;
        String places = Long.toString(1000 + thousandths % 1000).substring(1);
        return auction + "," + bidder + "," + thousandths / 1000 + "." + places + "," + dateTime
                + "," + extra;
    }
}
