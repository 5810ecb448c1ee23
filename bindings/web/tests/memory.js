// Limits the memory of a WebAssembly module.

/** Returns a module with a memory limit in pages of 64 KiB. */
export function withMaximum(wasm, pages) {
    let at = 8;
    const parts = [wasm.subarray(0, 8)];
    while (at < wasm.length) {
        const id = wasm[at];
        const [size, start] = number(wasm, at + 1);
        const end = start + size;
        if (id === 5) {
            const [count, flags] = number(wasm, start);
            const [minimum] = number(wasm, flags + 1);
            if (count !== 1 || wasm[flags] > 1) {
                throw new Error("a memory of another kind");
            }
            const content = [1, 1, ...leb(minimum), ...leb(Math.max(pages, minimum))];
            parts.push(Uint8Array.from([5, ...leb(content.length), ...content]));
        } else {
            parts.push(wasm.subarray(at, end));
        }
        at = end;
    }
    return Buffer.concat(parts);
}

/** Returns a number in LEB128, and the position after it. */
function number(bytes, at) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = bytes[at];
        at += 1;
        value += (byte & 127) * 2 ** shift;
        if (byte < 128) {
            return [value, at];
        }
    }
}

function leb(value) {
    const bytes = [];
    for (; value >= 128; value = Math.floor(value / 128)) {
        bytes.push((value % 128) | 128);
    }
    return [...bytes, value];
}
