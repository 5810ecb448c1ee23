// Tests each panel with known answers.
import assert from "node:assert/strict";
import { openExample, runParts, settled, unfold } from "./browser.mjs";

const text = (page, selector) => page.textContent(selector);

async function reasons(page) {
    assert.match(await text(page, "#answer"), /✕ No, Googlebot may not fetch https:\/\/shop\.example\.com\/cart\?item=17\.line 3 Disallow: \/cart decides\..*rules for everyone count: line 2/s);
    await unfold(page, "reason-details");
    assert.match(await text(page, "#reason"), /No group names this crawler.*line 2.*Best Disallow.*line 3.*Disallow: \/cart.*5 octets.*decides/s);
    assert.equal(await text(page, ".margin .disallow span"), "3");
    assert.equal(await text(page, ".margin .group span"), "2");
    await page.click('#verdicts button[data-url="1"][data-agent="0"]');
    await settled(page);
    assert.match(await text(page, "#answer"), /✓ Yes, Googlebot may fetch .*line 5 Allow: \/search\/help decides\. Its path is longer than that of line 4 Disallow: \/search/s);
    assert.match(await text(page, "#reason"), /12 octets against 7.*Best Allow.*line 5.*decides.*Best Disallow.*line 4/s);
    // GPTBot's own group does not close /cart, which * closes.
    await page.click('#verdicts button[data-url="0"][data-agent="2"]');
    await settled(page);
    assert.match(await text(page, "#answer"), /✓ Yes, GPTBot may fetch .*No rule for it matches.*rules of its own, so the rules for \* do not count for it: line 10/s);
    await page.click('#verdicts button[data-url="1"][data-agent="0"]');
    await settled(page);
    assert.equal(await text(page, ".margin .allow span"), "5");
    assert.equal(await text(page, ".margin .other span"), "4");
    await unfold(page, "dialects-details");
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
    await page.click("#usage-card summary");
    await page.selectOption("#usage-lines", "signals");
    await settled(page);
    assert.match((await preference()).join("\n"), /train-ai.*Disallowed.*line 2[^]*search.*Allowed.*line 2/);
}

/** A text that is not a URL has no verdict, and the page asks which URL or path is meant. */
async function texts(page) {
    const meant = async (url) => {
        await page.fill("#urls", url);
        await settled(page);
        assert.match(await text(page, "#answer"), /neither a URL nor a path/);
        return page.$$eval("#answer button", (buttons) => buttons.map((button) => button.textContent));
    };
    assert.deepEqual(await meant("http:/x"), []);
    assert.deepEqual(await meant("private/notes"), ["/private/notes"]);
    assert.deepEqual(await meant("shop.example.com/cart"), ["https://shop.example.com/cart", "/shop.example.com/cart"]);
    await page.click("#answer button");
    await settled(page);
    assert.equal(await page.inputValue("#urls"), "https://shop.example.com/cart");
    assert.match(await text(page, "#answer"), /^✕ No, Googlebot may not/);
}

async function fixes(page) {
    await page.fill("#robots", "User-agent: *\nDisalow: /cart\nAlow: /\n");
    await settled(page);
    const before = await page.$$eval("#findings li", (items) => items.length);
    assert.ok(before >= 2, `${before} findings`);
    // Google reads both spellings, so the fix is proved to change nothing for it.
    assert.match((await page.$$eval('#findings li[data-finding="2"]', (items) => items.map((item) => item.textContent))).join("\n"), /Disalow: \/cart.*→ Disallow: \/cart/s);
    await page.click('#findings button[data-fix="2"]');
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\nAlow: /\n");
    await page.fill("#robots", "User-agent: *\nDisallow: /cart\nDisallow: /cart\nDisallow: /x\nDisallow: /x/\n");
    await settled(page);
    await page.click("#fix-all");
    await settled(page);
    assert.equal(await page.inputValue("#robots"), "User-agent: *\nDisallow: /cart\nDisallow: /x\n");
}

/** A file with bytes that are not text is not fixed, because the fixed text would have other bytes. */
async function bytes(page) {
    const body = Buffer.from("User-agent: *\nDisallow: /\xff\nDisallow: /a\nDisallow: /a\n", "latin1");
    const offers = async () => [await page.locator("#findings [data-fix]").count() > 0, await page.isVisible("#fix-all")];
    await page.setInputFiles("#file", { name: "robots.txt", mimeType: "text/plain", buffer: body });
    await page.waitForSelector("#robots-notice:not([hidden])");
    await settled(page);
    assert.ok(await page.locator("#findings li").count() > 0);
    assert.deepEqual(await offers(), [false, false]);
    await page.click("#robots-notice button");
    await page.waitForSelector("#robots-notice", { state: "hidden" });
    await settled(page);
    assert.deepEqual(await offers(), [true, true]);
}

/** A fix that changes verdicts says what it opens and closes, by a shortest URL. */
async function effects(page) {
    const effect = () => page.$$eval("#findings .effect", (parts) => parts.map((part) => part.textContent));
    await page.fill("#robots", "User-agent: *\nDisallow: cart\n");
    await settled(page);
    assert.deepEqual(await effect(), ["✕ Disallowed closes /cart for Googlebot"]);
    await page.fill("#robots", "User-agent: *\nDisallow: /\nAllow: shop\n");
    await settled(page);
    assert.ok((await effect()).includes("✓ Allowed opens /shop for Googlebot"), await effect());
    await page.fill("#robots", "User-agent: *\nDisallow: /x\nDisallow: /x\n");
    await settled(page);
    assert.deepEqual(await effect(), ["✓ changes no answer, for any crawler and URL"]);
}

/** The rules for a kind of crawler are added after the file's text. */
async function recipe(page) {
    await page.fill("#robots", "User-agent: *\nDisallow: /cart");
    await page.fill("#urls", "/");
    await page.click("#findings-card > details summary");
    await page.selectOption("#recipe", "@ai-training");
    await page.click("#apply-recipe");
    await settled(page);
    const body = await page.inputValue("#robots");
    assert.match(body, /^User-agent: \*\nDisallow: \/cart\n\n(User-agent: [\w.-]+\n)+Disallow: \/\n$/);
    assert.ok(body.includes("\nUser-agent: GPTBot\n"));
    const verdicts = await page.$$eval("#verdicts td button", (cells) => cells.map(({ dataset }) => dataset.verdict));
    assert.deepEqual(verdicts, ["allow", "allow", "disallow"]);
}

/** Findings that are off by default are shown and hidden by one button. */
async function withheld(page) {
    await page.fill("#robots", "User-agent: *\nDisallow: /shop\n\nUser-agent: GPTBot\nAllow: /\n");
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
    assert.match(await text(page, "#comparison"), /Nothing changes.*Proved for every URL/s);
    assert.match(await text(page, "#aligned"), /All lines are equal/);
    await page.fill("#second", "User-agent: *\nDisallow: /cart\nDisallow: /x\n");
    await settled(page);
    assert.equal(await page.getAttribute("#comparison li[data-relation]", "data-relation"), "wider");
    assert.match(await text(page, "#comparison"), /The second file closes \/x to Googlebot\..*– before, line 3 after/s);
    const rows = await page.$$eval(".aligned li", (items) => items.map((item) => `${item.className}: ${item.textContent}`));
    assert.deepEqual(rows, ["same: 1User-agent: *1User-agent: *", "same: 2Disallow: /cart2Disallow: /cart", "added: +3Disallow: /x", "same: 34"]);
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
    await unfold(page, "assertions-details");
    await page.uncheck("#allow-default");
    await page.fill("#assertions", "disallow * /cart*\nGPTBot <= *\nallow CCBot /\n");
    await settled(page);
    assert.deepEqual(await proofs(), ["holds", "counterexample", "no-group"]);
    assert.match(await text(page, "#outcomes"), /Counterexample: \/cart.*No group names CCBot/s);
    assert.equal(await text(page, "#assertions-count"), "1 of 3 assertions proved");
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
    const names = await runParts(page, [reasons, usage, texts, fixes, bytes, effects, recipe, withheld, comparison, assertions, crawlers, markup]);
    await page.context().close();
    return names;
}
