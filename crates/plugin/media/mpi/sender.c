/* The sending end: its buffers, when a batch goes out, and the table's functions for it.
 *
 * A block goes out at once unless the last message went out just now: no longer ago than it took to
 * send, for each of its blocks up to PAUSES_MAX. Then the block waits for others, up to BATCH_BYTES:
 * the more blocks come, the larger the messages. What a sender leaves behind, the MPI thread sends.
 *
 * When MPI has sent everything, the current buffer begins anew, so that a stream whose receivers keep
 * up stays within a few KiB, and within the processor's cache. */

/* Bytes at which a batch goes out: MPI libraries send up to 4 KiB with their own header at once. */
#define BATCH_BYTES 4000u

/* Longest time in microseconds for which blocks wait for others in the sender's own thread. */
#define PAUSE_US_MAX 50

/* Most times that the last message took to send for which blocks wait. */
#define PAUSES_MAX 16

static void free_memory(thalweg_medium_sender *s) {
    free(s->memory), free(s->buffers), free(s);
}

/* Gives a sender its numbers, if there are enough, and to the MPI thread. */
static void add_sender(void *end) {
    thalweg_medium_sender *s = end;
    if (job.number_max - job.last_number < (uint32_t)s->receivers)
        return;
    for (int at = 0; at < s->receivers; at++) {
        struct peer *p = &s->peers[at];
        p->rank = -1;
        p->credit_request = MPI_REQUEST_NULL;
        p->number = new_number();
    }
    s->next = job.senders;
    job.senders = s;
}

static void write_ticket(thalweg_medium_ticket *ticket, uint32_t number) {
    struct ticket content = {.rank = (uint32_t)job.rank, .number = number};
    memcpy(content.job, job.job, sizeof content.job);
    memcpy(ticket->bytes, &content, sizeof content);
    ticket->byte_count = sizeof content;
    ticket->fd_count = 0;
}

static int mpi_open(const thalweg_medium_edge *edge, thalweg_medium_sender **sender, uint64_t *block_bytes_max,
                    thalweg_medium_ticket *tickets, char *sentence) {
    if (join_once(sentence) != THALWEG_MEDIUM_OK)
        return THALWEG_MEDIUM_SYSTEM;
    thalweg_medium_sender *s = calloc(1, sizeof *s + edge->receivers * sizeof(struct peer));
    if (!s)
        return no_memory(sentence);
    s->buffer_bytes = block_bytes(edge->ring_bytes);
    s->buffer_count = edge->ring_bytes / s->buffer_bytes + 2;
    s->memory = aligned_alloc(64, s->buffer_count * s->buffer_bytes);
    s->buffers = calloc(s->buffer_count, sizeof *s->buffers);
    s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!s->memory || !s->buffers || s->event < 0) {
        free_memory(s);
        return no_memory(sentence);
    }
    s->room = s->memory;
    s->now = s->buffers;
    s->ring_bytes = edge->ring_bytes;
    s->receivers = (int)edge->receivers;
    atomic_store(&s->limit, edge->ring_bytes);
    memcpy(s->token, edge->token, sizeof s->token);
    run(add_sender, s);
    if (s->peers[0].number == 0) {
        close(s->event);
        free_memory(s);
        return say(THALWEG_MEDIUM_SYSTEM, sentence, "this MPI has no tags for more edges");
    }
    for (int at = 0; at < s->receivers; at++)
        write_ticket(&tickets[at], s->peers[at].number);
    *block_bytes_max = s->buffer_bytes;
    *sender = s;
    return THALWEG_MEDIUM_OK;
}

/* Whether the place of the next buffer is free: MPI has sent what it holds, and each receiver's sends have
 * gone on to a later buffer. */
static int is_next_free(const thalweg_medium_sender *s) {
    uint64_t next = s->buffer + 1;
    for (int at = 0; at < s->receivers; at++)
        if (!s->peers[at].is_lost && s->peers[at].buffer + s->buffer_count <= next)
            return 0;
    return s->buffers[next % s->buffer_count].end <= s->freed;
}

/* Whether the wanted block can be committed. */
static int has_room(const thalweg_medium_sender *s) {
    int is_memory_free = s->fill + s->wanted <= s->buffer_bytes || is_next_free(s);
    return is_memory_free && s->committed + s->wanted <= atomic_load_explicit(&s->limit, memory_order_relaxed);
}

static void begin_buffer(thalweg_medium_sender *s, uint64_t number) {
    s->buffer = number;
    s->now = &s->buffers[number % s->buffer_count];
    s->room = s->memory + number % s->buffer_count * s->buffer_bytes;
    s->fill = 0;
    atomic_store_explicit(&s->now->fill, 0, memory_order_relaxed);
}

/* Makes room for the wanted block, if there can be some. */
static void make_room(void *end) {
    thalweg_medium_sender *s = end;
    if (!has_room(s))
        look_and_send(s);
    if (has_room(s) && s->fill + s->wanted > s->buffer_bytes) {
        s->now->end = s->committed;
        begin_buffer(s, s->buffer + 1);
    }
}

/* Begins the current buffer anew, if MPI has sent all that is in it. */
static void rewind_buffer(thalweg_medium_sender *s) {
    note_freed(s);
    if (s->freed < s->committed)
        return;
    for (int at = 0; at < s->receivers; at++)
        s->peers[at].offset = 0;
    begin_buffer(s, s->buffer);
}

/* Notes whether something is left that MPI moves only while it is called. */
static void note_under_way(thalweg_medium_sender *s) {
    s->is_under_way = has_unfinished(s);
    for (int at = 0; at < s->receivers; at++)
        s->is_under_way |= !has_all(s, &s->peers[at]);
}

/* Sends without a look at what has come; MPI is called as little as possible. */
static void send_only(void *end) {
    thalweg_medium_sender *s = end;
    for (int at = 0; at < s->receivers; at++) {
        struct peer *p = &s->peers[at];
        if (p->rank < 0)
            take_hello(s, p);
        send_buffers(s, p);
    }
    rewind_buffer(s);
    note_under_way(s);
}

static void note_send(thalweg_medium_sender *s, uint64_t begin) {
    uint64_t blocks = s->waiting_blocks < PAUSES_MAX ? s->waiting_blocks : PAUSES_MAX;
    s->sent_at = ticks();
    s->pause = (s->sent_at - begin) * blocks;
    s->pause = s->pause < job.pause_max ? s->pause : job.pause_max;
    s->waiting = s->waiting_blocks = 0;
}

static int claim_slowly(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    s->wanted = bytes;
    run(make_room, s);
    uint64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);
    if (limit == 0)
        return say(THALWEG_MEDIUM_LOST, sentence, "the receiver has left the edge");
    if (s->committed + bytes > limit || s->fill + bytes > s->buffer_bytes)
        return THALWEG_MEDIUM_AGAIN;
    *room = s->room;
    return THALWEG_MEDIUM_OK;
}

static int mpi_claim(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    uint64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);
    if (s->committed + bytes > limit || s->fill + bytes > s->buffer_bytes)
        return claim_slowly(s, bytes, room, sentence);
    *room = s->room;
    return THALWEG_MEDIUM_OK;
}

/* Whether it is time to see if the blocks that wait go out. The clock is not read for each of many. */
static int is_look_due(const thalweg_medium_sender *s) {
    return s->waiting_blocks <= 4 || s->waiting_blocks % 8 == 0 || s->waiting >= BATCH_BYTES;
}

static int is_due(const thalweg_medium_sender *s, uint64_t now) {
    return s->waiting >= BATCH_BYTES || now - s->sent_at >= s->pause;
}

static void mpi_commit(thalweg_medium_sender *s, uint64_t bytes) {
    s->fill += bytes;
    s->room += bytes;
    s->committed += bytes;
    s->waiting += bytes;
    s->waiting_blocks += 1;
    atomic_store_explicit(&s->now->fill, s->fill, memory_order_release);
    uint64_t begin = is_look_due(s) ? ticks() : s->sent_at;
    if (is_due(s, begin)) {
        run(send_only, s);
        note_send(s, begin);
        if (!s->is_under_way)
            return;
    }
    end_nap();
}

static void flush_sender(void *end) {
    thalweg_medium_sender *s = end;
    s->is_flushed = look_and_send(s);
    note_under_way(s);
}

static int mpi_flush(thalweg_medium_sender *s, char *sentence) {
    (void)sentence;
    uint64_t begin = ticks();
    run(flush_sender, s);
    note_send(s, begin);
    if (s->is_under_way)
        end_nap();
    return s->is_flushed ? THALWEG_MEDIUM_OK : THALWEG_MEDIUM_AGAIN;
}

static uint64_t mpi_queued(thalweg_medium_sender *s) {
    run(look, s);
    uint64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);
    return limit == 0 ? 0 : s->committed - (limit - s->ring_bytes);
}

static uint64_t mpi_lost(thalweg_medium_sender *s) {
    return atomic_load(&s->lost);
}

/* Whether there is something for a sender that waits for room. */
static int may_claim(const thalweg_medium_sender *s) {
    return has_room(s) || atomic_load_explicit(&s->limit, memory_order_relaxed) == 0;
}

static void arm_sender(void *end) {
    thalweg_medium_sender *s = end;
    look_and_send(s);
    s->is_armed = !may_claim(s);
}

static int mpi_arm_sender(thalweg_medium_sender *s, uint64_t bytes, thalweg_medium_waits *waits, char *sentence) {
    (void)sentence;
    s->wanted = bytes;
    run(arm_sender, s);
    if (!s->is_armed)
        return THALWEG_MEDIUM_AGAIN;
    fire(job.wake);
    waits->readable_count = 1;
    waits->readable[0] = s->event;
    return THALWEG_MEDIUM_OK;
}

static void disarm_sender(void *end) {
    thalweg_medium_sender *s = end;
    if (s->has_fired)
        clear(s->event);
    s->is_armed = s->has_fired = 0;
}

static void mpi_disarm_sender(thalweg_medium_sender *s) {
    run(disarm_sender, s);
}

static void close_sender(void *end) {
    thalweg_medium_sender *s = end;
    s->is_closed = 1;
    s->is_armed = 0;
    close(s->event);
    look_and_send(s);
}

static void mpi_close_sender(thalweg_medium_sender *s) {
    run(close_sender, s);
    fire(job.wake);
}
