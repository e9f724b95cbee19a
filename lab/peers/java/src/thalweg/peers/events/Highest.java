package thalweg.peers.events;

import java.io.Serializable;
import java.util.ArrayList;

/** The items with the greatest of some numbers: several if they are equal. */
public class Highest<T> implements Serializable {
    public long number = Long.MIN_VALUE;
    public ArrayList<T> items = new ArrayList<>();

    /** Adds an item, if no other has a greater number. */
    public Highest<T> add(T item, long of) {
        if (of > number) {
            number = of;
            items.clear();
        }
        if (of == number) {
            items.add(item);
        }
        return this;
    }

    /** Adds all items of another one. */
    public Highest<T> addAll(Highest<T> other) {
        for (T item : other.items) {
            add(item, other.number);
        }
        return this;
    }
}
