/** Matches a JSON string, which is skipped, or an integer with more digits than a number represents exactly. */
const STRING_OR_LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/**
 * Parses JSON; returns the text if it is invalid. Integers that a number cannot represent exactly become strings: some
 * ids are such integers.
 */
export function parseAnswer(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString();
  try {
    const parsed = JSON.parse(text) as unknown;
    if (!/\d{16}/.test(text)) return parsed;
    const isExact = (found: string) => found.startsWith('"') || Number.isSafeInteger(Number(found));
    return JSON.parse(text.replaceAll(STRING_OR_LONG_INTEGER, (found) => (isExact(found) ? found : `"${found}"`)));
  } catch {
    return text;
  }
}
