// The choice of crawlers: a searchable list of groups and crawlers that also takes any product token.
import { byId, element, token } from "./dom.js";
import { MAX_CHOSEN, MAX_TOKEN_CHARS } from "./limits.js";
import { say, sayNodes } from "./texts.js";

/** Maximum number of suggestions. */
const MAX_OPTIONS = 60;

export class Picker {
    #input = byId("crawler");
    #list = byId("crawler-options");
    #chips = byId("chosen");
    #known = [];
    #chosen = [];
    #options = [];
    #active = -1;
    #faults = new Map();
    #onChange;
    #onMessage;

    constructor({ onChange, onMessage }) {
        this.#onChange = onChange;
        this.#onMessage = onMessage;
        this.#input.maxLength = MAX_TOKEN_CHARS;
        this.#input.addEventListener("input", () => this.#open());
        this.#input.addEventListener("click", () => this.#open());
        this.#input.addEventListener("blur", () => this.#close());
        this.#input.addEventListener("keydown", (event) => this.#key(event));
        byId("add-crawler").addEventListener("click", () => this.#add(this.#input.value));
        // The list and the button must not take the focus from the field.
        for (const node of [this.#list, byId("add-crawler")]) {
            node.addEventListener("pointerdown", (event) => event.preventDefault());
        }
    }

    /** Sets the known groups and crawlers. */
    setKnown({ groups, crawlers }) {
        this.#known = [
            ...groups.map(({ name, crawlers: members }) => ({ name, search: `${name} ${members.join(" ")}`.toLowerCase(), members })),
            { name: "*", search: "*" },
            ...crawlers.map(({ name, tokens, family }) => ({ name, search: `${name} ${tokens.join(" ")} ${family}`.toLowerCase(), family })),
        ];
    }

    get chosen() {
        return this.#chosen;
    }

    set(names) {
        this.#chosen = [...new Set(names)].slice(0, MAX_CHOSEN);
        this.#faults = new Map();
        this.draw();
    }

    /** Shows the names that the engine refuses. */
    setFaults(bad) {
        const faults = new Map(bad.map((fault) => [fault.agent, fault]));
        if (faults.size > 0 || this.#faults.size > 0) {
            this.#faults = faults;
            this.draw();
        }
    }

    /** Draws the chosen crawlers in the page's language. */
    draw() {
        this.#chips.replaceChildren(...this.#chosen.map((name) => {
            const remove = element("button", {
                type: "button", class: "remove", "aria-label": say("crawlers.remove", { name }), onclick: () => this.#remove(name),
            }, "×");
            return element("li", { class: this.#faults.has(name) ? "chip bad" : "chip" }, token(name === "" ? "\u00a0" : name), remove);
        }));
        byId("crawler-faults").replaceChildren(...[...this.#faults.values()].map(({ agent, suggestion }) => {
            const values = { name: token(agent), suggestion: token(suggestion ?? "") };
            const item = element("li", {}, "⚠ ", ...(suggestion ? sayNodes("crawlers.suggestion", values) : sayNodes("crawlers.bad", { name: token(agent) })));
            if (suggestion) {
                const replace = () => {
                    this.set(this.#chosen.map((name) => (name === agent ? suggestion : name)));
                    this.#onChange();
                    this.#input.focus();
                };
                item.append(" ", element("button", { type: "button", class: "small", onclick: replace }, say("crawlers.replace")));
            }
            return item;
        }));
    }

    #add(name) {
        if (name === "") {
            return;
        }
        if (this.#chosen.length >= MAX_CHOSEN) {
            this.#onMessage("crawlers.tooMany", { count: MAX_CHOSEN });
            return;
        }
        this.#input.value = "";
        this.#close();
        if (!this.#chosen.includes(name)) {
            this.#chosen = [...this.#chosen, name];
            this.draw();
            this.#onChange();
        }
    }

    #remove(name) {
        const index = this.#chosen.indexOf(name);
        this.#chosen = this.#chosen.filter((chosen) => chosen !== name);
        this.#faults.delete(name);
        this.draw();
        const buttons = this.#chips.querySelectorAll("button");
        (buttons[Math.min(index, buttons.length - 1)] ?? this.#input).focus();
        this.#onChange();
    }

    #open() {
        const wanted = this.#input.value.trim().toLowerCase();
        const found = this.#known.filter((known) => known.search.includes(wanted) && !this.#chosen.includes(known.name));
        // Names that begin with the text come first.
        found.sort((one, other) => Number(other.name.toLowerCase().startsWith(wanted)) - Number(one.name.toLowerCase().startsWith(wanted)));
        this.#options = found.slice(0, MAX_OPTIONS).map(({ name, members, family }) => {
            const about = members ? say("crawlers.members", { count: members.length }) : family ?? "";
            return { name, about };
        });
        const isKnown = this.#options.some(({ name }) => name.toLowerCase() === wanted);
        if (wanted !== "" && !isKnown) {
            this.#options.push({ name: this.#input.value, about: say("crawlers.token") });
        }
        this.#list.replaceChildren(...this.#options.map(({ name, about }, index) => {
            const choose = () => this.#add(name);
            return element("li", { role: "option", id: `option-${index}`, "aria-selected": "false", onclick: choose }, token(name), " ", element("small", {}, about));
        }));
        this.#list.hidden = this.#options.length === 0;
        this.#input.setAttribute("aria-expanded", String(!this.#list.hidden));
        byId("add-crawler").hidden = this.#input.value === "";
        this.#activate(-1);
    }

    #close() {
        this.#list.hidden = true;
        byId("add-crawler").hidden = this.#input.value === "";
        this.#input.setAttribute("aria-expanded", "false");
        this.#activate(-1);
    }

    #activate(index) {
        this.#list.children[this.#active]?.setAttribute("aria-selected", "false");
        this.#active = index;
        const option = this.#list.children[index];
        if (option && !this.#list.hidden) {
            option.setAttribute("aria-selected", "true");
            option.scrollIntoView({ block: "nearest" });
            this.#input.setAttribute("aria-activedescendant", option.id);
        } else {
            this.#input.removeAttribute("aria-activedescendant");
        }
    }

    #key(event) {
        const count = this.#options.length;
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            if (this.#list.hidden) {
                this.#open();
            }
            const step = event.key === "ArrowDown" ? 1 : -1;
            const start = this.#active === -1 && step === -1 ? 0 : this.#active;
            this.#activate(this.#options.length === 0 ? -1 : (start + step + this.#options.length) % this.#options.length);
        } else if (event.key === "Enter" && !event.isComposing) {
            event.preventDefault();
            this.#add(!this.#list.hidden && this.#active >= 0 && count > 0 ? this.#options[this.#active].name : this.#input.value);
        } else if (event.key === "Escape" && !this.#list.hidden) {
            event.preventDefault();
            this.#close();
        } else if (event.key === "Backspace" && this.#input.value === "" && this.#chosen.length > 0) {
            this.#remove(this.#chosen.at(-1));
            this.#input.focus();
        }
    }
}
