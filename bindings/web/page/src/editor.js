// An editor for a robots.txt: a text area with line numbers, marked lines and notes behind it. A file that is too large,
// or that a text area would change, is kept as a file; the text area then shows an excerpt.
import { byId, element, setText } from "./dom.js";
import { LONG_CHARS, MAX_EDIT_CHARS, MAX_EDIT_LINES } from "./limits.js";
import { say, sayNodes } from "./texts.js";

/** Signs in the margin, by kind of mark, the strongest first. A mark never differs by color alone. */
export const SIGNS = { allow: "✓", disallow: "✕", other: "○", group: "@", error: "!", warning: "!", note: "i" };
const STRENGTH = Object.keys(SIGNS);

/** Columns between a line's text and its note. */
const NOTE_GAP = 3;
/** Number of lines up to which the text area grows. */
const MAX_FITTED_LINES = 24;
/** Width of the narrowest note in pixels. */
const MIN_NOTE_PX = 96;
/** Columns to the next tab stop, as in `style.css`. */
const TAB_COLUMNS = 4;

/** Returns where the lines of a text start, as a text area shows them. */
function startsOf(text) {
    const starts = [0];
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
        starts.push(at + 1);
    }
    return starts;
}

function countLines(text) {
    return startsOf(text).length;
}

/** Returns at least the number of columns that a line takes. */
function columnsOf(text) {
    let columns = 0;
    for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        columns += unit === 9 ? TAB_COLUMNS - (columns % TAB_COLUMNS) : unit < 0x250 ? 1 : 2;
    }
    return columns;
}

/** Returns where the change between two texts ends in the second. */
function endOfChange(before, after) {
    const shorter = Math.min(before.length, after.length);
    let tail = 0;
    while (tail < shorter && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) {
        tail += 1;
    }
    return after.length - tail;
}

/** Returns whether a text is too long for a text area. */
function isTooLong(text) {
    return text.length > MAX_EDIT_CHARS || countLines(text) > MAX_EDIT_LINES;
}

/**
 * Returns a file's text if a text area can show it, and keeps it unchanged except that it turns CRLF into LF. Otherwise
 * returns the key of the reason: `editor.large` or `editor.bytes`.
 */
async function readText(file) {
    if (file.size > MAX_EDIT_CHARS) {
        return { reason: "editor.large" };
    }
    const bytes = await file.arrayBuffer();
    let text;
    let isKept = true;
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        isKept = !/\r(?!\n)/.test(text);
    } catch {
        text = new TextDecoder().decode(bytes);
        isKept = false;
    }
    text = text.replace(/\r\n?/g, "\n");
    if (isTooLong(text)) {
        return { reason: "editor.large" };
    }
    return isKept ? { text } : { reason: "editor.bytes" };
}

export class Editor {
    #area;
    #margin;
    #layer;
    #notice;
    #status;
    #file = null;
    /** The text key of the reason why the content cannot be edited. */
    #reason = "";
    #first = 1;
    #starts = [0];
    #marks = new Map();
    #notes = new Map();
    #rowHeight = 0;
    #columnWidth = 0;
    #inset = 0;
    #shownLines = 0;
    #frame = 0;
    /** The number of changes that the browser has not laid out yet. */
    #unsettled = 0;
    /** The number of contents that were set, so that a file that is read slowly replaces no later one. */
    #sets = 0;
    #onChange;
    #onExcerpt;
    #onRefuse;

    /**
     * `id` names the text area. `onChange` is called after each change, and `onExcerpt` with the line around which
     * an excerpt is needed.
     */
    constructor({ id, onChange, onExcerpt, onRefuse }) {
        this.#area = byId(id);
        const frame = this.#area.parentElement;
        this.#margin = element("div", { class: "margin", "aria-hidden": "true" });
        this.#layer = element("div", { class: "layer", "aria-hidden": "true" });
        frame.prepend(this.#layer, this.#margin);
        this.#notice = byId(`${id}-notice`);
        this.#status = byId(`${id}-status`);
        this.#onChange = onChange;
        this.#onExcerpt = onExcerpt;
        this.#onRefuse = onRefuse;
        this.#area.addEventListener("input", () => this.#changed());
        this.#area.addEventListener("scroll", () => this.#draw(), { passive: true });
        this.#area.addEventListener("paste", (event) => this.#paste(event));
        new ResizeObserver(() => {
            this.#rowHeight = 0;
            this.#draw();
        }).observe(this.#area);
    }

    /** The text, or the file if it cannot be edited. */
    get body() {
        return this.#file ?? this.#area.value;
    }

    get isFile() {
        return this.#file !== null;
    }

    /** The length in UTF-16 units, or in bytes for a file. */
    get length() {
        return this.#file ? this.#file.size : this.#area.textLength;
    }

    /** Replaces the content with a text or a file. */
    async set(body) {
        const isShort = typeof body === "string" && !isTooLong(body);
        const file = typeof body === "string" ? new File([body], "robots.txt") : body;
        const number = (this.#sets += 1);
        const { text, reason } = isShort ? { text: body } : await readText(file);
        if (number !== this.#sets) {
            return;
        }
        const isLong = text === undefined;
        this.#file = isLong ? file : null;
        this.#reason = reason ?? "";
        this.#first = 1;
        this.#area.readOnly = isLong;
        const caret = isLong ? 0 : endOfChange(this.#area.value, text);
        this.#area.value = isLong ? "" : text;
        this.#area.setSelectionRange(caret, caret);
        this.mark([]);
        this.#changed();
        if (isLong) {
            this.#onExcerpt(1);
        }
    }

    /** Turns a file that a text area would change into text. */
    async editAsText() {
        if (this.#reason === "editor.bytes") {
            const text = await this.#file.text();
            this.#file = null;
            await this.set(text.replace(/\r\n?/g, "\n"));
        }
    }

    /** Shows a part of a file. */
    showExcerpt({ text, first }) {
        if (this.#file) {
            this.#area.value = text;
            this.#first = first;
            // The text area turns each CR into LF.
            this.#starts = startsOf(this.#area.value);
            this.#draw();
        }
    }

    /**
     * Marks lines. `marks` are triples of a line, a kind and a note, which may be empty. The strongest mark of a line is
     * shown, and the note of the strongest mark that has one.
     */
    mark(marks) {
        this.#marks = new Map();
        this.#notes = new Map();
        const strongestFirst = marks.filter(([line]) => line > 0).sort((one, other) => STRENGTH.indexOf(one[1]) - STRENGTH.indexOf(other[1]));
        for (const [line, kind, note] of strongestFirst) {
            if (!this.#marks.has(line)) {
                this.#marks.set(line, kind);
            }
            if (note && !this.#notes.has(line)) {
                this.#notes.set(line, note);
            }
        }
        this.#draw();
    }

    /** Scrolls to a line. `select` also selects the line and focuses it. `mayAsk` allows a request for an excerpt. */
    reveal(line, select = false, mayAsk = true) {
        if (line < 1) {
            return;
        }
        const isShown = line >= this.#first && line < this.#first + this.#starts.length;
        if (!isShown) {
            if (this.#file && mayAsk) {
                this.#onExcerpt(line);
            }
            return;
        }
        const row = line - this.#first;
        const height = this.#measure();
        const top = row * height;
        const area = this.#area;
        if (top < area.scrollTop || top + 2 * height > area.scrollTop + area.clientHeight) {
            area.scrollTop = Math.max(0, top - area.clientHeight / 3);
        }
        if (select) {
            area.focus({ preventScroll: true });
            area.setSelectionRange(this.#starts[row], this.#endOf(row));
            area.scrollIntoView({ block: "nearest" });
        }
    }

    /** Updates the texts in the page's language. `bytes` is the size, if it is known. */
    describe(bytes) {
        const key = this.#reason;
        this.#notice.hidden = !key;
        if (key) {
            this.#notice.querySelector("p").replaceChildren(...sayNodes(key, { name: this.#file.name, count: this.#file.size }));
            this.#notice.querySelector("button").hidden = key !== "editor.bytes";
        }
        const lines = this.#file ? "" : say("editor.lines", { count: this.#starts.length });
        const size = bytes === undefined ? "" : say("editor.size", { count: bytes });
        setText(this.#status, [lines, size].filter(Boolean).join(say("list.separator")));
    }

    #paste(event) {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        if (this.#area.readOnly) {
            return;
        }
        if (text.length <= LONG_CHARS && this.#starts.length + countLines(text) <= MAX_EDIT_LINES) {
            return;
        }
        // Browsers take many seconds to paste a long text into a text area.
        event.preventDefault();
        const { value, selectionStart, selectionEnd } = this.#area;
        if (selectionStart === 0 && selectionEnd === value.length) {
            this.set(text.replace(/\r\n?/g, "\n"));
        } else if (isTooLong(value.slice(0, selectionStart) + text + value.slice(selectionEnd))) {
            this.#onRefuse("editor.pasteRefused", { count: MAX_EDIT_CHARS });
        } else {
            this.#area.setRangeText(text, selectionStart, selectionEnd, "end");
            this.#changed();
        }
    }

    #changed() {
        this.#starts = startsOf(this.#area.value);
        this.#drawLater();
        this.#onChange();
    }

    /** Returns where the text of a row ends. */
    #endOf(row) {
        return row + 1 < this.#starts.length ? this.#starts[row + 1] - 1 : this.#area.textLength;
    }

    #measure() {
        if (this.#rowHeight === 0) {
            const style = getComputedStyle(this.#area);
            this.#rowHeight = Number.parseFloat(style.lineHeight);
            this.#inset = Number.parseFloat(style.paddingLeft);
            const context = document.createElement("canvas").getContext("2d");
            context.font = `${style.fontSize} ${style.fontFamily}`;
            this.#columnWidth = context.measureText("0").width;
        }
        return this.#rowHeight;
    }

    /** Fits the height to the number of lines, up to the height of `MAX_FITTED_LINES`. */
    #fit() {
        const lines = Math.min(MAX_FITTED_LINES, this.#starts.length);
        if (lines !== this.#shownLines) {
            this.#shownLines = lines;
            this.#area.parentElement.style.setProperty("--lines", lines);
        }
    }

    /** Draws after the browser's layout of a changed text, which would otherwise happen while the page asks for sizes. */
    #drawLater() {
        this.#unsettled += 1;
        requestAnimationFrame(() => setTimeout(() => {
            this.#unsettled -= 1;
            this.#draw();
        }));
    }

    /** Draws the numbers and marks of the visible lines in the next frame. */
    #draw() {
        if (this.#frame === 0 && this.#unsettled === 0) {
            this.#frame = requestAnimationFrame(() => {
                this.#frame = 0;
                if (this.#unsettled === 0) {
                    this.#drawNow();
                }
            });
        }
    }

    #drawNow() {
        const height = this.#measure();
        const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.#area;
        const { value } = this.#area;
        this.#fit();
        const from = Math.floor(scrollTop / height);
        const count = Math.max(0, Math.min(Math.ceil(clientHeight / height) + 1, this.#starts.length - from));
        const shift = `translateY(${from * height - scrollTop}px)`;
        for (const layer of [this.#margin, this.#layer]) {
            while (layer.childElementCount < count) {
                layer.append(element("div", {}, ...(layer === this.#margin ? [element("b"), element("span")] : [element("span", { dir: "auto" })])));
            }
            while (layer.childElementCount > count) {
                layer.lastChild.remove();
            }
            layer.style.transform = shift;
        }
        for (let row = 0; row < count; row += 1) {
            const line = this.#first + from + row;
            const mark = this.#marks.get(line) ?? "";
            const [sign, label] = this.#margin.children[row].children;
            setText(sign, SIGNS[mark] ?? "");
            setText(label, String(line));
            this.#margin.children[row].className = mark;
            this.#layer.children[row].className = mark;
            const note = this.#layer.children[row].firstChild;
            const text = this.#notes.get(line) ?? "";
            const columns = text && columnsOf(value.slice(this.#starts[from + row], this.#endOf(from + row))) + NOTE_GAP;
            const left = this.#inset + columns * this.#columnWidth - scrollLeft;
            const isWide = text !== "" && clientWidth - left >= MIN_NOTE_PX;
            setText(note, isWide ? text : "");
            note.style.left = `${left}px`;
            note.style.maxWidth = `${clientWidth - left}px`;
        }
    }
}
