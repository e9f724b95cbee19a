package thalweg.peers.events;

import java.io.Serializable;

/** What queries 3 and 8 need of an auction. */
public class Sale implements Serializable {
    public long id;
    public long dateTime;
    public long seller;
    public long category;

    /** Reads a line of `events.csv` that is an auction. */
    public static Sale parse(String line) {
        Fields fields = new Fields(line, EventLine.AUCTION_AT);
        Sale sale = new Sale();
        sale.id = fields.number();
        sale.dateTime = fields.skip(4).number();
        sale.seller = fields.skip(1).number();
        sale.category = fields.number();
        return sale;
    }
}
