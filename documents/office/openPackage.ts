import { Fault } from '../../contract/failures.js';
import { oneLine } from '../textBuilder.js';
import type { DocumentLimits } from '../types.js';
import { isCompound } from './compoundFile.js';
import { decryptPackage } from './decryptPackage.js';
import { type Archive, encryptedFile, openArchive } from './openArchive.js';
import { readXml } from './readXml.js';

export interface Relation {
  /** The last part of its type: `hyperlink`, `slide`, `notesSlide`… */
  readonly type: string;
  /** The name of a member, or with `external` an address, which is never fetched. */
  readonly target: string;
  readonly external: boolean;
}

/** An Office file: an archive whose members refer to each other. */
export interface Package {
  readonly archive: Archive;
  /** Name of the member with the document itself, such as `word/document.xml`. */
  readonly main: string;
  /** Returns the relations of a member by id. */
  relationsOf(member: string): Promise<ReadonlyMap<string, Relation>>;
  /** Fields for file_metadata that the file states. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created: string | null;
}

/** The member that every Office file has. */
const CONTENT_TYPES = '[Content_Types].xml';

/**
 * Opens an Office file (2007 or later). An encrypted file, which is in the container of the old formats, is opened if
 * its password is Excel's default.
 * @throws Fault broken_content, encrypted or too_large
 */
export async function openPackage(bytes: Uint8Array, limits: DocumentLimits): Promise<Package> {
  const content = isCompound(bytes) ? decryptPackage(bytes, limits) : bytes;
  if (content === null) throw encryptedFile();
  const archive = await openArchive(content, limits);
  // Readers of figures and comments need the same relations as the reader of the member.
  const relationsByPart = new Map<string, Promise<ReadonlyMap<string, Relation>>>();
  const relationsOf = async (member: string): Promise<ReadonlyMap<string, Relation>> => {
    const relations = relationsByPart.get(member) ?? readRelations(archive, member, limits);
    relationsByPart.set(member, relations);
    return relations;
  };
  const root = await relationsOf('');
  const main = [...root.values()].find(({ type }) => type === 'officeDocument')?.target;
  if (main === undefined || !archive.has(main)) throw noDocument(archive);
  const properties = [...root.values()].find(({ type }) => type === 'core-properties')?.target;
  return { archive, main, relationsOf, ...(await readProperties(archive, properties ?? null, limits)) };
}

function noDocument({ names, has }: Archive): Fault {
  if (has(CONTENT_TYPES))
    return new Fault(
      'broken_content',
      'The file is broken: it is an archive without a document in it. Open it in its program, save it again and send that.',
    );
  const [first] = names;
  return new Fault(
    'unsupported_type',
    first === undefined
      ? 'The file is an empty archive. Send its intended contents.'
      : `The file is not an Office file but an archive of other files, the first of them ${oneLine(first).slice(0, 100)}. Unpack it and send its contents.`,
  );
}

async function readRelations(
  archive: Archive,
  member: string,
  limits: DocumentLimits,
): Promise<ReadonlyMap<string, Relation>> {
  const slash = member.lastIndexOf('/');
  const folder = member.slice(0, slash + 1);
  const name = `${folder}_rels/${member.slice(slash + 1)}.rels`;
  const relations = new Map<string, Relation>();
  if (!archive.has(name)) return relations;
  readXml(await archive.read(name), limits, {
    open(element, { Id: id, Type: type, Target: target, TargetMode: mode }) {
      if (element !== 'Relationship' || id === undefined || type === undefined || target === undefined) return;
      const external = mode === 'External';
      relations.set(id, {
        type: type.slice(type.lastIndexOf('/') + 1),
        target: external ? target : memberName(folder, target),
        external,
      });
    },
  });
  return relations;
}

/** Resolves a target: relative to the folder of the referring member, or absolute with a slash. */
function memberName(folder: string, target: string): string {
  const parts: string[] = [];
  for (const part of (target.startsWith('/') ? target : folder + target).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** Elements of the core properties, and their metadata names. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['creator', 'author'],
  ['subject', 'subject'],
  ['keywords', 'keywords'],
  ['description', 'description'],
  ['language', 'language'],
  ['category', 'category'],
  ['lastModifiedBy', 'last_modified_by'],
  ['created', 'created'],
  ['modified', 'modified'],
]);

async function readProperties(
  archive: Archive,
  member: string | null,
  limits: DocumentLimits,
): Promise<Pick<Package, 'metadata' | 'created'>> {
  const metadata: Record<string, unknown> = {};
  if (member === null || !archive.has(member)) return { metadata, created: null };
  let text = '';
  readXml(await archive.read(member), limits, {
    open() {
      text = '';
    },
    text(part) {
      text += part;
    },
    close(element) {
      const key = PROPERTIES.get(element);
      const value = oneLine(text).slice(0, 1000);
      if (key !== undefined && value !== '') metadata[key] = value;
    },
  });
  return { metadata, created: isoDate(metadata['created']) };
}

function isoDate(value: unknown): string | null {
  const date = typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date.toISOString();
}
