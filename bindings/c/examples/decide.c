/* Decides URLs by a set: decide SET AGENT URL... Prints one verdict per URL, then a count, then an explanation. */
#include <reptile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const WORDS[] = {"none", "allow", "disallow", "unknown", "invalid"};

/* Ends the program if a call failed. The message is passed by address because C does not define the order in which
 * arguments are evaluated, and the call that sets it is one of them. */
static void check(reptile_code code, char **message) {
    if (code != REPTILE_CODE_OK) {
        fprintf(stderr, "decide: error %d: %s\n", (int)code, *message);
        reptile_text_free(*message);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: decide SET AGENT URL...\n");
        return 2;
    }
    const char *const *urls = (const char *const *)argv + 3;
    size_t urls_len = (size_t)argc - 3;
    char *message = NULL;

    reptile_set *set = NULL;
    check(reptile_set_read(argv[1], &set, &message), &message);
    check(reptile_set_verify(set, false, &message), &message);

    reptile_agents *agents = NULL;
    const char *names[] = {argv[2]};
    check(reptile_agents_resolve(set, names, 1, false, &agents, &message), &message);
    reptile_set_free(&set); /* the agents keep its data alive */

    for (size_t i = 0; i < urls_len; i++) {
        uint8_t verdict;
        check(reptile_decide(agents, urls[i], strlen(urls[i]), &verdict, 1, &message), &message);
        printf("%s\t%s\n", urls[i], WORDS[verdict]);
    }

    size_t *lens = malloc(urls_len * sizeof *lens);
    uint8_t *verdicts = malloc(urls_len);
    if (lens == NULL || verdicts == NULL) return 1;
    for (size_t i = 0; i < urls_len; i++) lens[i] = strlen(urls[i]);
    check(reptile_decide_many(agents, urls, lens, urls_len, true, verdicts, urls_len, &message), &message);
    size_t refused = 0;
    for (size_t i = 0; i < urls_len; i++) refused += verdicts[i] == REPTILE_VERDICT_DISALLOW;
    printf("%zu of %zu refused\n", refused, urls_len);
    free(verdicts);
    free(lens);

    reptile_explanation *why = NULL;
    check(reptile_explain(agents, 0, urls[0], strlen(urls[0]), &why, &message), &message);
    printf("%s: line %u, %s (%s)\n", WORDS[why->verdict], (unsigned)why->line, why->rule, why->reason);
    reptile_explanation_free(&why);

    reptile_agents_free(&agents);
    reptile_shutdown(); /* optional: ends the threads of reptile_decide_many */
    printf("reptile %s\n", reptile_version());
    return 0;
}
