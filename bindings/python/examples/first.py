"""Decides two URLs for GPTBot and prints the deciding rules: python first.py SET."""

import sys

import reptile

web = reptile.open(sys.argv[1])
urls = ["https://shop.example.com/cart?item=17", "https://shop.example.com/search/help"]
for url in urls:
    why = web.explain("GPTBot", url)
    print(why.verdict, why.rule, url)
print(web.decide_many(["GPTBot", "CCBot"], urls, "refused")["refused"])
