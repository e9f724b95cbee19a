/* pub.c: the publisher of `thalweg perf pub` as a C program. */
#include "tool.h"

static long affinity_cpu = 1, flags, jitter_loops, linger_ms = 1000, msg_len = 25;
static long num_msgs = 10000000, rate = 1000000, warmup_loops = 10000;
static const char *config_file = "(null)", *topic = "smx_perf";

static void options(int argc, char **argv, thalweg_config *config) {
    int option;
    while ((option = getopt(argc, argv, "a:c:f:j:l:m:n:r:t:w:")) != -1) {
        switch (option) {
        case 'a': affinity_cpu = number(optarg, option); break;
        case 'c':
            config_file = optarg;
            CHECK(thalweg_config_read(config, optarg));
            break;
        case 'f': flags = number(optarg, option); break;
        case 'j': jitter_loops = number(optarg, option); break;
        case 'l': linger_ms = number(optarg, option); break;
        case 'm': msg_len = number(optarg, option); break;
        case 'n': num_msgs = number(optarg, option); break;
        case 'r': rate = number(optarg, option); break;
        case 't': topic = optarg; break;
        case 'w': warmup_loops = number(optarg, option); break;
        default: exit(2);
        }
    }
}

static void jitter(void) {
    uint64_t min_ns = UINT64_MAX, max_ns = 0;
    for (long loop = 0; loop < jitter_loops; loop++) {
        uint64_t first_ns = now_ns(), gap_ns = now_ns() - first_ns;
        if (gap_ns < min_ns) min_ns = gap_ns;
        if (gap_ns > max_ns) max_ns = gap_ns;
    }
    printf("ts_min_ns=%" PRIu64 ", ts_max_ns=%" PRIu64 ", \n", min_ns, max_ns);
}

static void fill(void *room, long number, long how) {
    struct perf_message message = {0, (uint32_t)number, 0, 0};
    if (how & TIMESTAMP) {
        message.flags = 1;
        message.sent_ns = now_ns();
    }
    memcpy(room, &message, (size_t)msg_len < sizeof message ? (size_t)msg_len : sizeof message);
}

/* Sends one message; 0: there was no room. */
static int put(thalweg_pub *pub, long number, long how, void *copied) {
    unsigned wait = how & NON_BLOCKING ? THALWEG_NONBLOCK : 0;
    void *room = copied;
    int status;
    if (how & GENERIC) {
        fill(room, number, how);
        status = thalweg_pub_send(pub, room, (size_t)msg_len, wait);
    } else {
        status = thalweg_pub_acquire(pub, (size_t)msg_len, wait, &room);
        if (status == THALWEG_OK) {
            fill(room, number, how);
            status = thalweg_pub_complete(pub, (size_t)msg_len);
        }
    }
    check(status, "send");
    return status == THALWEG_OK;
}

/* Evenly, by a loop that reads the clock and catches up with what is behind. */
static long send_all(thalweg_pub *pub, long count, long per_second, long how) {
    void *copied = calloc(1, (size_t)msg_len + 1);
    uint64_t start_ns = now_ns(), elapsed_ns = 0;
    long sent = 0;
    while (sent < count) {
        uint64_t seconds = elapsed_ns / 1000000000u, rest = elapsed_ns % 1000000000u;
        long due = (long)(seconds * (uint64_t)per_second + rest * (uint64_t)per_second / 1000000000u) + 1;
        if (due > count) due = count;
        while (sent < due && put(pub, sent, how, copied)) sent++;
        elapsed_ns = now_ns() - start_ns;
    }
    free(copied);
    return sent;
}

int main(int argc, char **argv) {
    thalweg_config *config;
    thalweg_pub *pub;
    CHECK(thalweg_config_new(&config));
    options(argc, argv, config);
    printf("o_affinity_cpu=%ld, o_config=%s, o_flags=0x%02lx, o_jitter_loops=%ld, o_linger_ms=%ld, "
           "o_msg_len=%ld, o_num_msgs=%ld, o_rate=%ld, o_topic='%s', o_warmup_loops=%ld, \n",
           affinity_cpu, config_file, (unsigned long)flags, jitter_loops, linger_ms, msg_len, num_msgs,
           rate, topic, warmup_loops);
    if (jitter_loops > 0) {
        run_on(affinity_cpu);
        jitter();
        return 0;
    }
    CHECK(thalweg_pub_open(topic, config, &pub));
    CHECK(thalweg_config_free(config));
    run_on(affinity_cpu);
    send_all(pub, warmup_loops, 10000, flags & GENERIC);
    uint64_t start_ns = now_ns();
    long sends = send_all(pub, num_msgs, rate, flags);
    uint64_t duration_ns = now_ns() - start_ns;
    printf("actual_sends=%ld, duration_ns=%" PRIu64 ", result_rate=%f, \n", sends, duration_ns,
           (double)sends / ((double)duration_ns / 1e9));
    usleep((useconds_t)linger_ms * 1000);
    CHECK(thalweg_pub_close(pub));
    return 0;
}
