# A shop: no cart, no account, no endless lists, but everything that is for sale.
User-agent: *
Disallow: /cart
Disallow: /checkout/
Disallow: /account/
Disallow: /search
Allow: /search/help
Disallow: /*?sort=
Disallow: /*&page=
Allow: /*?sort=newest$
Crawl-delay: 2

User-agent: PriceBot
User-agent: CompareBot
Disallow: /

User-agent: Googlebot-Image
Allow: /images/products/
Disallow: /images/

Sitemap: https://shop.example.com/sitemap.xml
