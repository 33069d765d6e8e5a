/**
 * One guide in every format, and its chunks, which were determined by hand before the first run.
 *
 * The rules:
 * - No chunk exceeds the chunk size.
 * - Paragraphs, tables, code blocks, rows and objects that fit a chunk are not split.
 * - A heading stays with the text below it.
 * - A longer paragraph is cut between sentences.
 * - Neighbouring chunks share as many whole sentences or items as fit the overlap; tables and code share whole rows and
 * lines.
 *
 * A word or a punctuation mark is about one token. Each sum below is at least six tokens away from the chunk size.
 */
export const SIZE = 72;
export const OVERLAP = 12;

/** 57 tokens as a table. Its rows have 17 and 18 tokens, more than the overlap. */
export const FEES = [
  ['Boat', 'Fee for a night'],
  ['Small boats, below eight metres', '10 euros, with water and power'],
  ['Boats that are longer than that', '25 euros, and 5 for each guest'],
] as const;

/** 16, 18, 18 and 8 tokens, 60 in total: fits a chunk, even with a heading. */
export const ARRIVAL = [
  'Call the harbour office on channel fourteen as soon as you can see the lighthouse.',
  'The office answers from six in the morning until ten at night, in winter until eight.',
  'Moor where the office says, and leave the inner quay to the lifeboat.',
  'Wait for an answer before you enter.',
] as const;

/**
 * 20, 17, 7, 38 and 11 tokens, 93 in total: does not fit a chunk. The first sentence does not fit after the 60 tokens
 * of ARRIVAL.
 */
export const STORMS = [
  'When the red flag is up, the entrance is closed for everybody and no boat leaves the harbour.',
  'Double your lines, take down the sails and help the boats next to your own.',
  'The boats stay empty at night.',
  'The gates of the inner basin are shut two hours before the storm is expected to arrive, and they are opened again only when the harbour master has walked along both of the piers in daylight.',
  'Damage is reported to the office on the same day.',
] as const;

/**
 * About 40 tokens: fits after the last sentence of STORMS (11), not after chunk 4 (56). Its blank line and its comment
 * do not end the code.
 */
export const LAMPS = `lamp --all --off
lamp --pier north --colour red

# When it is light again
lamp --pier north --colour white
lamp --all --on`;

const [wait, [flag, lines, night, gates, damage]] = [ARRIVAL[3], STORMS];
export const TABLE = [
  `| ${FEES[0].join(' | ')} |`,
  '| --- | --- |',
  ...FEES.slice(1).map((row) => `| ${row.join(' | ')} |`),
].join('\n');

/** Parts of the guide that a format can express. With `points`, each sentence is an item of a list. */
interface GuideParts {
  readonly headings: boolean;
  readonly table: boolean;
  readonly code: boolean;
  readonly points?: boolean;
}

/**
 * Returns the chunks of the guide:
 * 1. TABLE (57, and a heading of 3). ARRIVAL (60) does not fit after it.
 * 2. The whole of ARRIVAL (60, with its heading 64). No row of the table is shared: a row exceeds the overlap.
 * 3. The last sentence of ARRIVAL (8), and the sentences of STORMS that fit: 20 + 17 + 7, but not 38 more.
 * 4. The last sentence of chunk 3 (7), and the rest of STORMS: 38 + 11.
 * 5. The last sentence of chunk 4 (11), and the code (40) under its heading.
 */
export function guideChunks({ headings, table, code, points = false }: GuideParts): string[] {
  const head = (title: string): string => (headings ? `# ${title}\n\n` : '');
  const join = (sentences: readonly string[]): string =>
    points ? sentences.map((sentence) => `- ${sentence}`).join('\n') : sentences.join(' ');
  return [
    ...(table ? [`${head('Fees')}${TABLE}`] : []),
    `${head('Arrival')}${join(ARRIVAL)}`,
    `${join([wait])}\n\n${head('Storms')}${join([flag, lines, night])}`,
    join([night, gates, damage]),
    ...(code ? [`${join([damage])}\n\n${head('Lamps')}\`\`\`sh\n${LAMPS}\n\`\`\``] : []),
  ];
}

/** Chunk size for rows and objects. Each has about 25 tokens: more than the overlap; two fit a chunk, three do not. */
export const ROW_SIZE = 60;
export const QUAYS = [
  ['Place', 'Depth', 'Rule'],
  ['Inner basin', '3.5', 'No anchors, and no engines after ten at night'],
  ['North quay', '2.8', 'Fishing boats first, all the others after noon only'],
  ['South quay', '2.1', 'Guests for one night, unless the office says more'],
  ['Fuel berth', '4.2', 'No smoking, and no boats here over the night'],
  ['Slipway', '0.5', 'Cars and trailers leave as soon as they can'],
] as const;

/** Returns the expected text of each row or object. */
const rowsAs = (separator: string, name: (header: string) => string): string[] =>
  QUAYS.slice(1).map((row) => row.map((value, nth) => `${name(QUAYS[0][nth] ?? '')}: ${value}`).join(separator));

/** Returns the expected chunks: two items each, or one each with max_items_per_chunk 1. */
export function rowChunks(kind: 'rows' | 'objects', perChunk: 1 | 2): string[] {
  const items = kind === 'rows' ? rowsAs(', ', String) : rowsAs('\n', (header) => header.toLowerCase());
  if (perChunk === 1) return items;
  const between = kind === 'rows' ? '\n' : '\n\n';
  return [items.slice(0, 2), items.slice(2, 4), items.slice(4)].map((pair) => pair.join(between));
}
