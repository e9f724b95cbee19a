/* tool.h: what the two tools share. The messages are those of `thalweg perf`: lab/perf/src/message.rs
 * draws them. */
#ifndef TOOL_H
#define TOOL_H

#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "thalweg.h"

enum { TIMESTAMP = 1, NON_BLOCKING = 2, GENERIC = 4 };

struct perf_message {
    uint32_t flags; /* 1: it carries times */
    uint32_t number;
    uint64_t sent_ns;
    uint64_t lag_ns;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ends the program if a call has failed. */
static void check(int status, const char *call) {
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", call, thalweg_error());
        exit(1);
    }
}
#define CHECK(call) check(call, #call)

static long number(const char *text, int option) {
    char *end;
    long value = strtol(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    if (*text == 0 || *end != 0 || value < 0) {
        fprintf(stderr, "-%c %s: a number, decimal or as in 0x1f\n", option, text);
        exit(2);
    }
    return value;
}

static void run_on(long cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("sched_setaffinity");
        exit(1);
    }
}

#endif
