/**
 * Finds the encoding that a page declares in its first bytes, by the prescan of the HTML standard
 * (https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding).
 */

/** Bytes in which the standard's prescan searches. */
const PRESCAN_BYTES = 1024;
/** Bytes in which later meta elements are searched: a browser's parser changes the encoding at such an element too. */
const LATE_BYTES = 16 * 1024;

/** Returns the declared label in lower case, or null. Comments and the attributes of other elements do not count. */
export function prescanMeta(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, LATE_BYTES)).toString('latin1');
  // Every declaration contains one of these words, and the search is faster than reading the tags.
  return /charset|encoding/i.test(head) ? (metaLabel(head) ?? xmlLabel(head.slice(0, PRESCAN_BYTES))) : null;
}

/** The rest of a tag after its name. The alternatives begin differently, so the pattern matches in linear time. */
const REST_OF_TAG = /((?:"[^"]*"|'[^']*'|[^"'>])*)>/y;

function metaLabel(head: string): string | null {
  for (let at = head.indexOf('<'); at !== -1; at = head.indexOf('<', at)) {
    const name = /^(?:!--|\/?[a-z]+)/i.exec(head.slice(at + 1, at + 8))?.[0].toLowerCase();
    let end: number;
    if (name === '!--') {
      end = head.indexOf('-->', at + 2);
    } else if (name === undefined) {
      end = at + 1;
    } else {
      REST_OF_TAG.lastIndex = at + 1 + name.length;
      const attributes = REST_OF_TAG.exec(head)?.[1];
      const label = name === 'meta' && attributes !== undefined ? labelIn(attributes) : null;
      if (label !== null) return label;
      end = attributes === undefined ? -1 : REST_OF_TAG.lastIndex;
    }
    // An unclosed comment or tag hides the rest of the page.
    if (end === -1) return null;
    at = end;
  }
  return null;
}

const ATTRIBUTES = /([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]*)))?/g;

function labelIn(text: string): string | null {
  const found = new Map<string, string>();
  for (const [, name = '', double, single, bare] of text.matchAll(ATTRIBUTES)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, double ?? single ?? bare ?? '');
  }
  const charset = found.get('charset')?.trim();
  if (charset) return asDeclared(charset);
  // The standard requires http-equiv="content-type"; browsers ignore other elements.
  if (found.get('http-equiv')?.trim().toLowerCase() !== 'content-type') return null;
  const content = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(found.get('content') ?? '');
  const label = (content?.[1] ?? content?.[2] ?? content?.[3] ?? '').trim();
  return label === '' ? null : asDeclared(label);
}

function xmlLabel(head: string): string | null {
  const label = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)["']/i.exec(head)?.[1];
  return label === undefined ? null : asDeclared(label);
}

/** Returns the label as the standard changes it: a declaration that was readable as ASCII cannot be UTF-16. */
function asDeclared(label: string): string {
  const name = label.trim().toLowerCase();
  if (/^(?:utf-16|ucs-2|unicode$|csunicode|iso-10646-ucs-2)/.test(name)) return 'utf-8';
  return name === 'x-user-defined' ? 'windows-1252' : name;
}

/** Returns the language subtag of the page's html element in lower case, or null. */
export function declaredLanguage(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PRESCAN_BYTES)).toString(
    'latin1',
  );
  return /<html\s[^>]*?\blang\s*=\s*["']?([a-z]{2,3})\b/i.exec(head)?.[1]?.toLowerCase() ?? null;
}
