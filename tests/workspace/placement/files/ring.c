#include <stdlib.h>
#include <string.h>

struct ring {
    char *bytes;
    size_t size;
    size_t head;
    size_t tail;
};

/* A ring of `size` bytes; NULL where there is no memory. */
struct ring *ring_new(size_t size)
{
    struct ring *ring = malloc(sizeof *ring);
    if (ring == NULL) {
        return NULL;
    }
    ring->bytes = malloc(size);
    if (ring->bytes == NULL) {
        free(ring);
        return NULL;
    }
    ring->size = size;
    ring->head = 0;
    ring->tail = 0;
    return ring;
}

void ring_free(struct ring *ring)
{
    if (ring == NULL) {
        return;
    }
    free(ring->bytes);
    free(ring);
}

size_t ring_used(const struct ring *ring)
{
    if (ring->head >= ring->tail) {
        return ring->head - ring->tail;
    }
    return ring->size - ring->tail + ring->head;
}

int ring_put(struct ring *ring, char byte)
{
    size_t next = ring->head + 1;
    if (next == ring->size) {
        next = 0;
    }
    if (next == ring->tail) {
        return -1;
    }
    ring->bytes[ring->head] = byte;
    ring->head = next;
    return 0;
}

int ring_take(struct ring *ring, char *byte)
{
    size_t next = ring->tail + 1;
    if (ring->tail == ring->head) {
        return -1;
    }
    if (next == ring->size) {
        next = 0;
    }
    *byte = ring->bytes[ring->tail];
    ring->tail = next;
    return 0;
}

void ring_clear(struct ring *ring)
{
    ring->head = 0;
    ring->tail = 0;
    memset(ring->bytes, 0, ring->size);
}
