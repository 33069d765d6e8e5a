import Papa from 'papaparse';
import { Fault } from '../../contract/failures.js';
import { mimeTypeOf } from '../../contract/files/fileFormats.js';
import { decodeText } from '../decodeText.js';
import { CellBudget, TableWriter } from '../tables/tableWriter.js';
import { TextBuilder } from '../textBuilder.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';

/** Characters that are examined to detect the delimiter. */
const SAMPLE_CHARACTERS = 64 * 1024;
const DELIMITERS = [',', '\t', ';', '|'];

/** Parses the rows of a CSV file with any common delimiter. */
export const csvParser: Parser = { parse: (input, limits) => readTable(input, limits, 'CSV') };
/** Parses the rows of a TSV file; a file without tabs is read like CSV. */
export const tsvParser: Parser = { parse: (input, limits) => readTable(input, limits, 'TSV') };

function readTable(input: ParseInput, limits: DocumentLimits, format: 'CSV' | 'TSV'): ParsedDocument {
  const text = decodeText(input, { html: false }).replaceAll('\u0000', '');
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  // The first line of some files states the delimiter.
  const separatorLine = /^sep=(.)\r?\n/i.exec(sample);
  const body = separatorLine ? text.slice(separatorLine[0].length) : text;
  const delimiter = separatorLine?.[1] ?? (format === 'TSV' && sample.includes('\t') ? '\t' : delimiterOf(sample));
  const read = (quoteChar: string): { document: ParsedDocument | null; hasOpenQuote: boolean } => {
    const writer = new TextBuilder(limits.maxTextCharacters);
    const items: number[] = [];
    const table = new TableWriter(writer, items, new CellBudget(limits.maxCells), null);
    let hasOpenQuote = false;
    Papa.parse<string[]>(body, {
      delimiter,
      quoteChar,
      skipEmptyLines: true,
      step: ({ data, errors }, parser) => {
        hasOpenQuote ||= errors.some(({ code }) => code === 'MissingQuotes');
        if (hasOpenQuote) parser.abort();
        else table.add(data);
      },
    });
    if (hasOpenQuote) return { document: null, hasOpenQuote };
    const rows = table.finish();
    if (rows === 0) return { document: null, hasOpenQuote };
    const { headers } = table;
    return {
      hasOpenQuote,
      document: {
        text: writer.toString(),
        format,
        mimeType: mimeTypeOf(format),
        metadata: { rows, ...(headers.length > 0 ? { columns: headers.slice(0, 1000) } : {}) },
        items,
      },
    };
  };
  const quoted = read('"');
  // A quote that is never closed is an inch mark or an error: treated as a quote, it would include the rest of the
  // file.
  const { document } = quoted.hasOpenQuote ? read('\u0000') : quoted;
  if (document === null) throw new Fault('no_text', 'There are no rows in the table: the file is empty.');
  return document;
}

/**
 * Returns the delimiter that splits the first lines most consistently into two or more fields; a comma if none splits a
 * line.
 */
function delimiterOf(sample: string): string {
  const lines = sample.split(/\r?\n|\r/).slice(0, 50);
  if (lines.length > 2) lines.pop();
  const rows = lines.filter((line) => line.trim() !== '').map((line) => line.replaceAll(/"(?:[^"]|"")*"/g, ''));
  let best = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const counts = rows.map((row) => row.split(delimiter).length);
    const usual = mostCommon(counts.filter((count) => count > 1));
    if (usual === null) continue;
    const share = counts.filter((count) => count === usual).length / counts.length;
    // A consistent number of fields per line has more weight than the number itself.
    const score = share * share * Math.log2(usual + 1);
    if (score > bestScore) [best, bestScore] = [delimiter, score];
  }
  return best;
}

function mostCommon(values: readonly number[]): number | null {
  const occurrences = new Map<number, number>();
  let best: number | null = null;
  for (const value of values) {
    const count = (occurrences.get(value) ?? 0) + 1;
    occurrences.set(value, count);
    if (best === null || count > (occurrences.get(best) ?? 0)) best = value;
  }
  return best;
}
