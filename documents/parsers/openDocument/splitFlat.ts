import type { Archive } from '../../office/openArchive.js';
import { xmlText } from '../../office/readXml.js';

/** The parts of a flat OpenDocument file, as an archive would contain them. */
export interface FlatParts {
  readonly archive: Archive;
  readonly content: Buffer;
  readonly styles: Buffer;
  readonly meta: Buffer | null;
}

/** Matches an object or the bytes of a picture, which the archive form stores in separate members. */
const STORED_APART = /<((?:[\w-]+:)?)(object|binary-data)(?:\s[^<>]*)?>/g;
const ROOT = /<((?:[\w-]+:)?document)(?:\s[^<>]*)?>/;
const META = /<((?:[\w-]+:)?meta)(?:\s[^<>]*)?>.*?<\/\1>/s;
const BODY = /<(?:[\w-]+:)?body(?:\s[^<>]*)?>/;
/** Matches the text before a picture that only shows the object before it. */
const OBJECT_PICTURE = /<\/(?:[\w-]+:)?object(?:-ole)?>\s*<(?:[\w-]+:)?image(?:\s[^<>]*)?>\s*$/;
/** Matches the text before the bytes of an OLE object. */
const FOREIGN_OBJECT = /<(?:[\w-]+:)?object-ole(?:\s[^<>]*)?>\s*$/;
/**
 * Number of characters before a picture to which OBJECT_PICTURE and FOREIGN_OBJECT are applied; LibreOffice writes
 * fewer than 200 per element.
 */
const LOOK_BEHIND = 2000;

/**
 * Splits a flat OpenDocument file (part 3, 2.1 of version 1.3: https://docs.oasis-open.org/office/OpenDocument/v1.3/),
 * one XML document, into the parts of the archive form. Returns null if it has no body.
 */
export function splitFlat(bytes: Uint8Array): FlatParts | null {
  const members = new Map<string, Buffer>();
  const text = withoutParts(xmlText(bytes), members);
  const root = ROOT.exec(text)?.[1];
  const body = BODY.exec(text);
  if (root === undefined || body === null) return null;
  const head = text.slice(0, body.index);
  const meta = META.exec(head)?.[0];
  return {
    archive: {
      names: [...members.keys()],
      has: (name) => members.has(name),
      read: async (name) => members.get(name) ?? Buffer.alloc(0),
    },
    content: Buffer.from(`<${root}>${text.slice(body.index)}`),
    styles: Buffer.from(`${head}</${root}>`),
    meta: meta === undefined ? null : Buffer.from(meta),
  };
}

/**
 * Replaces each object by a reference to a member with its XML, and each picture by an empty member. A picture that
 * only shows an object gets no member.
 */
function withoutParts(text: string, members: Map<string, Buffer>): string {
  let [rest, from] = ['', 0];
  STORED_APART.lastIndex = 0;
  for (let found = STORED_APART.exec(text); found !== null; found = STORED_APART.exec(text)) {
    const [tag, prefix = '', name = ''] = found;
    if (tag.endsWith('/>')) continue;
    const start = found.index + tag.length;
    const end = endOf(text, `${prefix}${name}`, start);
    // A file without the end tag is not well-formed; its reader reports that.
    if (end < 0) break;
    const number = members.size + 1;
    if (name === 'object') {
      members.set(`object ${number}/content.xml`, Buffer.from(text.slice(start, end)));
      rest += `${text.slice(from, found.index)}${tag.slice(0, -1)} xlink:href="object ${number}">`;
    } else {
      const before = text.slice(Math.max(0, found.index - LOOK_BEHIND), found.index);
      if (FOREIGN_OBJECT.test(before)) members.set(`object ${number}`, Buffer.alloc(0));
      else if (!OBJECT_PICTURE.test(before)) members.set(`pictures/${number}.png`, Buffer.alloc(0));
      rest += text.slice(from, start);
    }
    from = end;
    STORED_APART.lastIndex = end;
  }
  return rest + text.slice(from);
}

/** Returns where the end tag of an open element begins; -1 if it has none. Objects may contain objects. */
function endOf(text: string, name: string, start: number): number {
  const tags = new RegExp(`<(/?)${name}(?:\\s[^<>]*)?>`, 'g');
  tags.lastIndex = start;
  let depth = 1;
  for (let found = tags.exec(text); found !== null; found = tags.exec(text)) {
    if (found[1] === '/') depth -= 1;
    else if (!found[0].endsWith('/>')) depth += 1;
    if (depth === 0) return found.index;
  }
  return -1;
}
