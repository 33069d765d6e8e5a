/**
 * One guide in every format, and its chunks as the rules give them, worked out on paper before it was ever cut.
 *
 * The rules: no chunk has more tokens than asked for; what fits a chunk is not torn (a paragraph, a table, a fence of code, a
 * row, an object), a heading stays with what it heads, a longer paragraph is cut between sentences; neighbours share as many
 * whole sentences or items as fit the overlap, of tables and code whole rows and lines only. A word or a mark is about a token.
 * Sizes are such that no count near a bound decides: each sum below is at least six tokens away from it.
 */
export const SIZE = 72;
export const OVERLAP = 12;

/** 57 tokens as a table; its rows have 17 and 18, more than may be shared. */
export const FEES = [
  ['Boat', 'Fee for a night'],
  ['Small boats, below eight metres', '10 euros, with water and power'],
  ['Boats that are longer than that', '25 euros, and 5 for each guest'],
] as const;

/** 16, 18, 18 and 8 tokens: 60 together, which fit a chunk, with a heading too. */
export const ARRIVAL = [
  'Call the harbour office on channel fourteen as soon as you can see the lighthouse.',
  'The office answers from six in the morning until ten at night, in winter until eight.',
  'Moor where you are told, and leave the inner quay to the lifeboat.',
  'Wait for an answer before you enter.',
] as const;

/** 20, 17, 7, 38 and 11 tokens: 93 together, which do not fit; nor does the first one behind the 60 of the arrival. */
export const STORMS = [
  'When the red flag is up, the entrance is closed for everybody and nobody may leave the harbour.',
  'Double your lines, take down the sails and help those who lie next to you.',
  'Nobody stays on board at night.',
  'The gates of the inner basin are shut two hours before the storm is expected to arrive, and they are opened again only when the harbour master has walked along both of the piers in daylight.',
  'Damage is reported to the office on the same day.',
] as const;

/** About 40 tokens: no room behind 56, room behind the last sentence of the storms. Neither its gap nor its remark ends it. */
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

/** What stands between two sentences of a paragraph, or before each of them where they are the points of a list. */
interface Shape {
  readonly headings: boolean;
  readonly table: boolean;
  readonly code: boolean;
  readonly points?: boolean;
}

/**
 * The chunks of the guide:
 * 1. the table (57 and a heading of 3), behind which the arrival (60) has no room;
 * 2. the arrival (60, with its heading 64), whole, nothing of the table shared, since a row is too long for that;
 * 3. the last sentence of the arrival (8) and of the storms as much as there is room for: 20 + 17 + 7, but not 38 more;
 * 4. of that again the last sentence (7), and the rest: 38 + 11;
 * 5. the last sentence of that (11) and the code (40) under its heading.
 */
export function guideChunks({ headings, table, code, points = false }: Shape): string[] {
  const head = (title: string): string => (headings ? `# ${title}\n\n` : '');
  const said = (sentences: readonly string[]): string =>
    points ? sentences.map((sentence) => `- ${sentence}`).join('\n') : sentences.join(' ');
  return [
    ...(table ? [`${head('Fees')}${TABLE}`] : []),
    `${head('Arrival')}${said(ARRIVAL)}`,
    `${said([wait])}\n\n${head('Storms')}${said([flag, lines, night])}`,
    said([night, gates, damage]),
    ...(code ? [`${said([damage])}\n\n${head('Lamps')}\`\`\`sh\n${LAMPS}\n\`\`\``] : []),
  ];
}

/** Of rows and objects: each about 25 tokens, so that two fit and three do not; more than the overlap. */
export const ROW_SIZE = 60;
export const QUAYS = [
  ['Place', 'Depth', 'Rule'],
  ['Inner basin', '3.5', 'No anchors, and no engines after ten at night'],
  ['North quay', '2.8', 'Fishing boats first, all the others after noon only'],
  ['South quay', '2.1', 'Guests for one night, unless the office says more'],
  ['Fuel berth', '4.2', 'No smoking, and nobody lies here over the night'],
  ['Slipway', '0.5', 'Cars and trailers leave as soon as they can'],
] as const;

/** Each row or object written, as it must be read. */
const rowsAs = (separator: string, name: (header: string) => string): string[] =>
  QUAYS.slice(1).map((row) => row.map((value, nth) => `${name(QUAYS[0][nth] ?? '')}: ${value}`).join(separator));

/** Two by two, or, with max_items_per_chunk 1, one by one. */
export function rowChunks(kind: 'rows' | 'objects', perChunk: 1 | 2): string[] {
  const items = kind === 'rows' ? rowsAs(', ', String) : rowsAs('\n', (header) => header.toLowerCase());
  if (perChunk === 1) return items;
  const between = kind === 'rows' ? '\n' : '\n\n';
  return [items.slice(0, 2), items.slice(2, 4), items.slice(4)].map((pair) => pair.join(between));
}
