// Tests each panel with known answers.
import assert from "node:assert/strict";
import { openExample, settled } from "./browser.mjs";

const text = (page, selector) => page.textContent(selector);

async function reasons(page) {
    // GPTBot's own group does not close /cart, which * closes.
    await page.click('#verdicts button[data-url="0"][data-agent="0"]');
    await settled(page);
    assert.match(await text(page, "#reason"), /Disallowed.*No group names this crawler.*line 2.*Best Disallow.*line 3.*Disallow: \/cart.*5 octets.*decides/s);
    assert.equal(await text(page, ".margin .disallow span"), "3");
    assert.equal(await text(page, ".margin .group span"), "2");
    await page.click('#verdicts button[data-url="1"][data-agent="0"]');
    await settled(page);
    assert.match(await text(page, "#reason"), /Allowed.*The deciding rule is longer: 12 octets against 7.*Best Allow.*line 5.*decides.*Best Disallow.*line 4/s);
    assert.equal(await text(page, ".margin .allow span"), "5");
    assert.equal(await text(page, ".margin .other span"), "4");
    assert.match(await text(page, "#dialects"), /koster-1994.*Disallowed.*differs/s);
    await page.click('#reason button[data-line="5"]');
    const selected = await page.$eval("#robots", (area) => area.value.slice(area.selectionStart, area.selectionEnd));
    assert.equal(selected, "Allow: /search/help");
}

async function usage(page) {
    const preference = () => page.$$eval("#usage tbody tr", (rows) => rows.map((row) => row.textContent.trim()));
    assert.match((await preference())[0], /train-ai.*Disallowed.*line 7/);
    await page.fill("#urls", "/press/a");
    await settled(page);
    assert.match((await preference())[0], /train-ai.*Allowed.*line 8/);
    await page.fill("#robots", "User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /cart\n");
    await page.selectOption("#usage-lines", "signals");
    await settled(page);
    assert.match((await preference()).join("\n"), /train-ai.*Disallowed.*line 2[^]*search.*Allowed.*line 2/);
}

/** A text that is not a URL has no verdict, and the page asks for the path that may be meant. */
async function texts(page) {
    for (const [url, asked] of [["private/notes", /Not a URL.*Did you mean \/private\/notes\?/s], ["http:/x", /Not a URL.*neither a URL nor a path\.$/m]]) {
        await page.fill("#urls", url);
        await settled(page);
        await page.click('#verdicts button[data-url="0"][data-agent="0"]');
        await settled(page);
        assert.match(await text(page, "#reason"), asked);
    }
}

async function fixes(page) {
    await page.fill("#robots", "User-agent: *\nDisalow: /cart\nAlow: /\n");
    await settled(page);
    const before = await page.$$eval("#findings li", (items) => items.length);
    assert.ok(before >= 2, `${before} findings`);
    await page.click('#findings button[data-fix="2"]');
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\nAlow: /\n");
    await page.fill("#robots", "User-agent: *\nDisalow: /cart\nUser agent: b\nDissallow: /x\n");
    await settled(page);
    await page.click("#fix-all");
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\nUser-agent: b\nDisallow: /x\n");
}

/** Findings that are off by default are shown and hidden by one button. */
async function withheld(page) {
    await page.fill("#robots", "User-agent: *\nDisallow: /admin\n\nUser-agent: GPTBot\nAllow: /\n");
    await settled(page);
    assert.equal(await page.locator("#findings li").count(), 0);
    for (const count of [1, 0]) {
        await page.click("#all-findings");
        await settled(page);
        assert.equal(await page.locator("#findings li").count(), count);
    }
}

async function comparison(page) {
    await page.fill("#robots", "User-agent: *\nDisallow: /cart\n");
    await page.click("#compare");
    await settled(page);
    assert.match(await text(page, "#comparison"), /Both files permit the same URLs\..*Proved for every URL/s);
    await page.fill("#second", "User-agent: *\nDisallow: /cart\nDisallow: /x\n");
    await settled(page);
    assert.equal(await page.getAttribute("#comparison li[data-relation]", "data-relation"), "wider");
    assert.match(await text(page, "#comparison"), /\/x.*First file.*Allowed.*Second file.*Disallowed.*line 3/s);
    await page.fill("#second", "User-agent: *\nDisallow: /x\n");
    await settled(page);
    assert.equal(await page.getAttribute("#comparison li[data-relation]", "data-relation"), "different");
    assert.equal(await page.locator("#comparison li li").count(), 2 * await page.locator("#comparison li[data-relation]").count());
    await page.click("#compare");
    assert.ok(await page.isHidden("#second-card"));
}

async function assertions(page) {
    const proofs = () => page.$$eval("#outcomes li[data-proof]", (items) => items.map((item) => item.dataset.proof));
    await page.fill("#robots", "User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /images\n");
    await page.uncheck("#allow-default");
    await page.fill("#assertions", "disallow * /cart*\nGPTBot <= *\nallow CCBot /\n");
    await settled(page);
    assert.deepEqual(await proofs(), ["holds", "counterexample", "no-group"]);
    assert.match(await text(page, "#outcomes"), /1 of 3 assertions proved.*Counterexample: \/cart.*No group names CCBot/s);
    await page.check("#allow-default");
    await page.fill("#assertions", "disallow * /cart*\n\nallow CCBot /$\nnonsense\n");
    await settled(page);
    assert.match(await text(page, "#outcomes"), /Line 4:/);
    await page.fill("#assertions", "");
    await settled(page);
    assert.deepEqual(await proofs(), []);
}

async function crawlers(page) {
    await page.fill("#crawler", "ai-train");
    await page.waitForSelector("#crawler-options li");
    assert.match(await text(page, "#crawler-options li"), /^@ai-training .*crawlers$/);
    await page.click("#crawler-options li");
    await settled(page);
    assert.ok(await page.locator("#verdicts thead th").count() > 5, "a group is replaced by its members");
    // A name that nearly matches a known crawler's is refused with a suggestion, and decides nothing.
    await page.fill("#crawler", "Googelbot");
    await page.locator("#crawler").press("Enter");
    await settled(page);
    assert.match(await text(page, "#crawler-faults"), /Googelbot is not a known crawler. Did you mean Googlebot\?/);
    assert.equal(await page.locator("#verdicts thead th", { hasText: "Googelbot" }).count(), 0);
}

/** Text from a file or a link is never read as HTML. */
async function markup(page) {
    const attack = '<img src=x onerror="document.title=1"><b>x</b>';
    await page.fill("#robots", `User-agent: *\nDisallow: /${attack}\n${attack}\n`);
    await page.fill("#urls", `/${attack}`);
    await page.fill("#crawler", attack);
    await page.locator("#crawler").press("Enter");
    await page.fill("#assertions", attack);
    await settled(page);
    assert.equal(await page.title(), "Reptile: robots.txt tester");
    assert.equal(await page.locator("main img").count(), 0);
    assert.equal(await page.locator("#verdicts tbody th").first().textContent(), `/${attack}`);
}

export async function run({ browser }) {
    const page = await browser.open();
    await openExample(page);
    const parts = [reasons, usage, texts, fixes, withheld, comparison, assertions, crawlers, markup];
    for (const part of parts) {
        try {
            await part(page);
        } catch (error) {
            error.message = `${part.name}: ${error.message}`;
            throw error;
        }
    }
    await page.context().close();
    return parts.map(({ name }) => name).join(", ");
}
