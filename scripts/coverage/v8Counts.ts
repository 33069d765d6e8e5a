/** A script as V8 reports it: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-ScriptCoverage */
export interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly CountedRange[] }[];
}

interface CountedRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/**
 * Returns how often the code at an offset ran: the count of the innermost range that contains it. Ranges are nested or
 * disjoint, within a function and between functions. `withoutFirst` removes the first character from the range of each
 * function. This character then has the count of the surrounding code, which shows how often the function was created
 * instead of how often it was called.
 */
export function countsOf({ functions }: ScriptCoverage): (offset: number) => number {
  const ranges = functions
    .flatMap(({ ranges: [whole, ...blocks] }) => (whole ? [withoutFirst(whole), ...blocks] : blocks))
    .toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const offsets: number[] = [];
  const counts: number[] = [];
  const setCount = (offset: number, count: number): void => {
    if (offsets.at(-1) === offset) counts[counts.length - 1] = count;
    else counts[offsets.push(offset) - 1] = count;
  };
  const open: CountedRange[] = [];
  const closeUntil = (offset: number): void => {
    for (let last = open.at(-1); last && last.endOffset <= offset; last = open.at(-1)) {
      open.pop();
      setCount(last.endOffset, open.at(-1)?.count ?? 0);
    }
  };
  for (const range of ranges) {
    closeUntil(range.startOffset);
    open.push(range);
    setCount(range.startOffset, range.count);
  }
  closeUntil(Infinity);
  return (offset) => counts[lastAtMost(offsets, offset)] ?? 0;
}

/**
 * Returns a range without its first character, except for the module itself, which begins at 0 and has no surrounding
 * range.
 */
const withoutFirst = (range: CountedRange): CountedRange => ({
  ...range,
  startOffset: range.startOffset === 0 ? 0 : range.startOffset + 1,
});

/** Returns the index of the last of the sorted numbers that is at most `limit`; -1 if there is none. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? Infinity) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
