package thalweg.peers.events;

/** The fields of a line, one after the other. */
final class Fields {
    private final String line;
    private int at;

    Fields(String line, int at) {
        this.line = line;
        this.at = at;
    }

    /** The next field as a number without a sign. */
    long number() {
        long number = 0;
        int length = line.length();
        while (at < length) {
            char letter = line.charAt(at++);
            if (letter == ',') {
                return number;
            }
            if (letter < '0' || letter > '9') {
                throw new IllegalArgumentException("no number in " + line);
            }
            number = number * 10 + (letter - '0');
        }
        return number;
    }

    /** The next field as it is. */
    String text() {
        int end = line.indexOf(',', at);
        String text = line.substring(at, end < 0 ? line.length() : end);
        at = end < 0 ? line.length() : end + 1;
        return text;
    }

    /** Passes a number of fields. */
    Fields skip(int count) {
        for (int passed = 0; passed < count; passed++) {
            int end = line.indexOf(',', at);
            at = end < 0 ? line.length() : end + 1;
        }
        return this;
    }
}
