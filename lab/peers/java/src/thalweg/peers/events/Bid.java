package thalweg.peers.events;

import java.io.Serializable;

/** A bid with all its columns. */
public class Bid implements Serializable {
    public long auction;
    public long bidder;
    public long price;
    public String channel;
    public String url;
    public long dateTime;
    public String extra;

    /** Reads a line of `bids.csv`. */
    public static Bid parse(String line) {
        return read(new Fields(line, 0));
    }

    /** Reads a line of `events.csv` that is a bid. */
    public static Bid parseEvent(String line) {
        return read(new Fields(line, EventLine.BID_AT));
    }

    private static Bid read(Fields fields) {
        Bid bid = new Bid();
        bid.auction = fields.number();
        bid.bidder = fields.number();
        bid.price = fields.number();
        bid.channel = fields.text();
        bid.url = fields.text();
        bid.dateTime = fields.number();
        bid.extra = fields.text();
        return bid;
    }

    /** Person and auction in one number, auctions with 32 bits. */
    public long personAndAuction() {
        return (bidder << 32) + auction;
    }

    /** The line of results of query 18. */
    public String toLine() {
        return auction + "," + bidder + "," + price + "," + channel + "," + url + "," + dateTime
                + "," + extra;
    }
}
