// Joins JavaScript modules into one script. Each module becomes a function that returns its exports.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const IMPORT = /^import\s+\{([^}]*)\}\s+from\s+"([^"]+)";[ \t]*$/gm;
const DECLARATION = /^export\s+((?:async\s+)?(?:function\*?|class)|const)\s+([A-Za-z_$][\w$]*)/gm;
const LIST = /^export\s+\{([^}]*)\};[ \t]*$/gm;

/** Splits `a, b as c` into pairs of names. */
function pairs(list) {
    return list.split(",").map((item) => item.trim()).filter(Boolean).map((item) => item.split(/\s+as\s+/));
}

/**
 * Returns the script of the module `entry` and of all modules that it imports. `aliases` maps names of modules without
 * `./`, such as `engine`, to paths.
 *
 * Throws for circular imports, and for statements other than `import {...}`, `export {...}` and exported functions,
 * classes and constants.
 */
export function joinModules(entry, aliases) {
    const names = new Map();
    const bodies = [];
    const load = (path, importers) => {
        if (importers.includes(path)) {
            throw new Error(`circle of imports: ${[...importers, path].join(" > ")}`);
        }
        if (names.has(path)) {
            return names.get(path);
        }
        const exported = [];
        let text = readFileSync(path, "utf8");
        text = text.replace(IMPORT, (_, list, from) => {
            const target = aliases[from] ?? join(dirname(path), from);
            const module = load(target, [...importers, path]);
            return `const { ${pairs(list).map(([name, local]) => (local ? `${name}: ${local}` : name)).join(", ")} } = ${module};`;
        });
        text = text.replace(DECLARATION, (_, kind, name) => {
            exported.push([name]);
            return `${kind} ${name}`;
        });
        text = text.replace(LIST, (_, list) => {
            exported.push(...pairs(list));
            return "";
        });
        const rest = /^(?:import|export)\s.*$/m.exec(text);
        if (rest) {
            throw new Error(`${path}: cannot join this statement: ${rest[0]}`);
        }
        const name = `module${names.size}`;
        names.set(path, name);
        const result = exported.map(([local, outer]) => (outer ? `${outer}: ${local}` : local)).join(", ");
        bodies.push(`const ${name} = (() => {\n${text}\nreturn { ${result} };\n})();`);
        return name;
    };
    load(entry, []);
    return `"use strict";\n${bodies.join("\n")}\n`;
}
