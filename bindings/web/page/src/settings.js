// The visitor's language and colors, which the browser remembers.
import { byId, element } from "./dom.js";
import { fillTexts, say, setCatalogue } from "./texts.js";

function remember(key, value) {
    try {
        localStorage.setItem(`reptile.${key}`, value);
    } catch {
        // The page works without storage.
    }
}

function recall(key) {
    try {
        return localStorage.getItem(`reptile.${key}`);
    } catch {
        return null;
    }
}

/** Sets up the choices of language and colors. `texts` are the catalogues by name. Calls `onLanguage` after a change. */
export function setUpSettings(texts, onLanguage) {
    const setLanguage = (name) => {
        const catalogue = texts[name];
        setCatalogue(catalogue);
        document.documentElement.lang = catalogue.locale;
        document.documentElement.dir = catalogue.direction;
        document.title = say("page.title");
        byId("language").value = name;
        fillTexts(document);
        onLanguage();
    };
    const setTheme = (theme) => {
        document.documentElement.dataset.theme = theme;
        byId("theme").value = theme;
    };
    for (const [name, { language, locale }] of Object.entries(texts)) {
        byId("language").append(element("option", { value: name, lang: locale }, language));
    }
    for (const [key, set] of [["language", setLanguage], ["theme", setTheme]]) {
        byId(key).addEventListener("change", ({ target }) => {
            remember(key, target.value);
            set(target.value);
        });
    }
    const wanted = [recall("language"), ...navigator.languages.map((language) => language.split("-")[0])];
    setTheme(recall("theme") ?? "auto");
    setLanguage(wanted.find((name) => name && Object.hasOwn(texts, name)) ?? "en");
}
