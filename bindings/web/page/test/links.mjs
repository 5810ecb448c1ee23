// A case that is opened from a link or a file equals the saved case, and anything else is refused.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fromMenu, openExample, readTable, settled, unfold } from "./browser.mjs";

/** The limit in `src/limits.js`. */
const MAX_LINK_CHARS = 32_000;

/** Returns everything that a case contains, as the page shows it. */
function readCase(page) {
    return page.evaluate(() => {
        const byId = (id) => document.getElementById(id);
        return {
            ...Object.fromEntries(["robots", "urls", "dialect", "host", "vocabulary", "usage-lines", "assertions"].map((id) => [id, byId(id).value])),
            ...Object.fromEntries(["exact", "allow-default"].map((id) => [id, byId(id).checked])),
            second: byId("second-card").hidden ? null : byId("second").value,
            crawlers: [...byId("chosen").querySelectorAll("code")].map((code) => code.textContent),
        };
    });
}

async function fragmentOf(page) {
    await fromMenu(page, "link");
    await page.waitForSelector("#message p.good");
    return new URL(page.url()).hash.slice(1);
}

async function assertRefused(browser, fragment, words) {
    const page = await browser.open({ fragment });
    await page.waitForSelector("#message p.fault");
    assert.match(await page.textContent("#message"), words);
    const shown = await readCase(page);
    assert.deepEqual([shown.robots, shown.urls, shown.crawlers], ["", "", ["Googlebot"]], `a damaged link opened a case: ${fragment.slice(0, 60)}`);
    await page.context().close();
}

async function links(browser) {
    const page = await browser.open();
    await openExample(page);
    await page.click("#compare");
    await page.fill("#second", "User-agent: *\nDisallow: /sch\u00f6n \u{1F98E}\n");
    await page.selectOption("#dialect", "bing");
    await page.click("#usage-card summary");
    await page.selectOption("#usage-lines", "both");
    await unfold(page, "reading-details");
    await page.check("#exact");
    await settled(page);
    const sent = await readCase(page);
    const verdicts = await readTable(page);
    const fragment = await fragmentOf(page);
    assert.ok(fragment.length < 1500, `${fragment.length} characters`);
    // A change of the inputs removes the link that no longer describes them.
    await page.fill("#urls", "/other");
    await settled(page);
    assert.equal(new URL(page.url()).hash, "");
    await page.context().close();

    const other = await browser.open({ fragment });
    await other.waitForSelector("#verdicts td button");
    await settled(other);
    assert.deepEqual(await readCase(other), sent);
    assert.deepEqual(await readTable(other), verdicts);
    await other.context().close();

    const [version, packing, sum, data] = fragment.split(".");
    const middle = data.length >> 1;
    const changed = data.slice(0, middle) + (data[middle] === "A" ? "B" : "A") + data.slice(middle + 1);
    const damaged = [
        `${version}.${packing}.${sum}.${changed}`,
        `${version}.${packing}.${sum}.${data.slice(0, -7)}`,
        `${version}.${packing}.${sum}.`,
        `${version}.${packing}.00000000.${data}`,
        `${version}.r.${sum}.${data}`,
        `${version}.x.${sum}.${data}`,
        "nonsense",
        "%FF%00",
    ];
    for (const one of damaged) {
        await assertRefused(browser, one, /damaged or incomplete/);
    }
    await assertRefused(browser, `2.${packing}.${sum}.${data}`, /another version/);
    await assertRefused(browser, `1.d.${sum}.${"A".repeat(MAX_LINK_CHARS)}`, /longer than 32,000 characters/);
    return damaged.length + 2;
}

/** Returns text that does not compress. */
function noise(length) {
    let state = 1;
    return Array.from({ length }, () => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return "abcdefghijklmnopqrstuvwxyz0123456789"[(state >>> 16) % 36];
    }).join("");
}

async function files(browser) {
    const page = await browser.open();
    await openExample(page);
    await page.fill("#robots", `User-agent: *\nDisallow: /x\n# ${noise(60_000)}\n`);
    await settled(page);
    await fromMenu(page, "link");
    await page.waitForSelector("#message p.fault");
    assert.match(await page.textContent("#message"), /too long for a link of 32,000 characters/);
    assert.equal(new URL(page.url()).hash, "");
    const [download] = await Promise.all([page.waitForEvent("download"), fromMenu(page, "save")]);
    const saved = readFileSync(await download.path());
    const sent = await readCase(page);
    await page.context().close();

    const other = await browser.open();
    await other.setInputFiles("#file", { name: "case.reptile.json", mimeType: "application/json", buffer: saved });
    await other.waitForSelector("#verdicts td button");
    await settled(other);
    assert.deepEqual(await readCase(other), sent);
    // The file is dropped instead of chosen, on an empty page.
    await fromMenu(other, "clear");
    await settled(other);
    assert.equal((await readCase(other)).robots, "");
    await other.evaluate((text) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([text], "case.reptile.json"));
        document.getElementById("robots-card").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, saved.toString());
    await other.waitForSelector("#verdicts td button");
    await settled(other);
    assert.deepEqual(await readCase(other), sent);
    // A name in a message does not change the direction of the text around it.
    await other.setInputFiles("#file", { name: "case.reptile.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ ...JSON.parse(saved), dialect: "\u202ex" })) });
    await other.waitForSelector("#message bdi");
    assert.equal(await other.textContent("#message bdi"), "\u202ex");
    await settled(other);
    assert.deepEqual(await readCase(other), sent);
    // Damaged, and of another version.
    const damaged = [
        [saved.toString().slice(0, -9), /damaged/],
        [saved.toString().replace('"reptile-case": 1', '"reptile-case": 9'), /another version/],
        [JSON.stringify({ ...JSON.parse(saved), second: { name: "robots.txt", base64: "!" } }), /damaged/],
    ];
    for (const [text, words] of damaged) {
        await other.setInputFiles("#file", { name: "case.reptile.json", mimeType: "application/json", buffer: Buffer.from(text) });
        await other.waitForFunction((source) => new RegExp(source).test(document.getElementById("message").textContent), words.source);
        assert.deepEqual(await readCase(other), sent);
    }
    await other.context().close();
    return saved.length;
}

/** A link is at most `MAX_LINK_CHARS` long: the longest that fits is made and opened, and one more byte is refused. */
async function bounds(browser) {
    const page = await browser.open();
    const random = noise(60_000);
    const lengthOf = async (count) => {
        await page.evaluate((text) => {
            document.getElementById("robots").value = text;
            document.getElementById("robots").dispatchEvent(new InputEvent("input"));
            document.getElementById("message").replaceChildren();
        }, random.slice(0, count));
        await settled(page);
        await fromMenu(page, "link");
        await page.waitForSelector("#message p");
        return new URL(page.url()).hash.length - 1;
    };
    let [low, high] = [20_000, 60_000];
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        const length = await lengthOf(middle);
        [low, high] = length > 0 ? [middle, high] : [low, middle];
    }
    const longest = await lengthOf(low);
    assert.ok(longest <= MAX_LINK_CHARS && longest > MAX_LINK_CHARS - 8, `${longest}`);
    const fragment = new URL(page.url()).hash.slice(1);
    await page.context().close();
    const other = await browser.open({ fragment });
    await other.waitForFunction(() => document.getElementById("robots").value !== "");
    assert.equal((await readCase(other)).robots, random.slice(0, low));
    await other.context().close();
    return longest;
}

export async function run({ browser }) {
    const refused = await links(browser);
    const size = await files(browser);
    const longest = await bounds(browser);
    return `one round trip, ${refused} damaged links refused, a file of ${size} bytes opened and dropped, the longest link has ${longest} characters`;
}
