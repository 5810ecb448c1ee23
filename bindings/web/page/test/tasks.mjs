// Ten tasks of a site owner who does not know the protocol: how many clicks each takes, and how many words and special
// terms must be understood. Also, the answer lies on the first screen at every size and in every language.
import assert from "node:assert/strict";
import { fromMenu, openExample, settled } from "./browser.mjs";

const SHOP = `User-agent: *
Disallow: /cart
Disallow: /search

User-agent: GPTBot
Disallow: /images/
`;
/** Words that a site owner may not know. */
const TERMS = /\b(?:octets?|dialects?|tokens?|verdicts?|assertions?|vocabular(?:y|ies)|percent-encod\w*|user-agents?|groups?)\b/gi;
const SCREENS = [[390, 844], [768, 1024], [1440, 900]];
const LANGUAGES = ["en", "fa", "tr"];

/** A visitor who counts clicks and choices, and collects what is read. */
class Visitor {
    clicks = 0;
    texts = [];

    constructor(page) {
        this.page = page;
    }

    async paste(id, text) {
        await this.page.fill(id, text);
        await settled(this.page);
    }

    async click(selector) {
        this.clicks += 1;
        await this.page.click(selector);
        await settled(this.page);
    }

    async choose(selector, value) {
        this.clicks += 1;
        await this.page.selectOption(selector, value);
        await settled(this.page);
    }

    /** Types a crawler's name and presses Enter. */
    async crawler(name) {
        await this.page.fill("#crawler", name);
        await this.page.locator("#crawler").press("Enter");
        await settled(this.page);
    }

    async read(selector) {
        const text = (await this.page.textContent(selector)).trim();
        this.texts.push(text);
        return text;
    }
}

/** Each task with the most clicks it may take. It starts on an empty page, and asserts what the visitor learns. */
const TASKS = [
    ["Is my shop's cart closed to Google?", 0, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.paste("#urls", "https://shop.example.com/cart");
        assert.match(await visitor.read("#answer .headline"), /No, Googlebot may not fetch/);
    }],
    ["Why?", 0, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.paste("#urls", "https://shop.example.com/cart");
        assert.match(await visitor.read("#answer p:nth-child(2)"), /^line 2 Disallow: \/cart decides\.$/);
    }],
    ["Which of my URLs are closed to Bing?", 1, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.click("#chosen .remove");
        await visitor.crawler("bingbot");
        await visitor.paste("#urls", "/\n/cart\n/search?q=a\n/help");
        assert.match(await visitor.read("#summary"), /4 answers: 2 allowed, 2 disallowed/);
        assert.match(await visitor.read("#verdicts tbody"), /\/cart.*Disallowed.*\/search/s);
    }],
    ["What does this change close?", 1, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.click("#compare");
        await visitor.paste("#second", `${SHOP}\nUser-agent: Googlebot\nDisallow: /\n`);
        await visitor.paste("#urls", "/");
        assert.match(await visitor.read("#comparison"), /The second file closes \/ to Googlebot/);
    }],
    ["Block AI training, but not search.", 3, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.click("#findings-card > details summary");
        await visitor.choose("#recipe", "@ai-training");
        await visitor.click("#apply-recipe");
        await visitor.paste("#urls", "/");
        await visitor.crawler("GPTBot");
        assert.match(await visitor.read("#verdicts tbody"), /Allowed.*Disallowed/s);
    }],
    ["Find and mend my mistake.", 1, async (visitor) => {
        await visitor.paste("#robots", SHOP.replace("Disallow: /cart", "Disalow: /cart"));
        assert.match(await visitor.read('#findings li[data-finding="2"]:has(.fix) > p:nth-child(2)'), /The word before the colon is not written correctly/);
        assert.match(await visitor.read("#findings .fix"), /Disallow: \/cart/);
        await visitor.click("#findings [data-fix]");
        assert.equal(await visitor.page.inputValue("#robots"), SHOP);
    }],
    ["I forgot the slash.", 1, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.paste("#urls", "cart");
        assert.match(await visitor.read("#answer"), /Did you mean:.*\/cart/);
        await visitor.click("#answer button");
        assert.match(await visitor.read("#answer .headline"), /No, Googlebot may not fetch \/cart/);
    }],
    ["The example replaced my file. I want it back.", 1, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await openExample(visitor.page);
        await visitor.click("#undo");
        assert.equal(await visitor.page.inputValue("#robots"), SHOP);
    }],
    ["May this page be used for AI training?", 1, async (visitor) => {
        await visitor.paste("#robots", `${SHOP}Content-Usage: train-ai=n\n`);
        await visitor.paste("#urls", "/press");
        await visitor.crawler("GPTBot");
        await visitor.click('#verdicts button[data-agent="1"]');
        assert.match(await visitor.read("#usage tbody tr"), /train-ai.*Disallowed/);
    }],
    ["Show this to a colleague.", 2, async (visitor) => {
        await visitor.paste("#robots", SHOP);
        await visitor.paste("#urls", "/cart");
        visitor.clicks += 2;
        await fromMenu(visitor.page, "link");
        await visitor.page.waitForSelector("#message p");
        assert.match(await visitor.read("#message"), /contains the whole case/);
    }],
];

/** Returns where the answer ends on each screen in each language, in pixels from the top. */
async function screens(browser) {
    const ends = [];
    for (const language of LANGUAGES) {
        for (const [width, height] of SCREENS) {
            const page = await browser.open({ width, height, language });
            await openExample(page);
            const end = await page.$eval("#answer", (node) => Math.ceil(node.getBoundingClientRect().bottom));
            assert.ok(end <= height, `${language} ${width}: the answer ends at ${end} of ${height} px`);
            ends.push(`${language} ${width}x${height}: ${end}`);
            await page.context().close();
        }
    }
    return ends;
}

export async function run({ browser }) {
    for (const [name, most, work] of TASKS) {
        const page = await browser.open();
        const visitor = new Visitor(page);
        try {
            await work(visitor);
        } catch (error) {
            error.message = `${name} ${error.message}`;
            throw error;
        }
        const text = visitor.texts.join(" ");
        const terms = [...new Set((text.match(TERMS) ?? []).map((term) => term.toLowerCase()))];
        console.log(`    ${name} ${visitor.clicks} clicks, ${text.split(/\s+/).filter(Boolean).length} words, special terms: ${terms.join(", ") || "none"}`);
        assert.ok(visitor.clicks <= most, `${name}: ${visitor.clicks} clicks`);
        await page.context().close();
    }
    const ends = await screens(browser);
    return `${TASKS.length} tasks; the answer ends at ${ends.join(", ")} px`;
}
