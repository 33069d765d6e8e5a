/** Redaction of response bodies: JSON, markup, text. Other bytes are replaced; only their length stays. */
import { EXTENSIONS, type TextRedaction } from './redactText.js';
import { shiftNumber } from './times.js';

const MIME_TYPE =
  /^(?:application|audio|font|image|message|model|multipart|text|video)\/[\w.+-]{1,100}(?:; ?[\w-]+=[\w-]+)?$/;
const EXTENSION_FIELD = /extension|export|format/i;
const TYPE_FIELD = /type|mime|format/i;
const TIME_FIELD = /time|date|created|updated|modified|_at$|At$|^ts$|since|until|expires/i;
/** Integers from this value on are ids or times; smaller ones are sizes, counts and versions. */
const MIN_ID = 100_000;
/** Matches a JSON string, or an integer that a number cannot represent exactly. */
const LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
/** Prefix of a long integer while it is represented by a string. */
const MARK = '\u0001';
const MARKUP = /<(?:!--|\?xml|!DOCTYPE|\/?[a-z][\w:.-]*(?:\s[^<>]*)?\/?>)/i;
const MARKUP_PART = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<[^<>]*>|[^<]+|</g;
const TAG = /^<(\/?)([\w:.-]+)([^<>]*?)(\/?)>$/s;
const ATTRIBUTE = /([\w:.-]+)(?:(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+))?/g;
const PLAIN_DECLARATION =
  /^<\?xml version="1\.\d"(?: encoding="[\w-]{1,20}")?(?: standalone="(?:yes|no)")?\s*\?>$|^<!DOCTYPE html>$/i;

/** Redacts HTML or XML: known names of elements and attributes stay. */
function redactMarkup(text: string, redaction: TextRedaction): string {
  const { value, prose, name } = redaction;
  const tag = (markup: string): string => {
    const [, slash = '', element = '', rest = '', end = ''] = TAG.exec(markup) ?? [];
    if (element === '') return prose(markup);
    const attributes = rest.replaceAll(ATTRIBUTE, (_all, key: string, sign?: string, quoted?: string) => {
      if (sign === undefined || quoted === undefined) return name(key);
      const [quote] = /^["']/.exec(quoted) ?? [''];
      const given = quote === '' ? quoted : quoted.slice(1, -1);
      return `${name(key)}${sign}${quote}${value(given)}${quote}`;
    });
    return `<${slash}${name(element)}${attributes}${end}>`;
  };
  return text.replaceAll(MARKUP_PART, (part) => {
    if (PLAIN_DECLARATION.test(part)) return part;
    if (part.startsWith('<!--')) return '<!-- -->';
    if (part.startsWith('<![CDATA[')) return `<![CDATA[${prose(part.slice(9, -3))}]]>`;
    if (part.startsWith('<')) return tag(part);
    const trimmed = part.trim();
    return trimmed === '' ? part : part.replace(trimmed, () => value(trimmed));
  });
}

/** Redacts a text that may be markup. */
export const redactString = (text: string, redaction: TextRedaction): string =>
  MARKUP.test(text) ? redactMarkup(text, redaction) : redaction.value(text);

function redactNumber(value: number, field: string, { pseudonyms, offsetMs }: TextRedaction): number {
  const shifted = TIME_FIELD.test(field) ? shiftNumber(value, offsetMs) : null;
  if (shifted !== null) return shifted;
  if (!Number.isSafeInteger(value)) return Number.isInteger(value) ? MIN_ID : Math.trunc(value) + 0.5;
  if (Math.abs(value) < MIN_ID) return value;
  return Math.sign(value) * Number(pseudonyms.of(String(Math.abs(value))));
}

/** Redacts a value of a JSON body. @param field the name of the field that contains it */
function redactJson(value: unknown, field: string, redaction: TextRedaction): unknown {
  if (Array.isArray(value)) return value.map((element) => redactJson(element, field, redaction));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [redaction.name(name), redactJson(member, name, redaction)]),
    );
  if (typeof value === 'number') return redactNumber(value, field, redaction);
  if (typeof value !== 'string') return value;
  if (value.startsWith(MARK)) return MARK + redaction.pseudonyms.of(value.slice(1));
  if (TYPE_FIELD.test(field) && MIME_TYPE.test(value)) return redaction.keep(value);
  if (EXTENSION_FIELD.test(field) && EXTENSIONS.includes(value.toLowerCase())) return value;
  if (redaction.vocabulary.terms.base64?.includes(field)) return redactBase64(value, redaction);
  if (TIME_FIELD.test(field) && /^\d{10}$|^\d{13}$/.test(value))
    return String(shiftNumber(Number(value), redaction.offsetMs) ?? redaction.value(value));
  return redactString(value, redaction);
}

function redactBase64(text: string, redaction: TextRedaction): string {
  const redacted = redactContent(Buffer.from(text, 'base64'), redaction);
  return redacted.toString(/[-_]/.test(text) || !/[+/=\n]/.test(text) ? 'base64url' : 'base64');
}

/**
 * Redacts JSON. Long integers are parsed as strings, so that they are not rounded. Returns null if the text is not
 * JSON.
 */
function redactJsonText(text: string, redaction: TextRedaction): string | null {
  const marked = text.replaceAll(LONG_INTEGER, (found) =>
    found.startsWith('"') || found.startsWith('-') ? found : `"\\u0001${found}"`,
  );
  let json: unknown;
  try {
    json = JSON.parse(marked);
  } catch {
    return null;
  }
  const mark = String.raw`\u0001`;
  return JSON.stringify(redactJson(json, '', redaction)).replaceAll(new RegExp(`"\\${mark}(\\d+)"`, 'g'), '$1');
}

/**
 * Redacts the content of an item. If it is not UTF-8 text, or contains a zero byte, all its bytes become zeros: only
 * its length stays.
 */
export function redactContent(bytes: Uint8Array, redaction: TextRedaction): Buffer {
  const text = Buffer.from(bytes).toString();
  if (!Buffer.from(text).equals(bytes) || text.includes('\0')) return Buffer.alloc(bytes.length);
  return Buffer.from(MARKUP.test(text) ? redactMarkup(text, redaction) : redaction.prose(text));
}

/** Redacts a response body. @param type its Content-Type */
export function redactBody(bytes: Uint8Array, type: string, redaction: TextRedaction): Buffer {
  const text = Buffer.from(bytes).toString();
  if (/json/i.test(type) || /^\s*[[{]/.test(text)) {
    const json = redactJsonText(text, redaction);
    if (json !== null) return Buffer.from(json);
  }
  return redactContent(bytes, redaction);
}

/** Returns whether a body is JSON. Such a body is treated as an answer of the API, not as the content of an item. */
export const isJson = (bytes: Uint8Array): boolean => {
  try {
    JSON.parse(Buffer.from(bytes).toString());
    return true;
  } catch {
    return false;
  }
};

/** Returns the response headers that a recording contains. */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  redaction: TextRedaction,
): Record<string, string> {
  const { vocabulary } = redaction;
  const kept = Object.entries(headers).filter(
    ([name]) =>
      (USUAL_HEADERS.has(name) || (vocabulary.values.has(name) && name.includes('-'))) && !SECRET_HEADER.test(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, redactHeader(name, value, redaction)]));
}

const USUAL_HEADERS = new Set(['content-type', 'link', 'location', 'etag', 'last-modified']);
/** Headers that are never recorded: credentials, and rate limits, which would make a replay wait. */
export const SECRET_HEADER = /auth|cookie|token|secret|signature|-key$|limit|backoff|retry/;

const relationOf = (relation: string, { name }: TextRedaction): string =>
  /^(?:next|prev|first|last|self)$/.test(relation) ? relation : name(relation);

function redactHeader(name: string, value: string, redaction: TextRedaction): string {
  if (name === 'content-type') return MIME_TYPE.test(value) ? redaction.keep(value) : redaction.value(value);
  // Relations, rel="next", are terms of HTTP and of the source; other parameters are dropped.
  if (name === 'link')
    return [...value.matchAll(/<([^<>]*)>\s*;\s*rel="?([\w-]{1,20})"?/g)]
      .map(([, url = '', relation = '']) => `<${redaction.url(url.trim())}>; rel="${relationOf(relation, redaction)}"`)
      .join(', ');
  if (name === 'location') return redaction.url(value);
  if (/^[[{]/.test(value)) return redactJsonText(value, redaction) ?? redaction.prose(value);
  return redaction.value(value);
}
