/* sub.c: the subscriber of `thalweg perf sub` as a C program. Runs until it is killed. */
#include "tool.h"

static long affinity_cpu, fast, spin_cnt;
static const char *config_file = "(null)", *topic = "smx_perf";

/* Of the publisher that is there. */
static uint64_t num_rcv_msgs, num_timestamps, min_ns, max_ns, sum_ns;
static int is_there;
static volatile long counter;

static void options(int argc, char **argv) {
    thalweg_config *config;
    int option;
    CHECK(thalweg_config_new(&config));
    while ((option = getopt(argc, argv, "a:c:fs:t:")) != -1) {
        switch (option) {
        case 'a': affinity_cpu = number(optarg, option); break;
        case 'c':
            config_file = optarg;
            CHECK(thalweg_config_read(config, optarg));
            break;
        case 'f': fast = 1; break;
        case 's': spin_cnt = number(optarg, option); break;
        case 't': topic = optarg; break;
        default: exit(2);
        }
    }
    CHECK(thalweg_config_free(config));
}

static void begin(const thalweg_event *event) {
    num_rcv_msgs = num_timestamps = max_ns = sum_ns = 0;
    min_ns = UINT64_MAX;
    is_there = 1;
    run_on(affinity_cpu);
    printf("rcv event BOS, topic_name='%s', source=%s, \n", event->topic, event->source);
}

static void end(const thalweg_event *event) {
    is_there = 0;
    printf("rcv event EOS, '%s', %s, num_rcv_msgs=%" PRIu64 ", ", event->topic, event->source,
           num_rcv_msgs);
    if (num_timestamps > 0) {
        printf("min_latency=%" PRIu64 ", max_latency=%" PRIu64 ", average latency=%" PRIu64 ", ", min_ns,
               max_ns, sum_ns / num_timestamps);
    }
    printf("\n");
}

static void measure(const thalweg_event *event) {
    struct perf_message message;
    if (event->len >= sizeof message) {
        memcpy(&message, event->data, sizeof message);
        if (message.flags & 1) {
            uint64_t latency_ns = now_ns() - message.sent_ns;
            if (latency_ns < min_ns) min_ns = latency_ns;
            if (latency_ns > max_ns) max_ns = latency_ns;
            sum_ns += latency_ns;
            num_timestamps++;
        }
    }
    for (counter = 0; counter < spin_cnt; counter++) {
    }
}

static void on_event(const thalweg_event *event, void *user) {
    (void)user;
    switch (event->type) {
    case THALWEG_BOS: begin(event); break;
    case THALWEG_EOS: end(event); break;
    case THALWEG_DATA:
        num_rcv_msgs++;
        if (!fast) measure(event);
        break;
    }
}

int main(int argc, char **argv) {
    thalweg_sub *sub;
    setvbuf(stdout, NULL, _IOLBF, 0);
    options(argc, argv);
    CHECK(thalweg_sub_open(topic, &sub));
    printf("o_affinity_cpu=%ld, o_config=%s, o_fast=%ld, o_spin_cnt=%ld, o_topic='%s', \n",
           affinity_cpu, config_file, fast, spin_cnt, topic);
    for (long vain = 0;;) {
        size_t events;
        CHECK(thalweg_sub_poll(sub, on_event, NULL, &events));
        vain = events > 0 ? 0 : vain + 1;
        if (events == 0 && !is_there) {
            CHECK(thalweg_sub_wait(sub, -1));
        } else if (vain > 20000) {
            sched_yield(); /* the publisher might be waiting for this processor */
        }
    }
}
