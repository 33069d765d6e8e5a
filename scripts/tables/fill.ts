/** Tables of the guide that are generated from the code. A page contains its table between two comments. */
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { formatTable, modelTable } from './formats.js';
import { pageOfSource, sourceList, sourceTable } from './sources.js';

const SOURCES = Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[];

/** The pages with a table, as paths below docs/, with the functions that return the table. */
export const TABLES: ReadonlyMap<string, () => string> = new Map([
  ['guide/sources/README.md', sourceList],
  ['guide/formats/README.md', formatTable],
  ['guide/search/README.md', modelTable],
  ...SOURCES.map((source) => [pageOfSource(source), () => sourceTable(source)] as const),
]);

const BEGIN = '<!-- The table is written by `npm run docs:tables`. -->';
const END = '<!-- End of the table. -->';

/** Returns a page with its table replaced. @throws Error if the page has no comments that mark the table */
export function filled(page: string, markdown: string, table: string): string {
  const [begin, end] = [markdown.indexOf(BEGIN), markdown.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/${page} has no lines "${BEGIN}" and "${END}".`);
  return `${markdown.slice(0, begin)}${BEGIN}\n\n${table}\n\n${markdown.slice(end)}`;
}
