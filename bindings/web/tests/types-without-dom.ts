// Uses the package without the types of browsers and Node.
import { Robots, load, loadSync } from "reptile-robots";

await load(new ArrayBuffer(8));
await load("https://example.com/reptile.wasm");
loadSync(new Uint8Array());
{
    using file = Robots.parse("user-agent: *");
    file.decide("GPTBot", "/").verdict satisfies string;
}
