// Measures the time from opening to the first verdict, and the response to keystrokes in a large file with many URLs.
import assert from "node:assert/strict";
import { fromMenu, openExample, settled } from "./browser.mjs";

const FILE_BYTES = 500 << 10;
const URLS = 1000;
/** Milliseconds between two keystrokes. */
const KEY_PAUSE_MS = 60;
/** Goal for the page's own work per keystroke, in milliseconds: one frame. */
const GOAL_MS = 16;
/** Milliseconds over which the test fails, on a machine that also runs other programs. */
const MAX_TASK_MS = 33;

function largeFile() {
    const lines = ["User-agent: *"];
    for (let size = lines[0].length, number = 0; ; number += 1) {
        const line = `${number % 5 === 0 ? "Allow" : "Disallow"}: /section-${number}/*/page`;
        size += line.length + 1;
        if (size > FILE_BYTES) {
            return `${lines.join("\n")}\n`;
        }
        lines.push(line);
    }
}

/** Returns the milliseconds from the start of the navigation to the first verdict of a link's case. */
async function firstVerdict(browser) {
    const page = await browser.open();
    await openExample(page);
    await fromMenu(page, "link");
    await page.waitForSelector("#message p.good");
    const fragment = new URL(page.url()).hash.slice(1);
    await page.context().close();
    const times = [];
    for (let round = 0; round < 5; round += 1) {
        const other = await browser.open({ fragment, isReady: false });
        times.push(await other.evaluate(() => new Promise((resolve) => {
            const look = () => {
                if (document.querySelector("#verdicts td button")) {
                    resolve(performance.now());
                } else {
                    requestAnimationFrame(look);
                }
            };
            look();
        })));
        await other.context().close();
    }
    return times.sort((one, two) => one - two)[2];
}

/** Records each key's time in handlers and until the next frame, and long tasks. Runs in the page. */
function record() {
    globalThis.keys = [];
    globalThis.longTasks = [];
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => globalThis.longTasks.push(duration))).observe({ entryTypes: ["longtask"] });
    const area = document.getElementById("robots");
    // From the browser's change of the text to the end of the page's own work in handlers and in the next frame.
    let start = 0;
    area.addEventListener("beforeinput", () => (start = performance.now()), { capture: true });
    document.addEventListener("input", (event) => event.target === area && globalThis.keys.push(performance.now() - start));
}

async function typing(browser) {
    const page = await browser.open();
    await openExample(page);
    await page.evaluate((text) => {
        const area = document.getElementById("robots");
        area.select();
        const transfer = new DataTransfer();
        transfer.setData("text/plain", text);
        area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
    }, largeFile());
    await page.fill("#urls", Array.from({ length: URLS }, (_, number) => `https://shop.example.com/section-${number * 7}/a/page?x=${number}`).join("\n"));
    await settled(page);
    await page.evaluate(record);
    await page.focus("#robots");
    await page.evaluate(() => document.getElementById("robots").setSelectionRange(14, 14));
    const client = await page.context().newCDPSession(page);
    await client.send("Profiler.enable");
    await client.send("Profiler.setSamplingInterval", { interval: 500 });
    await client.send("Profiler.start");
    const text = "Disallow: /section-7/a/page?x=1\n";
    for (const key of text) {
        await page.keyboard.press(key === "\n" ? "Enter" : key);
        await page.waitForTimeout(KEY_PAUSE_MS);
    }
    const { profile } = await client.send("Profiler.stop");
    await settled(page);
    const own = longestRun(profile);
    const { keys, longTasks } = await page.evaluate(() => ({ keys: globalThis.keys, longTasks: globalThis.longTasks }));
    // The newest result is shown: the second URL is decided by the rule that was just typed.
    const cell = await page.$eval('#verdicts button[data-url="1"][data-agent="0"]', ({ dataset }) => `${dataset.verdict} ${dataset.line}`);
    assert.equal(cell, "disallow 2");
    assert.equal(keys.length, text.length);
    await page.context().close();
    return { own, key: Math.max(...keys), long: Math.max(0, ...longTasks), count: longTasks.length };
}

/** Returns the longest uninterrupted run of the page's script in the profile, in milliseconds. */
function longestRun({ nodes, samples, timeDeltas }) {
    const isIdle = new Set(nodes.filter(({ callFrame }) => ["(idle)", "(program)", "(root)"].includes(callFrame.functionName)).map(({ id }) => id));
    let [run, longest] = [0, 0];
    samples.forEach((sample, at) => {
        run = isIdle.has(sample) ? 0 : run + timeDeltas[at] / 1000;
        longest = Math.max(longest, run);
    });
    return longest;
}

export async function run({ browser }) {
    const first = await firstVerdict(browser);
    const { own, key, long, count } = await typing(browser);
    assert.ok(own < MAX_TASK_MS, `the page's own work takes ${own.toFixed(1)} ms`);
    return `first verdict ${first.toFixed(0)} ms after opening; ${FILE_BYTES >> 10} KiB and ${URLS} URLs: the page's longest run of script ${own.toFixed(1)} ms (goal ${GOAL_MS}), `
        + `the browser's longest change of the text ${key.toFixed(1)} ms, ${count} tasks over 50 ms, the longest ${long.toFixed(0)} ms`;
}
