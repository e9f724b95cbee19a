package thalweg.peers.events;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** A file of results, written in large pieces. */
public final class ResultFile {
    private static final int PIECE_BYTES = 1 << 16;

    private final OutputStream file;
    private byte[] piece = new byte[2 * PIECE_BYTES];
    private int length;

    /** The file of one of several writers: their names begin alike. */
    public ResultFile(String results, int writer) throws IOException {
        file = new FileOutputStream(results + "." + writer);
    }

    /** Adds a line; texts of events are ASCII. */
    public void write(String line) throws IOException {
        byte[] bytes = line.getBytes(StandardCharsets.ISO_8859_1);
        if (length + bytes.length + 1 > piece.length) {
            flush();
        }
        if (bytes.length + 1 > piece.length) {
            piece = new byte[bytes.length + 1];
        }
        System.arraycopy(bytes, 0, piece, length, bytes.length);
        length += bytes.length;
        piece[length++] = '\n';
        if (length >= PIECE_BYTES) {
            flush();
        }
    }

    /** Writes what is held back. */
    public void flush() throws IOException {
        file.write(piece, 0, length);
        length = 0;
    }

    /** Writes what is held back and closes the file. */
    public void close() throws IOException {
        flush();
        file.close();
    }
}
