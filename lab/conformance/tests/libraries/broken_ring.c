/* broken_ring.c: the shared ring of examples/media, whose runs are broken in one way: by the function
 * that BREAK names. */
#define thalweg_medium_table whole_table
#include "../../../../examples/media/shared_ring.c"
#undef thalweg_medium_table

thalweg_medium thalweg_medium_table;

/* Faults of calls. */

static int words_are_missing(thalweg_medium_sender *s, thalweg_medium_run_words *words) {
    int status = ring_run_words(s, words);
    words->sleeps = NULL;
    return status;
}

static int words_are_crooked(thalweg_medium_sender *s, thalweg_medium_run_words *words) {
    int status = ring_run_words(s, words);
    words->committed = (uint64_t *)((char *)words->committed + 4);
    return status;
}

static int words_have_begun(thalweg_medium_sender *s, thalweg_medium_run_words *words) {
    int status = ring_run_words(s, words);
    *words->committed = 8;
    return status;
}

static int words_are_refused(thalweg_medium_sender *s, thalweg_medium_run_words *words) {
    (void)s, (void)words;
    return THALWEG_MEDIUM_SYSTEM;
}

static int run_is_short(thalweg_medium_sender *s, uint64_t bytes, void **room, uint64_t *room_bytes,
                        char *sentence) {
    int status = ring_claim_run(s, bytes, room, room_bytes, sentence);
    *room_bytes = bytes - 8;
    return status;
}

static int run_is_crooked(thalweg_medium_sender *s, uint64_t bytes, void **room, uint64_t *room_bytes,
                          char *sentence) {
    int status = ring_claim_run(s, bytes, room, room_bytes, sentence);
    *room = (char *)*room + 4;
    return status;
}

/* Gives room that the receiver has not released. */
static int run_is_long(thalweg_medium_sender *s, uint64_t bytes, void **room, uint64_t *room_bytes,
                       char *sentence) {
    int status = ring_claim_run(s, bytes, room, room_bytes, sentence);
    *room_bytes = s->end.limit / 2;
    return status;
}

static int run_is_odd(thalweg_medium_sender *s, uint64_t bytes, void **room, uint64_t *room_bytes,
                      char *sentence) {
    (void)s, (void)bytes, (void)room, (void)room_bytes, (void)sentence;
    return -77;
}

static void wake_does_nothing(thalweg_medium_sender *s) {
    (void)s;
}

static void commit_forgets(thalweg_medium_sender *s, uint64_t bytes) {
    (void)s, (void)bytes;
}

/* Shows half of the last block, too. */
static int poll_cuts(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len,
                     char *sentence) {
    int status = ring_poll(r, skip, bytes, len, sentence);
    *len -= *len >= 16 ? 8 : 0;
    return status;
}

static int poll_garbles(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len,
                        char *sentence) {
    int status = ring_poll(r, skip, bytes, len, sentence);
    if (*len >= 8)
        memset((void *)(uintptr_t)*bytes, 0, 8);
    return status;
}

/* What BREAK names. */

static void has_no_words(thalweg_medium *table) {
    table->run_words = words_are_missing;
}

static void has_crooked_words(thalweg_medium *table) {
    table->run_words = words_are_crooked;
}

static void begins_late(thalweg_medium *table) {
    table->run_words = words_have_begun;
}

static void refuses_words(thalweg_medium *table) {
    table->run_words = words_are_refused;
}

static void gives_too_little(thalweg_medium *table) {
    table->claim_run = run_is_short;
}

static void gives_crooked_room(thalweg_medium *table) {
    table->claim_run = run_is_crooked;
}

static void gives_too_much(thalweg_medium *table) {
    table->claim_run = run_is_long;
}

static void claims_oddly(thalweg_medium *table) {
    table->claim_run = run_is_odd;
}

static void wakes_nobody(thalweg_medium *table) {
    table->wake = wake_does_nothing;
}

static void forgets_commits(thalweg_medium *table) {
    table->commit = commit_forgets;
}

static void cuts_blocks(thalweg_medium *table) {
    table->poll = poll_cuts;
}

static void garbles_blocks(thalweg_medium *table) {
    table->poll = poll_garbles;
}

__attribute__((constructor)) static void make_table(void) {
    thalweg_medium_table = whole_table;
    BREAK(&thalweg_medium_table);
}
