// An engine: robots-parser (https://www.npmjs.com/package/robots-parser), which Crawlee and others use.
"use strict";

const { packageOf, serve, versionOf } = require("./protocol.js");
const robotsParser = packageOf("robots-parser");

serve({
  name: "robots-parser",
  dialect: "rfc9309",
  version: () => versionOf("robots-parser"),
  parse: (text, origin) => robotsParser(`${origin}/robots.txt`, text),
  // Undefined if the URL has another origin.
  decider: (robots, agent) => (url) => robots.isAllowed(url, agent),
  // Maps its -1 for no rule to the protocol's 0.
  line: (robots, agent, url) => Math.max(0, robots.getMatchingLineNumber(url, agent)),
});
