/* Decides URLs by the robots.txt on standard input: one_shot CRAWLER URL... */
#include <reptile.h>
#include <stdio.h>
#include <string.h>

static const char *const WORDS[] = {"none", "allow", "disallow", "unknown", "invalid"};

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    static uint8_t body[500 * 1024]; /* Google reads at most 500 KiB */
    size_t body_len = fread(body, 1, sizeof body, stdin);

    char *message = NULL;
    reptile_one_shot *crawler = NULL;
    reptile_code code = reptile_one_shot_new(argv[1], "google", false, &crawler, &message);
    for (int i = 2; i < argc && code == REPTILE_CODE_OK; i++) {
        uint8_t verdict;
        uint32_t line;
        code = reptile_one_shot_decide(crawler, body, body_len, argv[i], strlen(argv[i]), &verdict, &line, &message);
        if (code == REPTILE_CODE_OK) printf("%s line %u %s\n", WORDS[verdict], (unsigned)line, argv[i]);
    }
    reptile_one_shot_free(&crawler);
    if (code == REPTILE_CODE_OK) return 0;
    fprintf(stderr, "one_shot: error %d: %s\n", (int)code, message);
    reptile_text_free(message);
    return 1;
}
