/* Decides two URLs for GPTBot and prints the deciding rules: first SET. */
#include <reptile.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *name = "GPTBot", *urls[] = {"https://shop.example.com/cart?item=17", "https://shop.example.com/search/help"};
    reptile_set *set;
    reptile_agents *agents;
    reptile_explanation *why;
    if (argc != 2 || reptile_set_read(argv[1], &set, NULL) || reptile_agents_resolve(set, &name, 1, false, &agents, NULL)) return 1;
    for (int i = 0; i < 2; i++) {
        if (reptile_explain(agents, 0, urls[i], strlen(urls[i]), &why, NULL)) return 1;
        printf("%s %s %s\n", why->verdict == REPTILE_VERDICT_ALLOW ? "allow" : "not allowed", why->rule, urls[i]);
        reptile_explanation_free(&why);
    }
    reptile_agents_free(&agents);
    reptile_set_free(&set);
}
