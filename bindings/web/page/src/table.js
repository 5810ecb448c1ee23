// The table of verdicts: a row for each URL, a column for each crawler. Arrow keys move between its cells. On narrow
// screens each row is a card, so the roles are written out, and each cell has its crawler's name.
import { byId, element, setText, shortened, token } from "./dom.js";
import { MAX_SHOWN_URLS, MAX_SHOWN_VERDICTS } from "./limits.js";
import { number, say } from "./texts.js";

/** The verdicts by number, as in the package, and their signs. */
export const VERDICTS = ["allow", "disallow", "unknown", "invalid"];
export const SIGNS = { allow: "✓", disallow: "✕", unknown: "?", invalid: "!" };

export class Table {
    #table = byId("verdicts");
    #result = null;
    #differences = null;
    #page = 0;
    #selected = { url: 0, agent: 0 };
    #onSelect;

    constructor({ onSelect }) {
        this.#onSelect = onSelect;
        this.#table.addEventListener("keydown", (event) => this.#key(event));
        this.#table.addEventListener("click", (event) => {
            const cell = event.target.closest("button[data-url]");
            if (cell) {
                this.#choose(Number(cell.dataset.url), Number(cell.dataset.agent));
                byId("answer").scrollIntoView({ block: "nearest" });
            }
        });
        byId("previous-page").addEventListener("click", () => this.#turn(-1));
        byId("next-page").addEventListener("click", () => this.#turn(1));
    }

    /** The numbers of the selected verdict's URL and crawler, or `null` if there is none. */
    get selected() {
        return this.#result && this.#result.verdicts.length > 0 ? this.#selected : null;
    }

    /** The number of URLs on a page. */
    get #rows() {
        return Math.max(1, Math.min(MAX_SHOWN_URLS, Math.floor(MAX_SHOWN_VERDICTS / Math.max(1, this.#result?.agents.length ?? 1))));
    }

    /** Shows new verdicts. Keeps the selection if its cell still exists. */
    show(result) {
        this.#result = result;
        this.#differences = null;
        const lastUrl = Math.max(0, result.urls.length - 1);
        const lastAgent = Math.max(0, result.agents.length - 1);
        this.#selected = { url: Math.min(this.#selected.url, lastUrl), agent: Math.min(this.#selected.agent, lastAgent) };
        this.#page = Math.min(this.#page, Math.floor(lastUrl / this.#rows));
        this.draw();
    }

    /** Selects the first verdict. */
    reset() {
        this.#selected = { url: 0, agent: 0 };
        this.#page = 0;
    }

    /** Marks the verdicts on which dialects disagree. `differences` has a number for each verdict. */
    setDifferences(differences) {
        this.#differences = differences;
        this.draw();
    }

    /** Draws the page of the table in the page's language. Nodes are reused. */
    draw() {
        const result = this.#result;
        const isEmpty = !result || result.verdicts.length === 0;
        this.#table.parentElement.hidden = isEmpty;
        byId("pages").hidden = isEmpty || result.urls.length <= this.#rows;
        if (isEmpty) {
            this.#table.tBodies[0].replaceChildren();
            return;
        }
        const first = this.#page * this.#rows;
        const last = Math.min(result.urls.length, first + this.#rows);
        this.#drawHead(result.agents);
        const body = this.#table.tBodies[0];
        while (body.rows.length > last - first) {
            body.lastChild.remove();
        }
        while (body.rows.length < last - first) {
            body.append(element("tr", { role: "row" }, element("th", { role: "rowheader", scope: "row" }, token(""))));
        }
        for (let url = first; url < last; url += 1) {
            this.#drawRow(body.rows[url - first], url);
        }
        setText(byId("page-range"), say("verdicts.range", { first: first + 1, last, count: result.urls.length }));
        byId("previous-page").disabled = this.#page === 0;
        byId("next-page").disabled = last >= result.urls.length;
    }

    #drawHead(agents) {
        const row = this.#table.tHead.rows[0];
        while (row.cells.length > agents.length + 1) {
            row.lastChild.remove();
        }
        while (row.cells.length < agents.length + 1) {
            row.append(element("th", { role: "columnheader", scope: "col" }, token("")));
        }
        agents.forEach((agent, index) => setText(row.cells[index + 1].firstChild, agent === "" ? "\u00a0" : shortened(agent)));
    }

    #drawRow(row, url) {
        const { agents, urls, verdicts, lines } = this.#result;
        setText(row.cells[0].firstChild, shortened(urls[url]));
        while (row.cells.length > agents.length + 1) {
            row.lastChild.remove();
        }
        while (row.cells.length < agents.length + 1) {
            const parts = ["i", "b", "span", "em"].map((tag) => element(tag));
            parts[0].setAttribute("aria-hidden", "true");
            const name = element("code", { class: "crawler", dir: "ltr", "aria-hidden": "true" });
            row.append(element("td", { role: "cell" }, name, element("button", { type: "button" }, ...parts)));
        }
        for (let agent = 0; agent < agents.length; agent += 1) {
            const at = url * agents.length + agent;
            const verdict = VERDICTS[verdicts[at]];
            const [name, button] = row.cells[agent + 1].children;
            setText(name, shortened(agents[agent]));
            const isSelected = url === this.#selected.url && agent === this.#selected.agent;
            const [sign, word, line, difference] = button.children;
            button.className = verdict;
            button.dataset.url = url;
            button.dataset.agent = agent;
            button.dataset.verdict = verdict;
            button.dataset.line = lines[at];
            button.tabIndex = isSelected ? 0 : -1;
            if (isSelected) {
                button.setAttribute("aria-current", "true");
            } else {
                button.removeAttribute("aria-current");
            }
            setText(sign, SIGNS[verdict]);
            setText(word, say(`verdict.${verdict}`));
            setText(line, lines[at] > 0 ? say("verdicts.line", { line: lines[at] }) : "");
            setText(difference, this.#differences?.[at] > 0 ? say("verdicts.differs") : "");
        }
    }

    #choose(url, agent, focus = false) {
        this.#selected = { url, agent };
        this.#page = Math.floor(url / this.#rows);
        this.draw();
        if (focus) {
            this.#table.querySelector("[aria-current]")?.focus();
        }
        this.#onSelect();
    }

    #turn(step) {
        this.#choose((this.#page + step) * this.#rows, this.#selected.agent);
    }

    #key(event) {
        if (!event.target.matches("button[data-url]") || event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        const { urls, agents } = this.#result;
        const side = document.documentElement.dir === "rtl" ? -1 : 1;
        const [down, across] = {
            ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, side], ArrowLeft: [0, -side],
            PageDown: [this.#rows, 0], PageUp: [-this.#rows, 0], Home: [0, -agents.length], End: [0, agents.length],
        }[event.key] ?? [0, 0];
        if (down !== 0 || across !== 0) {
            event.preventDefault();
            const url = Math.max(0, Math.min(urls.length - 1, this.#selected.url + down));
            const agent = Math.max(0, Math.min(agents.length - 1, this.#selected.agent + across));
            this.#choose(url, agent, true);
        }
    }
}

/** Returns a verdict as a badge with its sign and word. */
export function badge(verdict) {
    return element("span", { class: `badge ${verdict}` }, element("span", { "aria-hidden": "true" }, `${SIGNS[verdict]} `), say(`verdict.${verdict}`));
}

/** Returns a button that selects a line of a file, or a dash for line 0. */
export function lineButton(line, onSelect) {
    if (line === 0) {
        return document.createTextNode("–");
    }
    return element("button", { type: "button", class: "line", "data-line": line, onclick: () => onSelect(line) }, say("line", { line: number(line) }));
}
