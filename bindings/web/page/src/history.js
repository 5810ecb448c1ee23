// Undo and redo: the states of a case. Typing in one field without a pause is one step.

/** Returns the fields in which two states differ. */
function changesOf(before, after) {
    const equal = (one, other) => one === other || (Array.isArray(one) && one.length === other.length && one.every((item, at) => item === other[at]));
    return Object.keys(after).filter((key) => !equal(before[key], after[key]));
}

export class History {
    #states = [];
    /** The UTF-16 units, or bytes of files, that each state has beyond the one before it. */
    #costs = [];
    #at = -1;
    #lastField = "";
    #lastTime = -Infinity;
    #maxStates;
    #maxChars;
    #burstMs;

    constructor({ maxStates, maxChars, burstMs }) {
        this.#maxStates = maxStates;
        this.#maxChars = maxChars;
        this.#burstMs = burstMs;
    }

    get canUndo() {
        return this.#at > 0;
    }

    get canRedo() {
        return this.#at < this.#states.length - 1;
    }

    /** Adds a state that differs from the present one, and forgets what was undone. `now` is a time in milliseconds. */
    record(state, now) {
        const present = this.#states[this.#at];
        const changes = present ? changesOf(present, state) : Object.keys(state);
        if (changes.length === 0) {
            return;
        }
        // Equal texts are stored once.
        const added = { ...present, ...Object.fromEntries(changes.map((key) => [key, state[key]])) };
        const cost = changes.reduce((sum, key) => sum + (state[key]?.length ?? state[key]?.size ?? 0), 0);
        const isBurst = changes.length === 1 && changes[0] === this.#lastField && now - this.#lastTime < this.#burstMs;
        const keep = isBurst && !this.canRedo && this.canUndo ? this.#at : this.#at + 1;
        this.#states.splice(keep, Infinity, added);
        this.#costs.splice(keep, Infinity, cost);
        this.#at = keep;
        this.#lastField = changes.length === 1 ? changes[0] : "";
        this.#lastTime = now;
        while (this.#states.length > this.#maxStates || (this.#at > 1 && this.#total() > this.#maxChars)) {
            this.#states.shift();
            this.#costs.shift();
            this.#at -= 1;
        }
    }

    /** Ends the current step, so that the next change is a separate step. */
    endStep() {
        this.#lastField = "";
    }

    /** Returns the state before the present one, or `null`. */
    undo() {
        return this.#move(-1);
    }

    /** Returns the state that was undone last, or `null`. */
    redo() {
        return this.#move(1);
    }

    #move(step) {
        const state = this.#states[this.#at + step];
        if (!state) {
            return null;
        }
        this.#at += step;
        this.endStep();
        return state;
    }

    #total() {
        return this.#costs.reduce((sum, cost) => sum + cost, 0);
    }
}
