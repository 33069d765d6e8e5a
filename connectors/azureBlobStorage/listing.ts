import { SaxesParser } from 'saxes';

import { Fault } from '../../contract/failures.js';

/** A container or blob in a listing. */
export interface Entry {
  readonly name: string;
  readonly createdAt: Date | null;
  readonly etag: string | null;
  /**
   * Whether the entry represents a folder. Accounts with a hierarchical namespace list directories like blobs. On
   * accounts without one, Hadoop's file system stores an empty blob for each directory, marked in its metadata.
   */
  readonly isDirectory: boolean;
}

export interface Listing {
  readonly entries: readonly Entry[];
  /** Marker of the next page; null after the last one. */
  readonly marker: string | null;
}

/**
 * Name of the metadata that marks a folder, in lower case.
 * https://hadoop.apache.org/docs/stable/hadoop-azure/index.html
 */
const FOLDER_MARK = 'hdi_isfolder';
/** Maximum nesting of the XML; listings are less deep. */
const MAX_DEPTH = 16;

const unreadable = (cause?: unknown): Fault =>
  new Fault('server_error', 'Azure Blob Storage gave an invalid answer. The request is retried automatically.', {
    cause,
  });

function dateOf(text: string | undefined): Date | null {
  const date = new Date(text ?? '');
  return Number.isNaN(date.getTime()) ? null : date;
}

function entryOf(fields: ReadonlyMap<string, string>): Entry | null {
  const name = fields.get('Name') ?? '';
  if (name === '') return null;
  return {
    name,
    createdAt: dateOf(fields.get('Creation-Time') ?? fields.get('Last-Modified')),
    etag: fields.get('Etag') || null,
    isDirectory: fields.get('ResourceType') === 'directory' || fields.get(FOLDER_MARK) === 'true',
  };
}

/**
 * Returns the field to store for an XML path; null for other paths. `Name` is a child of the entry, most fields are
 * children of its `Properties`. Users choose the names in `Metadata`, of which only the mark of folders is stored.
 */
function nameIn(path: readonly string[]): string | null {
  const [, , , part = '', field] = path;
  if (path.length === 4) return part === 'Name' ? part : null;
  if (path.length !== 5 || field === undefined) return null;
  if (part === 'Properties') return field;
  return part === 'Metadata' && field.toLowerCase() === FOLDER_MARK ? FOLDER_MARK : null;
}

/** Parses the answer of List Containers or List Blobs. @throws Fault if it is neither */
export function readListing(bytes: Uint8Array): Listing {
  const entries: Entry[] = [];
  const path: string[] = [];
  let fields = new Map<string, string>();
  let isEncoded = false;
  let marker = '';
  const parser = new SaxesParser({ position: false });
  parser.on('doctype', () => {
    throw unreadable();
  });
  parser.on('error', (error) => {
    throw unreadable(error);
  });
  parser.on('opentag', ({ name, attributes }) => {
    path.push(name);
    if (path.length > MAX_DEPTH || path[0] !== 'EnumerationResults') throw unreadable();
    if (path.length === 3) fields = new Map();
    if (path.length === 4 && name === 'Name') isEncoded = attributes['Encoded'] === 'true';
  });
  parser.on('text', (text) => {
    const field = path.at(-1) ?? '';
    if (path.length === 2 && field === 'NextMarker') marker += text;
    const name = nameIn(path);
    if (name !== null) fields.set(name, (fields.get(name) ?? '') + text);
  });
  parser.on('closetag', ({ name }) => {
    const isEntry = path.length === 3 && (name === 'Container' || name === 'Blob');
    const isName = path.length === 4 && name === 'Name';
    path.pop();
    if (isName && isEncoded) fields.set('Name', decodeURIComponent(fields.get('Name') ?? ''));
    const entry = isEntry ? entryOf(fields) : null;
    if (entry) entries.push(entry);
  });
  try {
    parser.write(new TextDecoder().decode(bytes)).close();
  } catch (error) {
    throw error instanceof Fault ? error : unreadable(error);
  }
  return { entries, marker: marker || null };
}
