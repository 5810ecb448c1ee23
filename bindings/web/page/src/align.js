// Aligns the lines of two texts, so that equal lines share a row. Finds a shortest sequence of changes with the greedy
// algorithm of Myers, "An O(ND) difference algorithm and its variations" (1986).

/** Returns the pairs of equal lines in a shortest sequence of at most `maxChanges` changes, or `null` if it is longer. */
function pairsOf(first, second, maxChanges) {
    // `ends[k]` is the first text's farthest line on diagonal k, where k is that line minus the second text's line.
    const ends = new Map([[1, 0]]);
    const trace = [];
    for (let changes = 0; changes <= maxChanges; changes += 1) {
        trace.push(new Map(ends));
        for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
            const isDown = diagonal === -changes || (diagonal !== changes && ends.get(diagonal - 1) < ends.get(diagonal + 1));
            let one = isDown ? ends.get(diagonal + 1) : ends.get(diagonal - 1) + 1;
            while (one < first.length && one - diagonal < second.length && first[one] === second[one - diagonal]) {
                one += 1;
            }
            ends.set(diagonal, one);
            if (one >= first.length && one - diagonal >= second.length) {
                return walkBack(trace, first.length, second.length);
            }
        }
    }
    return null;
}

function walkBack(trace, firstCount, secondCount) {
    const pairs = [];
    let [one, two] = [firstCount, secondCount];
    for (let changes = trace.length - 1; changes >= 0; changes -= 1) {
        const ends = trace[changes];
        const diagonal = one - two;
        const isDown = diagonal === -changes || (diagonal !== changes && ends.get(diagonal - 1) < ends.get(diagonal + 1));
        const before = isDown ? diagonal + 1 : diagonal - 1;
        const start = changes === 0 ? 0 : ends.get(before);
        const startTwo = changes === 0 ? 0 : start - before;
        while (one > start && two > startTwo) {
            one -= 1;
            two -= 1;
            pairs.push([one, two]);
        }
        [one, two] = [start, startTwo];
    }
    // A step down or right may lie before the equal lines that were just collected.
    return pairs.reverse();
}

/**
 * Aligns two lists of lines. Returns rows `[first, second]` of indices from 0, or `null` in place of a line that the
 * other text does not have. Different lines between the same equal ones share a row. Returns `null` if the texts have
 * more than `maxChanges` changes.
 */
export function align(first, second, maxChanges) {
    const shorter = Math.min(first.length, second.length);
    let head = 0;
    while (head < shorter && first[head] === second[head]) {
        head += 1;
    }
    let tail = 0;
    while (tail < shorter - head && first[first.length - 1 - tail] === second[second.length - 1 - tail]) {
        tail += 1;
    }
    const middle = pairsOf(first.slice(head, first.length - tail), second.slice(head, second.length - tail), maxChanges);
    if (middle === null) {
        return null;
    }
    const pairs = [
        ...Array.from({ length: head }, (_, at) => [at, at]),
        ...middle.map(([one, two]) => [one + head, two + head]),
        ...Array.from({ length: tail }, (_, at) => [first.length - tail + at, second.length - tail + at]),
        [first.length, second.length],
    ];
    const rows = [];
    let [one, two] = [0, 0];
    for (const [nextOne, nextTwo] of pairs) {
        while (one < nextOne || two < nextTwo) {
            rows.push([one < nextOne ? one : null, two < nextTwo ? two : null]);
            one += one < nextOne ? 1 : 0;
            two += two < nextTwo ? 1 : 0;
        }
        if (nextOne < first.length) {
            rows.push([nextOne, nextTwo]);
        }
        [one, two] = [nextOne + 1, nextTwo + 1];
    }
    return rows;
}
