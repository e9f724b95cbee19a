package thalweg.peers.events;

import java.io.Serializable;

/** A person without address and credit card. */
public class Person implements Serializable {
    public long id;
    public String name;
    public String city;
    public String state;
    public long dateTime;

    /** Reads a line of `events.csv` that is a person. */
    public static Person parse(String line) {
        Fields fields = new Fields(line, EventLine.PERSON_AT);
        Person person = new Person();
        person.id = fields.number();
        person.name = fields.text();
        fields.skip(2);
        person.city = fields.text();
        person.state = fields.text();
        person.dateTime = fields.number();
        return person;
    }

    /** Whether the person is of the three states of query 3. */
    public boolean isNear() {
        return state.equals("OR") || state.equals("ID") || state.equals("CA");
    }

    /** The line of results of query 3. */
    public String toLine(long auction) {
        return name + "," + city + "," + state + "," + auction;
    }
}
