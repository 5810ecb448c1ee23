/* Decides an Arrow array of URLs: arrow AGENT. The robots.txt and the URLs are part of the program. Real programs get
 * the three structures, and code that fills them, from an Arrow library such as nanoarrow. */
#include <reptile.h>
#include <stdio.h>
#include <string.h>

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

static const char ROBOTS[] = "user-agent: *\ndisallow: /cart\nallow: /cart/help\n";
static const char TEXT[] = "https://shop.example/carthttps://shop.example/cart/helphttps://shop.example/";
static const int32_t OFFSETS[] = {0, 25, 25, 55, 76};
static const uint8_t VALID[] = {0x0d}; /* the second URL is null */

static int released = 0;

static void release_array(struct ArrowArray *array) {
    array->release = NULL;
    released++;
}

static void release_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
    released++;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    char *message = NULL;
    reptile_set *set = NULL;
    reptile_agents *agents = NULL;
    const char *names[] = {argv[1]};
    if (reptile_set_parse((const uint8_t *)ROBOTS, strlen(ROBOTS), "rfc9309", &set, &message) != REPTILE_CODE_OK ||
        reptile_agents_resolve(set, names, 1, false, &agents, &message) != REPTILE_CODE_OK) {
        fprintf(stderr, "arrow: %s\n", message);
        reptile_text_free(message);
        reptile_set_free(&set);
        return 1;
    }

    const void *buffers[] = {VALID, OFFSETS, TEXT};
    struct ArrowArray urls = {.length = 4, .null_count = 1, .n_buffers = 3, .buffers = buffers, .release = release_array};
    struct ArrowSchema type = {.format = "u", .name = "", .flags = 2, .release = release_schema};
    struct ArrowArray rows;
    struct ArrowSchema rows_type;
    reptile_code code = reptile_decide_arrow(agents, "verdict,line", NULL, NULL, NULL, true, &urls, &type, &rows, &rows_type, &message);
    reptile_agents_free(&agents);
    reptile_set_free(&set);
    if (code != REPTILE_CODE_OK) {
        fprintf(stderr, "arrow: %s\n", message);
        reptile_text_free(message);
        return 1;
    }

    const struct ArrowArray *verdicts = rows.children[0], *lines = rows.children[1];
    const uint8_t *valid = verdicts->buffers[0], *has_line = lines->buffers[0];
    const int8_t *keys = verdicts->buffers[1];
    const int32_t *starts = verdicts->dictionary->buffers[1];
    const char *words = verdicts->dictionary->buffers[2];
    const uint32_t *line = lines->buffers[1];
    printf("%s, %s\n", rows_type.children[0]->name, rows_type.children[1]->name);
    for (int64_t i = 0; i < rows.length; i++) {
        if (!(valid[i / 8] >> (i % 8) & 1)) {
            printf("null\n");
            continue;
        }
        int8_t key = keys[i];
        printf("%.*s", (int)(starts[key + 1] - starts[key]), words + starts[key]);
        if (has_line[i / 8] >> (i % 8) & 1) printf(" by line %u", (unsigned)line[i]);
        printf("\n");
    }
    rows.release(&rows);
    rows_type.release(&rows_type);
    reptile_shutdown();
    printf("released %d of 2\n", released);
    return 0;
}
