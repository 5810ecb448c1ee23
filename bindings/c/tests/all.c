/* Calls every function, most of them from several threads: all FILE [fork]. Writes a set to the file. Prints one line
 * if all results are correct. A test runs this program under valgrind. With `fork`, a forked process runs queries too;
 * valgrind would report the parent's threads, which do not exist in the forked process. */
#include <pthread.h>
#include <reptile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#define THREADS 2
#define URLS 1000

/* Ends the program if a condition is false, or a call fails. */
#define TRUE(condition) ((condition) ? (void)0 : fail(__LINE__, #condition, NULL))
#define OK(call) (code = (call), code == REPTILE_CODE_OK ? (void)0 : fail(__LINE__, #call, message))

static void fail(int line, const char *what, const char *message) {
    fprintf(stderr, "all.c:%d: %s: %s\n", line, what, message == NULL ? "is false" : message);
    exit(1);
}

static const char *const SHOP = "https://shop.example/cart";
static reptile_compiler *compiler;
static reptile_agents *agents, *timed, *scoped;
static reptile_one_shot *one_shot;
static reptile_set *set;

static reptile_capture captured(const char *url, const char *body, int64_t time) {
    reptile_capture capture = {.size = sizeof capture, .url = url, .time = time};
    capture.url_len = strlen(url);
    capture.body = (const uint8_t *)body;
    capture.body_len = strlen(body);
    return capture;
}

/* Adds captures. Each thread has its own origin. */
static void *add(void *number) {
    char *message = NULL;
    reptile_code code;
    char url[64];
    snprintf(url, sizeof url, "https://%d.example/robots.txt", *(int *)number);
    for (int i = 1; i < 8; i++) {
        reptile_capture capture = captured(url, i % 2 ? "user-agent: *\ndisallow: /x\n" : "", i * 100);
        OK(reptile_compiler_add(compiler, &capture, &message));
    }
    return NULL;
}

static void release_array(struct ArrowArray *array) {
    array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
}

static const int32_t OFFSETS[] = {0, 25, 46};
static const void *BUFFERS[] = {NULL, OFFSETS, "https://shop.example/carthttps://shop.example/"};
static const struct ArrowArray TWO_URLS = {.length = 2, .n_buffers = 3, .buffers = BUFFERS, .release = release_array};
static const struct ArrowSchema TEXT = {.format = "u", .name = "url", .release = release_schema};

/* A stream of two batches, each a struct with the column `url`. `private_data` counts the remaining batches. */
struct batch {
    struct ArrowArray urls;
    struct ArrowArray *children[1];
    const void *buffers[1];
};

static void release_batch(struct ArrowArray *array) {
    struct batch *batch = array->private_data;
    if (batch->urls.release != NULL) batch->urls.release(&batch->urls);
    free(batch);
    array->release = NULL;
}

static void release_batch_schema(struct ArrowSchema *schema) {
    if (schema->children[0]->release != NULL) schema->children[0]->release(schema->children[0]);
    free(schema->children[0]);
    free(schema->children);
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    (void)stream;
    struct ArrowSchema **children = malloc(sizeof *children);
    TRUE(children != NULL && (children[0] = malloc(sizeof **children)) != NULL);
    *children[0] = TEXT;
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = 1, .children = children, .release = release_batch_schema};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    int *left = stream->private_data;
    memset(out, 0, sizeof *out);
    if ((*left)-- <= 0) return 0;
    struct batch *batch = calloc(1, sizeof *batch);
    TRUE(batch != NULL);
    batch->urls = TWO_URLS;
    batch->children[0] = &batch->urls;
    *out = (struct ArrowArray){.length = 2, .n_buffers = 1, .n_children = 1, .buffers = batch->buffers,
                               .children = batch->children, .release = release_batch, .private_data = batch};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return NULL;
}

static void release_stream(struct ArrowArrayStream *stream) {
    stream->release = NULL;
}

static void arrow(void) {
    char *message = NULL;
    reptile_code code;
    struct ArrowArray urls = TWO_URLS, rows;
    struct ArrowSchema schema = TEXT, rows_schema;
    OK(reptile_decide_arrow(agents, "url,line", NULL, NULL, NULL, true, &urls, &schema, &rows, &rows_schema, &message));
    TRUE(rows.length == 2 && rows.n_children == 3);
    rows.release(&rows);
    rows_schema.release(&rows_schema);

    const char *names[] = {"train-ai", "search"};
    reptile_uses *uses = NULL;
    OK(reptile_uses_new(names, 2, REPTILE_USAGE_LINES_USAGE, NULL, &uses, &message));
    urls = TWO_URLS;
    schema = TEXT;
    OK(reptile_decide_arrow(agents, "url", uses, NULL, NULL, true, &urls, &schema, &rows, &rows_schema, &message));
    TRUE(rows.length == 2 && rows.n_children == 5 && strcmp(rows_schema.children[4]->name, "GPTBot:search") == 0);
    rows.release(&rows);
    rows_schema.release(&rows_schema);

    int left = 2, batches = 0;
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, &left}, verdicts;
    OK(reptile_decide_arrow_stream(agents, NULL, uses, NULL, NULL, true, &stream, &verdicts, &message));
    OK(reptile_uses_free(&uses));
    TRUE(verdicts.get_schema(&verdicts, &rows_schema) == 0);
    rows_schema.release(&rows_schema);
    while (verdicts.get_next(&verdicts, &rows) == 0 && rows.release != NULL) {
        rows.release(&rows);
        batches++;
    }
    verdicts.release(&verdicts);
    TRUE(batches == 2);

    const char *origins[] = {"shop.example", "https://no.example/x"};
    OK(reptile_summarize_arrow(agents, origins, 2, &verdicts, &message));
    TRUE(verdicts.get_next(&verdicts, &rows) == 0 && rows.length == 4 && rows.n_children == 9);
    rows.release(&rows);
    verdicts.release(&verdicts);
}

/* Runs every query that threads may run at the same time. */
static void *ask(void *number) {
    (void)number;
    char *message = NULL;
    reptile_code code;
    size_t len = strlen(SHOP);
    uint8_t verdict[2];
    OK(reptile_decide(agents, SHOP, len, verdict, 2, &message));
    TRUE(verdict[0] == REPTILE_VERDICT_DISALLOW && verdict[1] == REPTILE_VERDICT_ALLOW);
    OK(reptile_decide_at(timed, SHOP, len, 1000, verdict, 1, &message));
    TRUE(verdict[0] == REPTILE_VERDICT_DISALLOW);

    const char **urls = malloc(URLS * sizeof *urls);
    size_t *lens = malloc(URLS * sizeof *lens);
    int64_t *times = malloc(URLS * sizeof *times);
    uint8_t *verdicts = malloc(2 * URLS);
    TRUE(urls != NULL && lens != NULL && times != NULL && verdicts != NULL);
    for (size_t i = 0; i < URLS; i++) {
        urls[i] = SHOP;
        lens[i] = len;
        times[i] = i % 2 ? 1000 : 2000;
    }
    OK(reptile_decide_many(agents, urls, lens, URLS, true, verdicts, 2 * URLS, &message));
    TRUE(verdicts[2 * URLS - 2] == REPTILE_VERDICT_DISALLOW);
    OK(reptile_decide_many_at(timed, urls, lens, times, URLS, true, verdicts, URLS, &message));
    TRUE(verdicts[0] == REPTILE_VERDICT_ALLOW && verdicts[1] == REPTILE_VERDICT_DISALLOW);
    free(urls);
    free(lens);
    free(times);
    free(verdicts);

    const char *names[] = {"train-ai", "search"};
    reptile_uses *uses = NULL;
    uint8_t preferences[2];
    OK(reptile_uses_new(names, 2, REPTILE_USAGE_LINES_ALL, NULL, &uses, &message));
    OK(reptile_usage(agents, 1, SHOP, len, uses, preferences, 2, &message));
    TRUE(preferences[0] == REPTILE_PREFERENCE_UNKNOWN);
    OK(reptile_usage_at(timed, 0, SHOP, len, 1000, uses, preferences, 2, &message));
    TRUE(preferences[1] == REPTILE_PREFERENCE_NOT_APPLICABLE);
    OK(reptile_uses_free(&uses));
    OK(reptile_uses_with_purpose(NULL, 0, REPTILE_USAGE_LINES_USAGE, NULL, "search", "allow", &uses, &message));
    OK(reptile_uses_free(&uses));

    reptile_explanation *why = NULL;
    OK(reptile_explain(agents, 0, SHOP, len, &why, &message));
    TRUE(strcmp(why->rule, "Disallow: /cart") == 0 && strcmp(why->path, "/cart") == 0 && why->line == 4);
    OK(reptile_explanation_free(&why));
    OK(reptile_explain_at(timed, 0, SHOP, len, 1, &why, &message));
    TRUE(why->verdict == REPTILE_VERDICT_UNKNOWN);
    OK(reptile_explanation_free(&why));

    reptile_directives *lines = NULL;
    double seconds;
    OK(reptile_set_sitemaps(set, SHOP, len, &lines, &message));
    TRUE(lines->is_known && lines->len == 1 && strcmp(lines->items[0].value, "https://shop.example/map.xml") == 0);
    OK(reptile_directives_free(&lines));
    OK(reptile_set_directives(set, SHOP, len, &lines, &message));
    TRUE(lines->len == 2);
    OK(reptile_directives_free(&lines));
    OK(reptile_agent_directives(agents, 0, SHOP, len, &lines, &message));
    TRUE(lines->len == 2 && lines->items[1].kind == REPTILE_DIRECTIVE_KIND_CRAWL_DELAY);
    OK(reptile_directives_free(&lines));
    OK(reptile_agent_crawl_delay(agents, 0, SHOP, len, &seconds, &message));
    TRUE(seconds == 2.5);

    const char *body = "user-agent: *\ndisallow: /cart\n";
    uint32_t line;
    OK(reptile_one_shot_decide(one_shot, (const uint8_t *)body, strlen(body), SHOP, len, verdict, &line, &message));
    TRUE(verdict[0] == REPTILE_VERDICT_DISALLOW && line == 2);

    const char *header = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    const char *browser = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";
    reptile_agents *sender = NULL;
    OK(reptile_agents_of_header(set, header, strlen(header), &sender, &message));
    TRUE(strcmp(reptile_agents_name(sender, 0), "GPTBot") == 0);
    OK(reptile_agents_free(&sender));
    OK(reptile_agents_of_rows(set, "bot", false, false, &sender, &message));
    TRUE(reptile_agents_len(sender) == 0);
    OK(reptile_agents_free(&sender));
    OK(reptile_agents_of_header(set, browser, strlen(browser), &sender, &message));
    TRUE(sender == NULL);

    const char *www = "http://www.shop.example/cart";
    OK(reptile_decide(scoped, www, strlen(www), verdict, 2, &message));
    TRUE(verdict[0] == REPTILE_VERDICT_DISALLOW && verdict[1] == REPTILE_VERDICT_ALLOW);
    OK(reptile_decide(agents, www, strlen(www), verdict, 2, &message));
    TRUE(verdict[0] == REPTILE_VERDICT_UNKNOWN);

    reptile_summary *summary = NULL;
    OK(reptile_access(agents, 0, SHOP, len, &summary, &message));
    TRUE(summary->access == REPTILE_ACCESS_KIND_PARTIAL && strncmp(summary->disallowed_path, "/cart", 5) == 0);
    OK(reptile_summary_free(&summary));

    arrow();
    return NULL;
}

static void in_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        TRUE(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) TRUE(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    char *message = NULL;
    reptile_code code;
    TRUE(strlen(reptile_version()) >= 5 && reptile_format_version() > 0);

    reptile_compiler_options options = {.size = sizeof options, .dialect = "yandex-2017"};
    options.flags = REPTILE_COMPILE_BY_TIME;
    OK(reptile_compiler_new(&options, &compiler, &message));
    in_threads(add);
    reptile_set *by_time = NULL, *others = NULL;
    OK(reptile_compiler_finish_set(compiler, &others, &message));
    OK(reptile_compiler_free(&compiler));
    OK(reptile_compiler_new(&options, &compiler, &message));
    reptile_capture capture = captured("https://shop.example/robots.txt", "user-agent: *\ndisallow: /\n", 1000);
    OK(reptile_compiler_add(compiler, &capture, &message));
    capture = captured("https://shop.example/robots.txt", "", 2000);
    OK(reptile_compiler_add(compiler, &capture, &message));
    OK(reptile_compiler_add_set(compiler, others, &message));
    OK(reptile_set_free(&others));
    OK(reptile_compiler_finish_file(compiler, argv[1], true, &message));
    TRUE(reptile_compiler_finish_file(compiler, argv[1], false, &message) == REPTILE_CODE_EXISTS);
    reptile_text_free(message);
    OK(reptile_compiler_free(&compiler));
    OK(reptile_set_map(argv[1], &by_time, &message));
    OK(reptile_set_verify(by_time, true, &message));
    TRUE(reptile_set_len(by_time) == 1 + THREADS);

    options.flags = 0;
    options.memory = 1;
    options.folder = ".";
    OK(reptile_compiler_new(&options, &compiler, &message));
    capture = captured("https://shop.example/robots.txt",
                       "sitemap: https://shop.example/map.xml\nuser-agent: *\ncrawl-delay: 2.5\ndisallow: /cart\n"
                       "user-agent: GPTBot\nallow: /\n", 0);
    OK(reptile_compiler_add(compiler, &capture, &message));
    OK(reptile_compiler_finish_set(compiler, &set, &message));
    OK(reptile_compiler_free(&compiler));

    const char *names[] = {"MyBot", "GPTBot"};
    OK(reptile_agents_resolve(set, names, 2, false, &agents, &message));
    OK(reptile_agents_resolve(by_time, names, 1, false, &timed, &message));
    OK(reptile_set_free(&by_time));
    OK(reptile_agents_in_scope(agents, "www", &scoped, &message));
    TRUE(reptile_agents_len(agents) == 2 && strcmp(reptile_agents_name(agents, 1), "GPTBot") == 0);
    OK(reptile_one_shot_new("MyBot", NULL, false, &one_shot, &message));

    in_threads(ask);
    OK(reptile_shutdown());
    in_threads(ask); /* starts new threads */
    if (argc > 2) {
        pid_t child = fork();
        if (child == 0) {
            OK(reptile_shutdown());
            in_threads(ask);
            OK(reptile_shutdown());
            _exit(0);
        }
        int status = 1;
        TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }

    reptile_set *other = NULL;
    OK(reptile_set_read(argv[1], &other, &message));
    OK(reptile_set_free(&other));
    TRUE(reptile_set_from_bytes((const uint8_t *)"x", 1, &other, &message) == REPTILE_CODE_FORMAT && other == NULL);
    reptile_text_free(message);
    OK(reptile_set_parse(NULL, 0, NULL, &other, &message));
    OK(reptile_set_free(&other));
    OK(reptile_one_shot_free(&one_shot));
    OK(reptile_agents_free(&scoped));
    OK(reptile_agents_free(&timed));
    OK(reptile_agents_free(&agents));
    OK(reptile_set_free(&set));
    OK(reptile_shutdown());
    printf("all functions work\n");
    return 0;
}
