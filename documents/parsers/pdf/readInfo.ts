import { oneLine } from '../../textBuilder.js';

/** Entries of the information dictionary, and their metadata names. */
const ENTRIES: ReadonlyArray<readonly [string, string]> = [
  ['Title', 'title'],
  ['Author', 'author'],
  ['Subject', 'subject'],
  ['Keywords', 'keywords'],
  ['Language', 'language'],
];

/** Returns the metadata that the information dictionary states, and when the document was created. */
export function readInfo(found: { info: object } | null): {
  metadata: Record<string, unknown>;
  created: string | null;
} {
  const info = new Map<string, unknown>(Object.entries(found?.info ?? {}));
  const metadata: Record<string, unknown> = {};
  for (const [entry, key] of ENTRIES) {
    const value = info.get(entry);
    const text = typeof value === 'string' ? oneLine(value).slice(0, 1000) : '';
    if (text !== '') metadata[key] = text;
  }
  const created = pdfDate(info.get('CreationDate'));
  const modified = pdfDate(info.get('ModDate'));
  if (created !== null) metadata['created'] = created;
  if (modified !== null) metadata['modified'] = modified;
  return { metadata, created };
}

/** Converts `D:20240301120000+01'00'` to ISO 8601; null if it is invalid. */
function pdfDate(value: unknown): string | null {
  const parts =
    typeof value === 'string'
      ? /^D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([-+]\d\d)'?(\d\d)?)?/.exec(value)
      : null;
  if (parts === null) return null;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', zone, zoneMinutes = '00'] = parts;
  const offset = zone === undefined ? 'Z' : `${zone}:${zoneMinutes}`;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
