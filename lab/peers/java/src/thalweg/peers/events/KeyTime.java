package thalweg.peers.events;

import java.io.Serializable;

/** The key and the time of a bid: all that counts and sessions need. */
public class KeyTime implements Serializable {
    public long key;
    public long dateTime;

    /** Auction and time of a line of `bids.csv`. */
    public static KeyTime ofAuction(String line) {
        return read(new Fields(line, 0), 4);
    }

    /** Person and time of a line of `bids.csv`. */
    public static KeyTime ofBidder(String line) {
        return read(new Fields(line, 0).skip(1), 3);
    }

    private static KeyTime read(Fields fields, int between) {
        KeyTime bid = new KeyTime();
        bid.key = fields.number();
        bid.dateTime = fields.skip(between).number();
        return bid;
    }
}
