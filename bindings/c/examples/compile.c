/* Compiles three fetches to a set file and asks it: compile SET. An existing file is replaced. */
#include <reptile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if a call failed. See decide.c for why the message is passed by address. */
static void check(reptile_code code, char **message) {
    if (code != REPTILE_CODE_OK) {
        fprintf(stderr, "compile: error %d: %s\n", (int)code, *message);
        reptile_text_free(*message);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    char *message = NULL;
    reptile_compiler *compiler = NULL;
    check(reptile_compiler_new(NULL, &compiler, &message), &message);

    /* Fields that are not named are zero. */
    const char *body = "user-agent: *\ndisallow: /cart\ncrawl-delay: 2\nsitemap: https://shop.example/map.xml\n";
    reptile_capture shop = {.size = sizeof shop, .url = "https://shop.example/robots.txt", .time = 1767225600};
    shop.url_len = strlen(shop.url);
    shop.body = (const uint8_t *)body;
    shop.body_len = strlen(body);
    shop.status = 200;
    check(reptile_compiler_add(compiler, &shop, &message), &message);

    reptile_capture gone = {.size = sizeof gone, .url = "https://gone.example/robots.txt", .status = 404};
    gone.url_len = strlen(gone.url);
    check(reptile_compiler_add(compiler, &gone, &message), &message);

    reptile_capture down = {.size = sizeof down, .url = "https://down.example/robots.txt", .error = "timed out"};
    down.url_len = strlen(down.url);
    check(reptile_compiler_add(compiler, &down, &message), &message);

    check(reptile_compiler_finish_file(compiler, argv[1], true, &message), &message);
    reptile_compiler_free(&compiler);

    reptile_set *set = NULL;
    reptile_agents *agents = NULL;
    const char *name = "MyBot";
    check(reptile_set_read(argv[1], &set, &message), &message);
    check(reptile_agents_resolve(set, &name, 1, false, &agents, &message), &message);
    const char *urls[] = {"https://shop.example/cart", "https://gone.example/", "https://down.example/"};
    for (int i = 0; i < 3; i++) {
        reptile_explanation *why = NULL;
        check(reptile_explain(agents, 0, urls[i], strlen(urls[i]), &why, &message), &message);
        printf("%s %s (%s)\n", why->verdict == REPTILE_VERDICT_ALLOW ? "allow" : "not allowed", urls[i], why->reason);
        reptile_explanation_free(&why);
    }

    reptile_directives *sitemaps = NULL;
    check(reptile_set_sitemaps(set, urls[0], strlen(urls[0]), &sitemaps, &message), &message);
    for (size_t i = 0; i < sitemaps->len; i++) printf("sitemap %s\n", sitemaps->items[i].value);
    reptile_directives_free(&sitemaps);

    reptile_agents_free(&agents);
    reptile_set_free(&set);
    reptile_shutdown();
    return 0;
}
