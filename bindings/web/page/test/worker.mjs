// The page's side of the worker, with a worker that answers when the test says so: the newest answer wins, and a worker
// that is busy with an outdated question is terminated.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The workers in start order. */
const workers = [];

class FakeWorker {
    messages = [];
    isEnded = false;

    constructor() {
        workers.push(this);
    }

    postMessage(message) {
        this.messages.push(message);
        if (message.kind === "start") {
            setTimeout(() => this.onmessage({ data: { kind: "ready", catalog: {} } }));
        }
    }

    answer(fields) {
        const { id } = this.messages.findLast((message) => message.id !== undefined);
        this.onmessage({ data: { id, ...fields } });
    }

    terminate() {
        this.isEnded = true;
    }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function run({ root }) {
    const folder = mkdtempSync(join(tmpdir(), "reptile-page-"));
    globalThis.Worker = FakeWorker;
    try {
        cpSync(join(root, "bindings/web/page/src"), folder, { recursive: true });
        writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
        const { Engine } = await import(pathToFileURL(join(folder, "engine.js")).href);
        const { OUTDATED_MS } = await import(pathToFileURL(join(folder, "limits.js")).href);
        let idle = 0;
        const engine = new Engine({ script: "", wasm: "", onReady: () => {}, onFailure: assert.fail, onIdle: () => (idle += 1) });
        await pause(10);

        // The file is sent once, before the question.
        engine.setFile("first", "one");
        engine.setFile("second", "two");
        const simple = engine.ask("verdicts", 1);
        workers[0].answer({ answer: "a" });
        assert.equal(await simple, "a");
        engine.ask("lint", 2);
        assert.deepEqual(workers[0].messages.map(({ kind }) => kind), ["start", "file", "file", "verdicts", "lint"]);

        // An older question of the same kind, waiting or in the worker, gets no answer.
        const [old, older, newest] = [engine.ask("verdicts", 3), engine.ask("verdicts", 4), engine.ask("verdicts", 5)];
        workers[0].answer({ answer: "lint" });
        assert.equal(await old, undefined);
        assert.equal(await older, undefined);
        await pause(0);
        assert.equal(workers[0].messages.at(-1).question, 5);
        const next = engine.ask("verdicts", 6);
        workers[0].answer({ answer: "late" });
        assert.equal(await newest, undefined, "an outdated answer is dropped");
        await pause(0);
        workers[0].answer({ answer: "new" });
        assert.equal(await next, "new");

        // A question that follows from an answer goes before less urgent ones, which may take seconds.
        const verdicts = engine.ask("verdicts", 10);
        const lint = engine.ask("lint", 11);
        const explained = verdicts.then(() => engine.ask("explain", 12));
        workers[0].answer({ answer: "verdicts" });
        await pause(0);
        workers[0].answer({ answer: "explained" });
        assert.equal(await explained, "explained");
        await pause(0);
        workers[0].answer({ answer: "linted" });
        assert.equal(await lint, "linted");

        // A worker that stays busy with an outdated question is terminated, and the next worker gets the files again.
        const slow = engine.ask("verdicts", 7);
        engine.setFile("first", "three");
        const after = engine.ask("verdicts", 8);
        await pause(OUTDATED_MS / 2);
        assert.ok(!workers[0].isEnded);
        await pause(OUTDATED_MS / 2 + 100);
        assert.ok(workers[0].isEnded);
        assert.equal(await slow, undefined);
        await pause(10);
        assert.deepEqual(workers[1].messages.slice(1).map(({ kind, body }) => body ?? kind), ["three", "two", "verdicts"]);
        workers[1].answer({ answer: "again" });
        assert.equal(await after, "again");

        // An engine that stopped causes an error and a new worker.
        const failing = engine.ask("verdicts", 9);
        workers[1].answer({ error: { code: "stopped", message: "trap" } });
        await assert.rejects(failing, (error) => error.code === "stopped");
        assert.ok(workers[1].isEnded);
        assert.equal(engine.restarts, 2);
        await pause(20);
        assert.ok(idle > 0);
        return "questions, outdated answers, two restarts";
    } finally {
        delete globalThis.Worker;
        rmSync(folder, { recursive: true });
    }
}
