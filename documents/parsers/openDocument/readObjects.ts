import type { Archive } from '../../office/openArchive.js';
import { readXml } from '../../office/readXml.js';
import { spanOf } from '../../tables/tableGrid.js';
import { CellBudget } from '../../tables/tableWriter.js';
import { markdownTable, oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** The objects inside a document. */
export interface OdfObjects {
  /** Charts as blocks, by the lower-case name of their folder. */
  readonly charts: ReadonlyMap<string, readonly string[]>;
  /** Number of other objects, such as formulas, which are not read. */
  readonly unread: number;
}

/** Reads the charts of a document. Each object has a folder with its own content. */
export async function readObjects(
  { archive }: { readonly archive: Archive },
  limits: DocumentLimits,
): Promise<OdfObjects> {
  const charts = new Map<string, readonly string[]>();
  let unread = 0;
  for (const name of archive.names) {
    const folder = /^((?:.*\/)?object [^/]*)\/content\.xml$/.exec(name)?.[1];
    if (folder === undefined) {
      // The folder ObjectReplacements has a picture of each object, under the name of the object.
      if (/^(?:.*\/)?object [^/]*$/.test(name) && !/(?:^|\/)objectreplacements\//.test(name)) unread += 1;
      continue;
    }
    const chart = readChart(await archive.read(name), limits);
    if (chart === null) unread += 1;
    else charts.set(folder, chart);
  }
  return { charts, unread };
}

/** Returns the name of an object's folder in the archive, in lower case. @param href the reference to the object */
export const objectName = (href: string | undefined): string =>
  decoded(href ?? '')
    .replace(/^\.\//, '')
    .replace(/\/$/, '')
    .toLowerCase();

function decoded(href: string): string {
  try {
    return decodeURI(href.replace(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    // Not UTF-8.
    return href;
  }
}

/** Maximum number of equal cells side by side. */
const MAX_REPEATED = 100;

/** Reads a chart as blocks: its titles, and the table with its values. Returns null for other objects. */
function readChart(part: Uint8Array, limits: DocumentLimits): string[] | null {
  const budget = new CellBudget(limits.maxCells);
  const titles: string[] = [];
  const rows: string[][] = [];
  let isChart = false;
  let [inTitle, inTable, inParagraph] = [false, false, false];
  let [words, value, repeated] = ['', '', 1];
  readXml(part, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      if (name === 'chart') isChart = true;
      else if (name === 'title' || name === 'subtitle') [inTitle, words] = [true, ''];
      else if (name === 'table') inTable = true;
      else if (name === 'table-row' && inTable) rows.push([]);
      else if (name === 'table-cell') {
        [words, value] = ['', attributes['value'] ?? ''];
        repeated = Math.min(MAX_REPEATED, spanOf(attributes['number-columns-repeated']));
      } else if (name === 'p') inParagraph = true;
    },
    text(text) {
      if (inParagraph && (inTitle || inTable)) words += text;
    },
    close(name) {
      if (name === 'p') [inParagraph, words] = [false, `${words} `];
      else if (name === 'title' || name === 'subtitle') {
        if (oneLine(words) !== '') titles.push(oneLine(words));
        inTitle = false;
      } else if (name === 'table') inTable = false;
      else if (name === 'table-cell') {
        budget.take(repeated);
        // Missing values of a chart are "not a number".
        const shown = oneLine(words).replace(/^NaN$/, '') || value.replace(/^NaN$/, '');
        for (let more = 0; more < repeated; more++) rows.at(-1)?.push(shown);
      }
    },
  });
  return isChart ? [...titles, markdownTable(rows)].filter((block) => block !== '') : null;
}
