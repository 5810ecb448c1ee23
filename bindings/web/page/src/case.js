// A case: everything that a visitor entered. It travels in a link's fragment or in a file, and survives a reload.
import {
    MAX_ASSERTION_CHARS, MAX_CASE_FILE_BYTES, MAX_CHOSEN, MAX_KEPT_CHARS, MAX_LINK_CASE_BYTES, MAX_LINK_CHARS, MAX_TOKEN_CHARS,
    MAX_URL_LIST_CHARS,
} from "./limits.js";

/** The version of links and of files. */
const VERSION = 1;
/** The key that marks a file as a case. Its value is the version. */
const MARK = "reptile-case";
/** The kinds of lines for usage preferences. */
export const USAGE_LINES = ["usage", "signals", "both"];

/** A case that cannot be read or written. `key` is the message's key in the catalogue. */
export class CaseError extends Error {
    constructor(key, values = {}) {
        super(key);
        this.key = key;
        this.values = values;
    }
}

/** Returns the CRC-32 of bytes as eight hexadecimal digits. */
export function checksum(bytes) {
    let crc = ~0;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit += 1) {
            crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    return (~crc >>> 0).toString(16).padStart(8, "0");
}

function toBase64(bytes) {
    let text = "";
    for (let from = 0; from < bytes.length; from += 0x8000) {
        text += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
    }
    return btoa(text);
}

function fromBase64(text) {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Passes bytes through a stream. Returns the output, or `null` if it exceeds `max` bytes. */
async function passThrough(bytes, transform, max) {
    const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) {
            break;
        }
        size += value.length;
        if (size > max) {
            await reader.cancel();
            return null;
        }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const isText = (value, max) => typeof value === "string" && value.length <= max;

/** Returns a case's robots.txt: a text, or bytes in base64 and a name. */
function fileFrom(value) {
    if (value === null || typeof value === "string") {
        return value;
    }
    if (typeof value?.base64 !== "string" || !isText(value.name, MAX_TOKEN_CHARS)) {
        throw new CaseError("case.damaged");
    }
    try {
        return new File([fromBase64(value.base64)], value.name);
    } catch {
        throw new CaseError("case.damaged");
    }
}

/** Checks the content of a link or a file. Every key is required, so that an incomplete case is refused. */
function checked(value) {
    const isCase = typeof value === "object" && value !== null
        && isText(value.dialect, MAX_TOKEN_CHARS)
        && isText(value.urls, MAX_URL_LIST_CHARS)
        && Array.isArray(value.crawlers) && value.crawlers.length <= MAX_CHOSEN
        && value.crawlers.every((name) => isText(name, MAX_TOKEN_CHARS))
        && typeof value.exact === "boolean"
        && isText(value.host, MAX_TOKEN_CHARS)
        && isText(value.vocabulary, MAX_TOKEN_CHARS)
        && USAGE_LINES.includes(value.usageLines)
        && isText(value.assertions, MAX_ASSERTION_CHARS)
        && typeof value.allowDefault === "boolean"
        && value.robots !== null && value.robots !== undefined && value.second !== undefined;
    if (!isCase) {
        throw new CaseError("case.damaged");
    }
    return { ...value, robots: fileFrom(value.robots), second: fileFrom(value.second) };
}

/** Returns a case as a JSON value. */
async function toValue(testCase) {
    const file = async (body) => {
        return body instanceof Blob ? { name: body.name ?? "robots.txt", base64: toBase64(new Uint8Array(await body.arrayBuffer())) } : body;
    };
    return { ...testCase, robots: await file(testCase.robots), second: await file(testCase.second) };
}

/** Returns the size of a case's files, so that a large case is refused before it is converted. */
function sizeOf(testCase) {
    return [testCase.robots, testCase.second].reduce((sum, body) => sum + (body?.size ?? body?.length ?? 0), testCase.urls.length);
}

/**
 * Returns the fragment of a link, without `#`: version, `d` for compressed or `r` for raw bytes, CRC-32 of the JSON
 * text, and the bytes in base64url.
 *
 * Throws a {@link CaseError} if the fragment would be longer than `MAX_LINK_CHARS`.
 */
export async function toFragment(testCase) {
    const tooLong = () => new CaseError("case.tooLong", { count: MAX_LINK_CHARS });
    if (sizeOf(testCase) > MAX_LINK_CASE_BYTES / 2) {
        throw tooLong();
    }
    const bytes = new TextEncoder().encode(JSON.stringify(await toValue(testCase)));
    const canCompress = typeof CompressionStream === "function";
    const packed = canCompress ? await passThrough(bytes, new CompressionStream("deflate-raw"), MAX_LINK_CASE_BYTES) : bytes;
    if (bytes.length > MAX_LINK_CASE_BYTES || packed === null || packed.length > MAX_LINK_CHARS) {
        throw tooLong();
    }
    const data = toBase64(packed).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const fragment = `${VERSION}.${canCompress ? "d" : "r"}.${checksum(bytes)}.${data}`;
    if (fragment.length > MAX_LINK_CHARS) {
        throw tooLong();
    }
    return fragment;
}

/** Reads a fragment without `#`. Throws a {@link CaseError}. */
export async function fromFragment(fragment) {
    if (fragment.length > MAX_LINK_CHARS) {
        throw new CaseError("case.linkTooLong", { count: MAX_LINK_CHARS });
    }
    const version = /^(\d{1,9})\./.exec(fragment)?.[1];
    if (version !== undefined && Number(version) !== VERSION) {
        throw new CaseError("case.version");
    }
    const match = /^\d+\.([dr])\.([0-9a-f]{8})\.([\w-]+)$/.exec(fragment);
    if (!match) {
        throw new CaseError("case.damaged");
    }
    const [, packing, sum, data] = match;
    if (packing === "d" && typeof DecompressionStream !== "function") {
        throw new CaseError("case.browser");
    }
    let value;
    try {
        const packed = fromBase64(data.replaceAll("-", "+").replaceAll("_", "/"));
        const bytes = packing === "d" ? await passThrough(packed, new DecompressionStream("deflate-raw"), MAX_LINK_CASE_BYTES) : packed;
        if (bytes === null || checksum(bytes) !== sum) {
            throw new CaseError("case.damaged");
        }
        value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch {
        throw new CaseError("case.damaged");
    }
    return checked(value);
}

/** Returns a case as the text of a file. */
async function toText(testCase) {
    return JSON.stringify({ [MARK]: VERSION, ...(await toValue(testCase)) }, null, 1);
}

/** Reads the text of a file with a case. Throws a {@link CaseError}. */
function fromText(text) {
    let value;
    try {
        value = JSON.parse(text);
    } catch {
        throw new CaseError("case.damaged");
    }
    if (value?.[MARK] !== VERSION) {
        throw new CaseError("case.version");
    }
    delete value[MARK];
    return checked(value);
}

/** Returns a case as a file. */
export async function toFile(testCase) {
    return new File([await toText(testCase)], "case.reptile.json", { type: "application/json" });
}

/** Returns whether a file looks like a case. Reads only its first bytes. */
export async function isCaseFile(file) {
    const start = await file.slice(0, 100).text();
    return /^\s*\{\s*"reptile-case"\s*:/.test(start);
}

/** Reads a file with a case. Throws a {@link CaseError}. */
export async function fromFile(file) {
    if (file.size > MAX_CASE_FILE_BYTES) {
        throw new CaseError("case.fileTooLong", { count: MAX_CASE_FILE_BYTES });
    }
    return fromText(await file.text());
}

/** Returns whether a case is short enough to survive a reload. */
export function isKeepable(testCase) {
    return sizeOf(testCase) <= MAX_KEPT_CHARS;
}

/** Keeps a case in this tab's storage, if it is short enough. Without files, it is stored before the page can be left. */
export async function keep(testCase) {
    try {
        sessionStorage.removeItem(MARK);
        if (isKeepable(testCase)) {
            sessionStorage.setItem(MARK, await toText(testCase));
        }
    } catch {
        // The page works without storage.
    }
}

/** Returns the kept case, or `null`. */
export function kept() {
    try {
        const text = sessionStorage.getItem(MARK);
        return text === null ? null : fromText(text);
    } catch {
        return null;
    }
}
