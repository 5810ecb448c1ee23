// The page's side of the worker: sends the newest questions, and drops outdated answers.
import { MAX_ANSWER_MS, OUTDATED_MS } from "./limits.js";

/** The kinds of questions, the most urgent first. */
const ORDER = ["verdicts", "excerpt", "fix", "explain", "usage", "compare", "align", "lint", "effects", "prove", "dialects"];

/** An error of the engine. `code` is one of the package's, or `slow`. */
export class EngineError extends Error {
    constructor({ code, message, suggestion }) {
        super(message);
        this.code = code;
        this.suggestion = suggestion;
    }
}

/** The engine in a worker. It answers one question at a time, and at most one of each kind waits. */
export class Engine {
    #url;
    #wasm;
    #worker = null;
    #isReady = false;
    #waiting = new Map();
    #current = null;
    #number = 0;
    #files = { first: null, second: null };
    #sent = { first: null, second: null };
    #onReady;
    #onFailure;
    #onIdle;
    /** The number of workers that failed, or were terminated because they took too long. */
    restarts = 0;

    constructor({ script, wasm, onReady, onFailure, onIdle }) {
        this.#url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        this.#wasm = wasm;
        this.#onReady = onReady;
        this.#onFailure = onFailure;
        this.#onIdle = onIdle;
        this.#start();
    }

    /** Replaces a pane's file: a text or a Blob. It is sent before the next question. */
    setFile(pane, body) {
        if (this.#files[pane]?.body !== body) {
            this.#files[pane] = { body };
            this.#outdate();
        }
    }

    /**
     * Asks a question. Resolves to `undefined` if a newer question of this kind, or `cancel`, replaced it.
     * Rejects with an {@link EngineError}.
     */
    ask(kind, question) {
        this.cancel(kind);
        return new Promise((resolve, reject) => {
            this.#waiting.set(kind, { id: (this.#number += 1), kind, question, resolve, reject });
            this.#send();
        });
    }

    /** Drops the questions of a kind. */
    cancel(kind) {
        const waiting = this.#waiting.get(kind);
        if (waiting) {
            this.#waiting.delete(kind);
            waiting.resolve(undefined);
        }
        if (this.#current?.kind === kind) {
            this.#outdate();
        }
    }

    /** Marks the question in the worker as outdated. The worker gets a little time to finish it. */
    #outdate() {
        const current = this.#current;
        if (current && !current.isOutdated) {
            current.isOutdated = true;
            clearTimeout(current.timer);
            current.timer = setTimeout(() => this.#restart(), OUTDATED_MS);
        }
    }

    #start() {
        this.#isReady = false;
        this.#sent = { first: null, second: null };
        const worker = new Worker(this.#url);
        this.#worker = worker;
        worker.onmessage = ({ data }) => this.#receive(data);
        worker.onerror = (event) => {
            event.preventDefault();
            this.#fail({ code: "stopped", message: event.message ?? "" });
        };
        worker.postMessage({ kind: "start", wasm: this.#wasm });
    }

    #receive(data) {
        if (data.kind === "ready") {
            this.#isReady = true;
            this.#onReady(data.catalog);
        } else if (data.kind === "failed") {
            this.#onFailure(new EngineError(data.error));
            return;
        } else if (data.id === this.#current?.id) {
            const current = this.#current;
            this.#settle();
            if (current.isOutdated) {
                current.resolve(undefined);
            } else if (data.error) {
                current.reject(new EngineError(data.error));
            } else {
                current.resolve(data.answer);
            }
            if (["stopped", "memory"].includes(data.error?.code)) {
                this.#replaceWorker();
            }
        }
        // An answer may lead to a question that is more urgent than those that wait.
        setTimeout(() => this.#send());
    }

    #settle() {
        clearTimeout(this.#current?.timer);
        this.#current = null;
    }

    /** Terminates a worker that takes too long. */
    #restart() {
        this.#fail({ code: "slow", message: "" });
    }

    #fail(reason) {
        const current = this.#current;
        this.#settle();
        if (current) {
            if (current.isOutdated) {
                current.resolve(undefined);
            } else {
                current.reject(new EngineError(reason));
            }
        } else if (!this.#isReady) {
            this.#onFailure(new EngineError(reason));
            return;
        }
        this.#replaceWorker();
    }

    #replaceWorker() {
        this.restarts += 1;
        this.#worker.terminate();
        this.#start();
    }

    #send() {
        if (!this.#isReady || this.#current) {
            return;
        }
        const kind = ORDER.find((kind) => this.#waiting.has(kind));
        if (!kind) {
            // Answers may lead to more questions.
            setTimeout(() => this.#current || this.#waiting.size > 0 || this.#onIdle());
            return;
        }
        for (const pane of ["first", "second"]) {
            const file = this.#files[pane];
            if (file !== this.#sent[pane]) {
                this.#worker.postMessage({ kind: "file", pane, body: file.body });
                this.#sent[pane] = file;
            }
        }
        const question = this.#waiting.get(kind);
        this.#waiting.delete(kind);
        this.#current = question;
        question.timer = setTimeout(() => this.#restart(), MAX_ANSWER_MS);
        this.#worker.postMessage({ id: question.id, kind, question: question.question });
    }
}
