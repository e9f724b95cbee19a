package thalweg.peers.events;

/** A line of `events.csv`: the kind, then the columns of a person, an auction and a bid. */
public final class EventLine {
    /** Bytes before the columns of a person. */
    static final int PERSON_AT = 2;
    /** Bytes before the columns of an auction: those of a person are empty. */
    static final int AUCTION_AT = 10;
    /** Bytes before the columns of a bid: those of a person and an auction are empty. */
    static final int BID_AT = 20;

    private EventLine() {}

    /** Whether a line is a person. */
    public static boolean isPerson(String line) {
        return line.charAt(0) == '0';
    }

    /** Whether a line is an auction. */
    public static boolean isAuction(String line) {
        return line.charAt(0) == '1';
    }

    /** Whether a line is a bid. */
    public static boolean isBid(String line) {
        return line.charAt(0) == '2';
    }
}
