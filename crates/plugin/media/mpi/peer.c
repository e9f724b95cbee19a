/* Messages of a sender to one of its receivers, its peer.
 *
 * A sender fills buffers one behind the other. A message is a part of one buffer, from a multiple of 8
 * on, and goes to each receiver from there; its memory is the sender's again when MPI has sent it to
 * all. Credit is an absolute number of bytes, so that a later one replaces those before.
 *
 * Everything here is called while no other thread uses MPI. */

/* Sends to a receiver that have not ended, and how many are not asked whether they have. */
#define SENDS_MAX 64u
#define SENDS_UNTESTED 8u

/* A message that MPI has not finished sending. */
struct sending {
    MPI_Request request;
    uint64_t end; /* position in the stream behind it */
};

/* A receiver, as its sender sees it. */
struct peer {
    uint32_t number; /* of the sender's end, for the tags of this receiver's messages */
    int rank;        /* -1: no hello has come */
    int data_tag;
    int is_lost, is_end_sent;
    uint64_t buffer; /* buffer that is being sent, and how many of its bytes are */
    uint64_t offset;
    uint64_t sent, done, released; /* bytes that were sent, that MPI has sent, that were released */
    struct sending sends[SENDS_MAX]; /* in the order of the stream, from `first_send` on */
    uint32_t first_send, send_count;
    MPI_Request credit_request;
    struct credit credit;
};

/* One of a sender's buffers. */
struct buffer {
    _Atomic uint64_t fill; /* committed bytes: written by the sender's own thread */
    uint64_t end;          /* position in the stream behind it, once it is full */
};

struct thalweg_medium_sender {
    /* Of the sender's own thread. */
    char *room;         /* behind the bytes of the current buffer */
    struct buffer *now; /* the current buffer */
    uint64_t fill;      /* bytes in it */
    uint64_t committed; /* bytes of the stream */
    uint64_t waiting;   /* bytes and blocks since the last send of this thread */
    uint64_t waiting_blocks;
    uint64_t sent_at, pause; /* ticks */
    uint64_t wanted;         /* bytes of the block that a claim or a sleep is about */
    int is_flushed;          /* what the last flush has found */
    int is_under_way;        /* whether the last send has left something to the MPI thread */
    uint64_t buffer_bytes, buffer_count;
    char *memory;
    /* Written while no other thread uses MPI, read at any time. */
    _Atomic uint64_t limit; /* most bytes that may be committed now; 0: no receiver is left */
    _Atomic uint64_t lost;  /* receivers that are gone */
    /* Used while no other thread uses MPI. */
    uint64_t buffer; /* number of the current buffer */
    uint64_t freed;  /* bytes whose memory may be used again */
    struct buffer *buffers;
    int is_armed, has_fired, is_closed;
    int event;
    uint64_t ring_bytes;
    uint8_t token[16];
    int receivers;
    thalweg_medium_sender *next;
    struct peer peers[];
};

static void lose(thalweg_medium_sender *s, struct peer *p) {
    p->is_lost = 1;
    atomic_fetch_or(&s->lost, (uint64_t)1 << (p - s->peers));
}

/* Notes which messages MPI has sent, in the order of the stream. A test of a message that is not sent
 * makes MPI look for all kinds of things, so there is at most one of those. */
static void test_sends(thalweg_medium_sender *s, struct peer *p) {
    while (p->send_count > 0) {
        int is_done = 0;
        struct sending *oldest = &p->sends[p->first_send];
        if (MPI_Test(&oldest->request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            lose(s, p);
            is_done = 1;
        }
        if (!is_done)
            return;
        p->done = oldest->end;
        p->first_send = (p->first_send + 1) % SENDS_MAX;
        p->send_count -= 1;
    }
}

/* Sends bytes to a receiver; there is a free place for the request. */
static void send_to(thalweg_medium_sender *s, struct peer *p, const void *from, uint64_t bytes) {
    struct sending *sending = &p->sends[(p->first_send + p->send_count) % SENDS_MAX];
    int failed = MPI_Isend(from, (int)bytes, MPI_BYTE, p->rank, p->data_tag, job.comm, &sending->request);
    if (failed != MPI_SUCCESS) {
        lose(s, p);
        return;
    }
    p->sent += bytes;
    sending->end = p->sent;
    p->send_count += 1;
    if (p->send_count == 1 || p->send_count > SENDS_UNTESTED)
        test_sends(s, p);
}

/* Sends what the buffers have to a receiver, as far as there are places for requests. */
static void send_buffers(thalweg_medium_sender *s, struct peer *p) {
    if (p->rank < 0 || p->is_end_sent)
        return;
    while (!p->is_lost && p->send_count < SENDS_MAX) {
        uint64_t slot = p->buffer % s->buffer_count;
        uint64_t fill = atomic_load_explicit(&s->buffers[slot].fill, memory_order_acquire);
        if (p->offset < fill) {
            const char *from = s->memory + slot * s->buffer_bytes + p->offset;
            send_to(s, p, from, fill - p->offset);
            p->offset = fill;
        } else if (p->buffer < s->buffer) {
            p->buffer += 1;
            p->offset = 0;
        } else {
            break;
        }
    }
    int is_all = p->is_lost || (s->is_closed && p->buffer == s->buffer);
    if (is_all && p->send_count < SENDS_MAX) {
        p->is_end_sent = 1;
        send_to(s, p, s->memory, 0);
    }
}

/* Whether all that was committed has been given to MPI, or needs not be. */
static int has_all(const thalweg_medium_sender *s, const struct peer *p) {
    uint64_t fill = atomic_load_explicit(&s->buffers[s->buffer % s->buffer_count].fill, memory_order_acquire);
    return p->is_lost || (p->buffer == s->buffer && p->offset == fill);
}

static void refuse(const struct hello *hello, int rank) {
    static const char refusal;
    MPI_Request request;
    if (MPI_Isend(&refusal, 1, MPI_BYTE, rank, tag(hello->number, TAG_DATA), job.comm, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
}

static void await_credit(thalweg_medium_sender *s, struct peer *p) {
    int failed = MPI_Irecv(&p->credit, sizeof p->credit, MPI_BYTE, p->rank, tag(p->number, TAG_CREDIT), job.comm,
                           &p->credit_request);
    if (failed != MPI_SUCCESS)
        lose(s, p);
}

/* Takes the hello of a receiver. One that comes later is of a ticket that was used before. */
static void take_hello(thalweg_medium_sender *s, struct peer *p) {
    MPI_Message message;
    MPI_Status status;
    int has_come = 0, bytes = 0;
    struct hello hello;
    int kind = tag(p->number, TAG_HELLO);
    if (MPI_Improbe(MPI_ANY_SOURCE, kind, job.comm, &has_come, &message, &status) != MPI_SUCCESS || !has_come)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Mrecv(&hello, bytes == sizeof hello ? bytes : 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    if (bytes != sizeof hello)
        return;
    int is_known = !memcmp(hello.token, s->token, sizeof hello.token) && hello.receiver == (uint64_t)(p - s->peers);
    if (p->rank >= 0 || !is_known) {
        refuse(&hello, status.MPI_SOURCE);
        return;
    }
    p->rank = status.MPI_SOURCE;
    p->data_tag = tag(hello.number, TAG_DATA);
    await_credit(s, p);
}

/* Takes what a receiver says of its credit. */
static void take_credit(thalweg_medium_sender *s, struct peer *p) {
    while (p->credit_request != MPI_REQUEST_NULL && !p->is_lost) {
        int has_come = 0;
        if (MPI_Test(&p->credit_request, &has_come, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            lose(s, p);
        if (!has_come)
            return;
        if (p->credit.released >= p->released && p->credit.released <= p->sent)
            p->released = p->credit.released;
        if (p->credit.is_closed)
            lose(s, p);
        else
            await_credit(s, p);
    }
}

/* Notes of what memory MPI has no more need. */
static void note_freed(thalweg_medium_sender *s) {
    s->freed = UINT64_MAX;
    for (int at = 0; at < s->receivers; at++) {
        const struct peer *p = &s->peers[at];
        int is_used = !p->is_lost || p->send_count > 0;
        if (is_used && p->done < s->freed)
            s->freed = p->done;
    }
}

/* Learns how far the receivers are. */
static void look(void *end) {
    thalweg_medium_sender *s = end;
    uint64_t released = UINT64_MAX;
    for (int at = 0; at < s->receivers; at++) {
        struct peer *p = &s->peers[at];
        if (p->rank < 0)
            take_hello(s, p);
        if (p->rank >= 0)
            take_credit(s, p);
        test_sends(s, p);
        if (!p->is_lost && p->released < released)
            released = p->released;
    }
    note_freed(s);
    uint64_t limit = released == UINT64_MAX ? 0 : released + s->ring_bytes;
    atomic_store_explicit(&s->limit, limit, memory_order_release);
}

/* Looks, and sends what is there. Whether everything has been given to MPI. */
static int look_and_send(thalweg_medium_sender *s) {
    int is_flushed = 1;
    look(s);
    for (int at = 0; at < s->receivers; at++) {
        struct peer *p = &s->peers[at];
        send_buffers(s, p);
        test_sends(s, p);
        is_flushed &= has_all(s, p);
    }
    return is_flushed;
}

/* Whether MPI has not finished a message to a receiver. */
static int has_unfinished(const thalweg_medium_sender *s) {
    uint32_t count = 0;
    for (int at = 0; at < s->receivers; at++)
        count += s->peers[at].send_count;
    return count > 0;
}
