import { SaxesParser } from 'saxes';

import { Fault } from '../../contract/failures.js';

/** A container or blob in a listing. */
export interface Entry {
  readonly name: string;
  readonly createdAt: Date | null;
  readonly etag: string | null;
  /** Only in accounts with a hierarchical namespace, which list directories like blobs. */
  readonly isDirectory: boolean;
}

export interface Listing {
  readonly entries: readonly Entry[];
  /** Marker of the next page; null after the last one. */
  readonly marker: string | null;
}

/** Maximum nesting of the XML; listings are less deep. */
const MAX_DEPTH = 16;

const unreadable = (cause?: unknown): Fault =>
  new Fault('server_error', 'Azure Blob Storage gave an invalid answer. It is retried automatically.', {
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
    isDirectory: fields.get('ResourceType') === 'directory',
  };
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
    if (name === 'Name') isEncoded = attributes['Encoded'] === 'true';
  });
  parser.on('text', (text) => {
    const field = path.at(-1) ?? '';
    if (path.length === 2 && field === 'NextMarker') marker += text;
    // The name is a child of the entry; the other fields are children of its properties.
    if (path.length > 3) fields.set(field, (fields.get(field) ?? '') + text);
  });
  parser.on('closetag', ({ name }) => {
    const isEntry = path.length === 3 && (name === 'Container' || name === 'Blob');
    path.pop();
    if (name === 'Name' && isEncoded) fields.set('Name', decodeURIComponent(fields.get('Name') ?? ''));
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
