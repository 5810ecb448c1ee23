// The case at the start, and the example.

/** A case that fills every panel. */
export const EXAMPLE = {
    robots: `# An invented shop
User-agent: *
Disallow: /cart
Disallow: /search
Allow: /search/help
Crawl-delay: 10
Content-Usage: train-ai=n
Content-Usage: /press/ train-ai=y

User-agent: GPTBot
Disallow: /images/
Disalow: /account

Sitemap: https://shop.example.com/sitemap.xml
`,
    second: null,
    urls: `https://shop.example.com/cart?item=17
https://shop.example.com/search/help
https://shop.example.com/
https://shop.example.com/images/logo.png
https://shop.example.com/account
`,
    crawlers: ["Googlebot", "bingbot", "GPTBot"],
    exact: false,
    dialect: "google",
    host: "shop.example.com",
    vocabulary: "aipref-08",
    usageLines: "usage",
    assertions: `disallow * /cart*
GPTBot <= *
`,
    allowDefault: true,
};

/** An empty case. */
export const START = {
    ...EXAMPLE, robots: "", urls: "", crawlers: ["Googlebot"], host: "", assertions: "", allowDefault: false,
};
