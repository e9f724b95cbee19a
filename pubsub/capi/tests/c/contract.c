/* contract.c: what thalweg.h promises, tried from C. Prints the first promise that is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thalweg.h"

#define EXPECT(is)                                                             \
    do {                                                                       \
        if (!(is)) {                                                           \
            fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #is, thalweg_error()); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define SAYS(text) (strstr(thalweg_error(), text) != NULL)

struct heard {
    thalweg_sub *sub;
    int bos, data, eos;
    size_t bytes;
};

static void count(const thalweg_event *event, void *user) {
    struct heard *heard = user;
    heard->bos += event->type == THALWEG_BOS;
    heard->eos += event->type == THALWEG_EOS;
    if (event->type == THALWEG_DATA) {
        heard->data++;
        heard->bytes += event->len;
        EXPECT((uintptr_t)event->data % 8 == 0);
        EXPECT(event->topic == NULL && event->source == NULL);
    } else {
        EXPECT(event->data == NULL && event->len == 0);
        EXPECT(strlen(event->topic) > 0 && strncmp(event->source, "SHM:", 4) == 0);
    }
    /* Its own callback must not use the subscriber. */
    EXPECT(thalweg_sub_poll(heard->sub, count, user, NULL) == THALWEG_ERR_BUSY);
    EXPECT(thalweg_sub_wait(heard->sub, 0) == THALWEG_ERR_BUSY);
    EXPECT(thalweg_sub_close(heard->sub) == THALWEG_ERR_BUSY && SAYS("callback"));
}

static void until(struct heard *heard, const int *what, int times) {
    for (int turn = 0; *what < times; turn++) {
        size_t events = 99;
        EXPECT(turn < 1000000);
        EXPECT(thalweg_sub_poll(heard->sub, count, heard, &events) == THALWEG_OK);
        EXPECT(events != 99);
        if (events == 0) EXPECT(thalweg_sub_wait(heard->sub, 100) == THALWEG_OK);
    }
}

static void null_pointers(const char *topic) {
    thalweg_config *config;
    thalweg_pub *pub;
    thalweg_sub *sub;
    void *room;
    EXPECT(thalweg_config_new(NULL) == THALWEG_ERR_ARGUMENT && SAYS("config is null"));
    EXPECT(thalweg_config_new(&config) == THALWEG_OK);
    EXPECT(thalweg_config_read(config, NULL) == THALWEG_ERR_ARGUMENT && SAYS("file is null"));
    EXPECT(thalweg_config_read(NULL, "x") == THALWEG_ERR_ARGUMENT && SAYS("config is null"));
    EXPECT(thalweg_config_apply(config, NULL) == THALWEG_ERR_ARGUMENT && SAYS("text is null"));
    EXPECT(thalweg_config_apply(NULL, "") == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_config_free(config) == THALWEG_OK && thalweg_config_free(NULL) == THALWEG_OK);
    EXPECT(thalweg_pub_open(NULL, NULL, &pub) == THALWEG_ERR_ARGUMENT && SAYS("topic is null"));
    EXPECT(thalweg_pub_open(topic, NULL, NULL) == THALWEG_ERR_ARGUMENT && SAYS("pub is null"));
    EXPECT(thalweg_pub_open("\xff", NULL, &pub) == THALWEG_ERR_ARGUMENT && SAYS("UTF-8"));
    EXPECT(thalweg_pub_open("", NULL, &pub) == THALWEG_ERR_ARGUMENT && SAYS("empty"));
    EXPECT(thalweg_pub_acquire(NULL, 1, 0, &room) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_complete(NULL, 1) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_cancel(NULL) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_send(NULL, "x", 1, 0) == THALWEG_ERR_ARGUMENT && SAYS("pub is null"));
    EXPECT(thalweg_pub_receivers(NULL, &(size_t){0}) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_message_max(NULL, &(size_t){0}) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_close(NULL) == THALWEG_OK);
    EXPECT(thalweg_sub_open(NULL, &sub) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_sub_open(topic, NULL) == THALWEG_ERR_ARGUMENT && SAYS("sub is null"));
    EXPECT(thalweg_sub_poll(NULL, count, NULL, NULL) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_sub_wait(NULL, 0) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_sub_close(NULL) == THALWEG_OK);
}

static void configuration(const char *topic) {
    thalweg_config *config;
    thalweg_pub *pub;
    size_t most;
    EXPECT(thalweg_config_new(&config) == THALWEG_OK);
    EXPECT(thalweg_config_apply(config, "ring_bytes = 8192") == THALWEG_OK);
    EXPECT(thalweg_config_apply(config, "\nring_bites = 1") == THALWEG_ERR_CONFIG);
    EXPECT(SAYS("text:2:1: there is no key `ring_bites`"));
    EXPECT(thalweg_config_read(config, "no/such/file") == THALWEG_ERR_CONFIG && SAYS("no/such/file"));
    EXPECT(thalweg_pub_open(topic, config, &pub) == THALWEG_OK);
    EXPECT(thalweg_config_free(config) == THALWEG_OK);
    EXPECT(thalweg_pub_message_max(pub, &most) == THALWEG_OK && most == 8192 / 2 - 8);
    EXPECT(thalweg_pub_message_max(pub, NULL) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_close(pub) == THALWEG_OK);
}

static void messages(const char *topic) {
    struct heard heard = {0};
    thalweg_config *config;
    thalweg_pub *pub, *second;
    size_t receivers, most;
    void *room;
    EXPECT(thalweg_sub_open(topic, &heard.sub) == THALWEG_OK);
    EXPECT(thalweg_sub_poll(heard.sub, NULL, NULL, NULL) == THALWEG_ERR_ARGUMENT && SAYS("callback is null"));
    EXPECT(thalweg_config_new(&config) == THALWEG_OK);
    EXPECT(thalweg_config_apply(config, "ring_bytes = 4096\nreceivers = 1") == THALWEG_OK);
    EXPECT(thalweg_pub_open(topic, config, &pub) == THALWEG_OK);
    EXPECT(thalweg_config_free(config) == THALWEG_OK);
    EXPECT(thalweg_pub_open(topic, NULL, &second) == THALWEG_ERR_PUBLISHED && SAYS("has a publisher already"));
    EXPECT(thalweg_pub_receivers(pub, &receivers) == THALWEG_OK && receivers == 1);
    EXPECT(thalweg_pub_receivers(pub, NULL) == THALWEG_ERR_ARGUMENT);
    EXPECT(thalweg_pub_message_max(pub, &most) == THALWEG_OK);

    EXPECT(thalweg_pub_complete(pub, 0) == THALWEG_ERR_STATE);
    EXPECT(thalweg_pub_acquire(pub, most + 1, 0, &room) == THALWEG_ERR_TOO_LONG);
    EXPECT(thalweg_pub_acquire(pub, 8, 2, &room) == THALWEG_ERR_ARGUMENT && SAYS("THALWEG_NONBLOCK"));
    EXPECT(thalweg_pub_acquire(pub, 8, 0, NULL) == THALWEG_ERR_ARGUMENT && SAYS("room is null"));
    EXPECT(thalweg_pub_send(pub, NULL, 0, 0) == THALWEG_ERR_ARGUMENT && SAYS("message is null"));
    EXPECT(thalweg_pub_send(pub, "x", SIZE_MAX, 0) == THALWEG_ERR_TOO_LONG);
    EXPECT(thalweg_pub_send(pub, "x", 1, 4) == THALWEG_ERR_ARGUMENT);

    EXPECT(thalweg_pub_acquire(pub, 16, 0, &room) == THALWEG_OK && (uintptr_t)room % 8 == 0);
    memset(room, 'a', 16);
    EXPECT(thalweg_pub_complete(pub, 10) == THALWEG_OK);
    EXPECT(thalweg_pub_acquire(pub, 16, THALWEG_NONBLOCK, &room) == THALWEG_OK);
    EXPECT(thalweg_pub_cancel(pub) == THALWEG_OK);
    EXPECT(thalweg_pub_complete(pub, 16) == THALWEG_ERR_STATE);
    EXPECT(thalweg_pub_send(pub, "", 0, 0) == THALWEG_OK);

    int sent = 2, status;
    while ((status = thalweg_pub_send(pub, "0123456789abcdef", 16, THALWEG_NONBLOCK)) == THALWEG_OK) sent++;
    EXPECT(status == THALWEG_WOULD_BLOCK);
    EXPECT(thalweg_pub_acquire(pub, 16, THALWEG_NONBLOCK, &room) == THALWEG_WOULD_BLOCK);
    EXPECT(thalweg_pub_complete(pub, 16) == THALWEG_ERR_STATE);
    until(&heard, &heard.data, sent);
    EXPECT(heard.bos == 1 && heard.bytes == 10 + 16u * (size_t)(sent - 2));
    EXPECT(thalweg_pub_close(pub) == THALWEG_OK);
    until(&heard, &heard.eos, 1);
    EXPECT(heard.data == sent);
    EXPECT(thalweg_sub_close(heard.sub) == THALWEG_OK);
}

int main(int argc, char **argv) {
    EXPECT(argc == 2);
    EXPECT(thalweg_api_version() == THALWEG_API_VERSION);
    EXPECT(strcmp(thalweg_error(), "") == 0);
    null_pointers(argv[1]);
    configuration(argv[1]);
    messages(argv[1]);
    printf("all promises kept\n");
    return 0;
}
