// An engine: robots-txt-parser (https://www.npmjs.com/package/robots-txt-parser).
"use strict";

const { packageOf, serve, versionOf } = require("./protocol.js");
const robotsTxtParser = packageOf("robots-txt-parser");

serve({
  name: "robots-txt-parser",
  dialect: "own",
  version: () => versionOf("robots-txt-parser"),
  // It stores files by origin. A separate object for each file keeps its origin active.
  parse: (text, origin) => {
    const robots = robotsTxtParser({});
    robots.parseRobots(origin, text);
    return robots;
  },
  // The crawler is a setting on the object.
  decider: (robots, agent) => (url) => {
    robots.setUserAgent(agent);
    return robots.canCrawlSync(url);
  },
});
