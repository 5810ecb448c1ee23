// Ready rules: lines that close a site to a kind of crawler, such as those that collect text to train models.

/**
 * Returns the lines that close a whole site to the members of a group of crawlers. Members that obey no robots.txt are
 * left out. `crawlers` are the known ones.
 */
export function closingLines(group, crawlers) {
    const known = new Map(crawlers.map((crawler) => [crawler.name, crawler]));
    const tokens = group.crawlers.flatMap((name) => known.get(name)?.tokens.slice(0, 1) ?? []);
    const lines = [...new Set(tokens)].map((name) => `User-agent: ${name}`);
    return [...lines, "Disallow: /", ""].join("\n");
}

/** Returns a text with lines appended after an empty line. */
export function appended(text, lines) {
    const body = text.trimEnd();
    return body === "" ? lines : `${body}\n\n${lines}`;
}
