// An engine: robots-txt-parser (https://www.npmjs.com/package/robots-txt-parser).
"use strict";

const { packageOf, serve, versionOf } = require("./protocol.js");
const robotsTxtParser = packageOf("robots-txt-parser");

serve({
  name: "robots-txt-parser",
  dialect: "own",
  version: () => versionOf("robots-txt-parser"),
  // It keeps files by their origin; here each has an object of its own, so that the origin is always the active one.
  parse: (text, origin) => {
    const robots = robotsTxtParser({});
    robots.parseRobots(origin, text);
    return robots;
  },
  // The crawler is a setting of the object.
  decider: (robots, agent) => (url) => {
    robots.setUserAgent(agent);
    return robots.canCrawlSync(url);
  },
});
