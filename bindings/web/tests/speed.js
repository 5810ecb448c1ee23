// Measures the time to the first verdict and the time per verdict. Slow verdicts are not an error.
import { execFileSync } from "node:child_process";
import { Robots } from "reptile-robots";

const FIRST = `
    const start = performance.now();
    const { load, Robots } = await import("reptile-robots");
    await load();
    Robots.parse("user-agent: *\\ndisallow: /a").decide("GPTBot", "/a");
    console.log((performance.now() - start).toFixed(1));
`;

export default function speed() {
    const firsts = Array.from({ length: 5 }, () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", FIRST], { encoding: "utf8" })));
    const rules = Array.from({ length: 50 }, (_, index) => `disallow: /part${index}/`).join("\n");
    const robots = Robots.parse(`user-agent: *\n${rules}\n`);
    const urls = Array.from({ length: 1000 }, (_, index) => `https://example.com/part${index % 70}/page-${index}.html`);
    const agents = ["GPTBot", "CCBot", "Googlebot", "Bingbot"];
    const best = (count, work) => {
        let least = Infinity;
        for (let round = 0; round < 10; round += 1) {
            const start = performance.now();
            work();
            least = Math.min(least, ((performance.now() - start) * 1e6) / count);
        }
        return Math.round(least);
    };
    const single = best(urls.length * 10, () => {
        for (let round = 0; round < 10; round += 1) {
            urls.forEach((url) => robots.decide("GPTBot", url));
        }
    });
    const pairs = urls.length * agents.length;
    const lines = best(pairs, () => robots.decideAll(agents, urls));
    const verdicts = best(pairs, () => robots.decideAll(agents, urls, { lines: false }));
    console.log(`first verdict: ${Math.min(...firsts)} ms; decide: ${single} ns; decideAll: ${lines} ns a pair, ${verdicts} ns without lines`);
}
