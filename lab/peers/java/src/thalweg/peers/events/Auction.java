package thalweg.peers.events;

import java.io.Serializable;

/** An auction with all its columns. */
public class Auction implements Serializable {
    /** The category of queries 3 and 20. */
    public static final long CATEGORY = 10;

    public long id;
    public String itemName;
    public String description;
    public long initialBid;
    public long reserve;
    public long dateTime;
    public long expires;
    public long seller;
    public long category;
    public String extra;

    /** Reads a line of `events.csv` that is an auction. */
    public static Auction parse(String line) {
        Fields fields = new Fields(line, EventLine.AUCTION_AT);
        Auction auction = new Auction();
        auction.id = fields.number();
        auction.itemName = fields.text();
        auction.description = fields.text();
        auction.initialBid = fields.number();
        auction.reserve = fields.number();
        auction.dateTime = fields.number();
        auction.expires = fields.number();
        auction.seller = fields.number();
        auction.category = fields.number();
        auction.extra = fields.text();
        return auction;
    }

    /** The fields of an auction in a line of results of query 20. */
    public String toLine() {
        return itemName + "," + description + "," + initialBid + "," + reserve + "," + dateTime
                + "," + expires + "," + seller + "," + category + "," + extra;
    }
}
