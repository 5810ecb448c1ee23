// Decides URLs with Reptile or with robots-parser: beside.mjs CANDIDATE TASK URLS FOLDER SET DIALECT AGENT VERDICTS.
// CANDIDATE is `reptile`, `robots-parser` or `nothing`. `bindings/beside` describes the tasks. Prints the seconds of
// the wall clock and of all threads, and `/proc/self/status`.
import { readFileSync, writeFileSync } from "node:fs";

const [candidate, task, urlsPath, folder, setPath, dialect, agent, verdictsPath] = process.argv.slice(2);

/** Returns what is made from the robots.txt of a URL's site, as a function. The task `file` keeps only the last. */
function sites(make) {
    const made = new Map();
    return (url) => {
        const begin = url.indexOf("//") + 2;
        const end = url.indexOf("/", begin);
        const site = end < 0 ? url : url.slice(0, end);
        let found = made.get(site);
        if (found === undefined) {
            if (task === "file") {
                made.forEach((each) => each.free?.());
                made.clear();
            }
            found = make(readFileSync(`${folder}/${site.slice(begin)}`), site);
            made.set(site, found);
        }
        return found;
    };
}

const letter = (isAllowed) => (isAllowed === undefined ? "U" : isAllowed ? "A" : "D");

/** For each candidate, a function that prepares a function of a URL, which returns A, D, or another letter. */
const CANDIDATES = {
    nothing: () => () => "A",

    async reptile() {
        const { Robots, Set, load } = await import("reptile-robots");
        await load();
        const set = task === "set" ? new Set(readFileSync(setPath)) : null;
        const of = set === null ? sites((body) => Robots.parse(body, { dialect })) : () => set;
        const decide = (url) => of(url).decide(agent, url).verdict[0].toUpperCase();
        return Object.assign(decide, { free: () => set?.free() });
    },

    async "robots-parser"() {
        const { default: robotsParser } = await import("robots-parser");
        const of = sites((body, site) => robotsParser(`${site}/robots.txt`, body.toString()));
        return (url) => letter(of(url).isAllowed(url, agent));
    },
};

async function verdictsOf(urls) {
    const decide = await CANDIDATES[candidate]();
    let verdicts = "";
    for (const url of urls) {
        verdicts += decide(url);
    }
    decide.free?.();
    return verdicts;
}

const urls = readFileSync(urlsPath, "utf8").split("\n").slice(0, -1);
await verdictsOf(urls);
const cpu = process.cpuUsage();
const begin = performance.now();
const verdicts = await verdictsOf(urls);
const seconds = (performance.now() - begin) / 1000;
const { user, system } = process.cpuUsage(cpu);
writeFileSync(verdictsPath, verdicts);
console.log(`${seconds} ${(user + system) / 1e6}\n${readFileSync("/proc/self/status")}`);
