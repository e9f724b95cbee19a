/* thalweg.h: topics of libthalweg for C programs.
 *
 * A topic joins one publisher and many subscribers on one host, in processes of one user, by a ring in
 * shared memory. Both sides start in any order and find each other by the topic's name. Each subscriber
 * that is there gets every message, where it lies; the slowest one sets the pace. A subscriber joins at
 * the present. When the publisher ends, in order or not, what it has completed is delivered first.
 *
 * Status. Every function that can fail returns THALWEG_OK (0) or another number of thalweg_status;
 * errors are below 0, and thalweg_error() has a sentence on the last one of this thread. Pointers that
 * must not be null are checked: THALWEG_ERR_ARGUMENT. What a call would have stored is not stored when
 * it fails.
 *
 * Threads. A handle can be moved between threads and is used by one at a time. A subscriber's own
 * callback must not use the subscriber, and is told so: THALWEG_ERR_BUSY. A publisher has a thread of
 * its own, which sleeps unless a subscriber comes or goes, and blocks no signals of yours. After fork()
 * the handles are the parent's; a child that does not call exec() keeps connections open, and whoever
 * is at their other end notices the parent's end only when the child has ended too.
 *
 * Signals are not touched, nothing is written to standard output or error but for a bug's message,
 * and nothing is left behind in any file system. A callback must return: it must not be left by
 * longjmp() or an exception. */
#ifndef THALWEG_H
#define THALWEG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. Programs that were built with a header of the same version work with the
 * library; compare with thalweg_api_version(). */
#define THALWEG_API_VERSION 1

/* What calls return. */
enum thalweg_status {
    THALWEG_OK = 0,
    THALWEG_WOULD_BLOCK = 1,   /* with THALWEG_NONBLOCK: a subscriber holds the room */
    THALWEG_ERR_ARGUMENT = -1, /* a null pointer, text that is not UTF-8, a name that cannot be */
    THALWEG_ERR_CONFIG = -2,   /* a configuration that cannot be: the message has its place */
    THALWEG_ERR_PUBLISHED = -3, /* the topic has a publisher */
    THALWEG_ERR_REFUSED = -4,  /* whoever is at the other end is not to be trusted */
    THALWEG_ERR_FULL = -5,     /* no place for one more subscriber */
    THALWEG_ERR_TOO_LONG = -6, /* a message that can never have room */
    THALWEG_ERR_STATE = -7,    /* more is completed than was acquired */
    THALWEG_ERR_SYSTEM = -8,   /* the system refused something */
    THALWEG_ERR_BUSY = -9,     /* the handle is in use: by its own callback, or by another thread */
    THALWEG_ERR_BUG = -10      /* a mistake of the library's; the handle can only be closed */
};

/* Flags of acquire and send. */
#define THALWEG_NONBLOCK 1u /* return THALWEG_WOULD_BLOCK instead of waiting */

/* What happens on a topic, in this order, and again with the next publisher. */
enum thalweg_event_type {
    THALWEG_BOS = 1,  /* a publisher is there: the next message that it sends comes */
    THALWEG_DATA = 2, /* a message */
    THALWEG_EOS = 3   /* the publisher is gone, and all that it had completed was delivered */
};

typedef struct thalweg_config thalweg_config;
typedef struct thalweg_pub thalweg_pub;
typedef struct thalweg_sub thalweg_sub;

/* An event. All that it points to is there until the callback returns. */
typedef struct thalweg_event {
    int type;           /* of thalweg_event_type */
    const void *data;   /* DATA: the message, at an address that is a multiple of 8; else null */
    size_t len;         /* DATA: its bytes; else 0 */
    const char *topic;  /* BOS and EOS: the topic; else null */
    const char *source; /* BOS and EOS: the publisher, as in SHM:7b7:1000[4711]; else null */
} thalweg_event;

typedef void (*thalweg_callback)(const thalweg_event *event, void *user);

/* The version of the library. */
uint32_t thalweg_api_version(void);

/* A sentence on the last error of this thread, empty if there was none. Never null; there until the
 * next call of this thread that fails. */
const char *thalweg_error(void);

/* The usual configuration. To be freed by thalweg_config_free. */
int thalweg_config_new(thalweg_config **config);

/* Takes over what a TOML file says: ring_bytes, receivers, huge_pages. Can be repeated; what a later
 * one says counts. After an error the configuration is as it was. */
int thalweg_config_read(thalweg_config *config, const char *file);

/* The same of a text. */
int thalweg_config_apply(thalweg_config *config, const char *text);

/* Frees it; null is nothing. */
int thalweg_config_free(thalweg_config *config);

/* Becomes the publisher of a topic, and lets in who waits for it. The configuration is copied; null is
 * the usual one. To be closed by thalweg_pub_close. */
int thalweg_pub_open(const char *topic, const thalweg_config *config, thalweg_pub **pub);

/* Room for a message of so many bytes, at an address that is a multiple of 8. Waits for it, spinning,
 * while a subscriber holds it. The room is there until it is completed, cancelled, or acquired anew. */
int thalweg_pub_acquire(thalweg_pub *pub, size_t len, unsigned flags, void **room);

/* The first len bytes of the room are a message, and every subscriber gets it. */
int thalweg_pub_complete(thalweg_pub *pub, size_t len);

/* The room becomes no message. */
int thalweg_pub_cancel(thalweg_pub *pub);

/* Sends a copy of a message. */
int thalweg_pub_send(thalweg_pub *pub, const void *message, size_t len, unsigned flags);

/* How many subscribers are in. */
int thalweg_pub_receivers(thalweg_pub *pub, size_t *count);

/* Bytes of the longest message. */
int thalweg_pub_message_max(thalweg_pub *pub, size_t *len);

/* Ends the stream and frees the publisher; null is nothing. Subscribers that are behind lose nothing. */
int thalweg_pub_close(thalweg_pub *pub);

/* Subscribes to a topic, whether it has a publisher or not. A publisher that is opened from now on
 * finds this subscriber and sends it everything. To be closed by thalweg_sub_close. */
int thalweg_sub_open(const char *topic, thalweg_sub **sub);

/* Calls back for what has happened: all messages that are there, or the beginning or end of a
 * publisher. Never blocks. The number of events is stored if events is not null; 0: nothing now. */
int thalweg_sub_poll(thalweg_sub *sub, thalweg_callback callback, void *user, size_t *events);

/* Sleeps until there may be something to poll, or for so many milliseconds; below 0: for ever. */
int thalweg_sub_wait(thalweg_sub *sub, int timeout_ms);

/* Unsubscribes and frees the subscriber; null is nothing. */
int thalweg_sub_close(thalweg_sub *sub);

#ifdef __cplusplus
}
#endif

#endif
