// Handles dropped files, long pastes, the keys for undo and redo, and the page's menu.
import { byId } from "./dom.js";

/** Refuses a paste that makes a field longer than `max` UTF-16 units. */
export function limitPaste(id, max, onRefuse) {
    byId(id).addEventListener("paste", (event) => {
        if (byId(id).textLength + (event.clipboardData?.getData("text/plain") ?? "").length > max) {
            event.preventDefault();
            onRefuse();
        }
    });
}

/** Takes dropped files anywhere. `cardOf` returns the name of the card for a target, which is marked meanwhile. */
export function acceptDrops({ cardOf, onDrop }) {
    let marked = null;
    const mark = (id) => {
        if (marked !== id) {
            byId(marked)?.classList.remove("dropping");
            byId(id)?.classList.add("dropping");
            marked = id;
        }
    };
    document.addEventListener("dragover", (event) => {
        if (event.dataTransfer.types.includes("Files")) {
            event.preventDefault();
            mark(cardOf(event.target));
        }
    });
    document.addEventListener("dragleave", () => mark(null));
    document.addEventListener("drop", (event) => {
        mark(null);
        const file = event.dataTransfer.files[0];
        if (file) {
            event.preventDefault();
            onDrop(file, cardOf(event.target));
        }
    });
}

/**
 * Undoes and redoes with the usual keys, buttons and menus. Replaces the browser's undo, which cannot cross the page's
 * own changes. `ids` names the fields that this concerns. Other fields, such as a search, keep the browser's steps.
 */
export function acceptUndo({ ids, onTravel, onPaste }) {
    const fields = ids.map(byId);
    document.addEventListener("keydown", (event) => {
        const key = event.key.toLowerCase();
        const isOwn = fields.includes(event.target) || !event.target.matches?.("input, textarea");
        if (!isOwn || !(event.ctrlKey || event.metaKey) || event.altKey || !(key === "z" || (key === "y" && !event.shiftKey))) {
            return;
        }
        event.preventDefault();
        onTravel(key === "y" || event.shiftKey ? 1 : -1);
    });
    for (const field of fields) {
        field.addEventListener("paste", onPaste);
        field.addEventListener("beforeinput", (event) => {
            if (["historyUndo", "historyRedo"].includes(event.inputType)) {
                event.preventDefault();
                onTravel(event.inputType === "historyUndo" ? -1 : 1);
            }
        });
    }
    byId("undo").addEventListener("click", () => onTravel(-1));
    byId("redo").addEventListener("click", () => onTravel(1));
}

/** Closes the menu after a choice, a click elsewhere, and Escape. */
export function acceptMenu() {
    const menu = byId("menu");
    menu.addEventListener("click", (event) => {
        menu.open = event.target.closest("button") ? false : menu.open;
    });
    document.addEventListener("pointerdown", (event) => {
        menu.open = menu.open && menu.contains(event.target);
    });
    menu.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
            menu.open = false;
            menu.querySelector("summary").focus();
        }
    });
}
