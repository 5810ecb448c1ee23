// An engine: robots-txt-parse and robots-txt-guard (https://www.npmjs.com/package/robots-txt-guard), a pair.
"use strict";

const { Readable } = require("node:stream");
const { packageOf, serve, versionOf } = require("./protocol.js");
const parse = packageOf("robots-txt-parse");
const guard = packageOf("robots-txt-guard");

/** Returns the path and query of a URL or path. */
function pathOf(url) {
  const { pathname, search } = new URL(url, "http://path.invalid");
  return pathname + search;
}

serve({
  name: "robots-txt-guard",
  dialect: "own",
  notes: ["Its parser reads a stream and returns a promise, so parsing includes a turn of the event loop."],
  version: () => `${versionOf("robots-txt-guard")} with robots-txt-parse ${versionOf("robots-txt-parse")}`,
  parse: async (text) => guard(await parse(Readable.from([text], { objectMode: false }))),
  decider: (robots, agent) => (url) => robots.isAllowed(agent, pathOf(url)),
});
