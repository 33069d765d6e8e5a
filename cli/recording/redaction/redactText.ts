/**
 * Redaction of texts. The words of a text are replaced one by one, and the characters between them stay. Joining and
 * splitting ids at such characters therefore gives the same result before and after the redaction, so a connector
 * continues to work with redacted responses.
 */
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { FILE_FORMATS } from '../../../contract/files/fileFormats.js';
import type { Pseudonyms } from './pseudonyms.js';
import { shiftTime, TIME } from './times.js';
import type { Vocabulary } from './vocabulary.js';
import { decode, WORD } from './words.js';

export interface TextRedaction {
  /**
   * Redacts a value of a response. A term of the API stays, and so does the prefix of an id. A URL is redacted like by
   * `url`, any other text like by `prose`.
   */
  value(text: string): string;
  /**
   * Redacts prose. All words are replaced, terms of the API included. Numbers of fewer than six digits, named character
   * entities (`&amp;`) and extensions of file names stay. Times are shifted, and URLs are redacted like by `url`.
   */
  prose(text: string): string;
  /** Redacts an address; the hosts and parameters of the API stay. Placeholders, `{tenant}`, stay too. */
  url(text: string): string;
  /** Redacts the name of a field or element. */
  name(text: string): string;
  /** Returns a media type unchanged, and records that it is kept. */
  keep(type: string): string;
  /** The media types that were kept. */
  readonly kept: ReadonlySet<string>;
  readonly vocabulary: Vocabulary;
  readonly pseudonyms: Pseudonyms;
  readonly offsetMs: number;
}

export interface TextSettings {
  readonly source: ConnectedSourceType;
  readonly vocabulary: Vocabulary;
  readonly pseudonyms: Pseudonyms;
  /** Shift of all times: whole days. */
  readonly offsetMs: number;
  /** Hosts, with their ports, to which requests were sent. A host in any text is redacted like the host of a URL. */
  readonly hosts: ReadonlySet<string>;
}

const URL_TEXT = /https?:\/\/[^\s"'<>\\)\]}|]+/iu;
const EMAIL = /[\p{L}\d_.+-]+@[\p{L}\d-]+(?:\.[\p{L}\d-]+)*/u;
const HOST = /[a-z\d-]+(?:\.[a-z\d-]+)+(?::\d+)?/iu;
const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp|#\d+|#x[\da-f]+);/iu;
export const EXTENSIONS = Object.values(FILE_FORMATS).flatMap(({ extensions }) => Object.keys(extensions));
const EXTENSION = new RegExp(`(?<=[^\\s.])\\.(?:${EXTENSIONS.join('|')})(?![\\p{L}\\p{N}_.@])`, 'iu');
const PART = new RegExp(
  [URL_TEXT, TIME, EMAIL, ENTITY, EXTENSION, HOST, WORD].map((pattern) => pattern.source).join('|'),
  'giu',
);
/** The parts of a dotted name that is not a known host. */
const NAME_PART = new RegExp(`${EXTENSION.source}|${WORD.source}`, 'giu');
const LABEL_WORD = new RegExp(WORD.source, 'gu');
const whole = (pattern: RegExp): RegExp => new RegExp(`^(?:${pattern.source})$`, 'iu');
const [IS_URL, IS_TIME, IS_EMAIL, IS_ENTITY, IS_EXTENSION, IS_HOST] = [
  ...[URL_TEXT, TIME, EMAIL, ENTITY].map(whole),
  /^\.[^.]+$/,
  whole(HOST),
] as [RegExp, RegExp, RegExp, RegExp, RegExp, RegExp];
const ADDRESS = /^(?:(https?:\/\/)(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/isu;
/** A single word, such as the name of a header, which connectors compare without case. */
const ONE_WORD = /^[A-Za-z-]+$/;
/** A function of OData in a path: `delta(token='1')`. */
const FUNCTION = /^([\w.]+)\((?:(\w+)='?([^'()]*)'?)?\)$/;
const WHOLE_URL = /^https?:\/\/\S+$/i;
/** An address without a host, but with parameters. */
const RELATIVE = /^[/?]\S*[?&][\w.$[\]-]+=/;
/** Characters that URLs may contain without encoding. */
const PLAIN = [...":$@!'()*,;=+&"];

/** Encodes a text like the original: characters that are unencoded in the original stay unencoded. */
function encodeLike(original: string, text: string): string {
  let encoded = encodeURIComponent(text);
  for (const sign of PLAIN) if (original.includes(sign)) encoded = encoded.replaceAll(encodeURIComponent(sign), sign);
  return encoded;
}

/** Returns patterns of the hosts of a source. Their groups match the parts that differ by account. */
function apiHosts(source: ConnectedSourceType, { terms }: Vocabulary): RegExp[] {
  const ofRow = Object.values(CONNECTED_SOURCES[source].urls).map((url) => url.split('/')[2] ?? '');
  const hosts = [...ofRow, ...(terms.hosts ?? [])];
  // A host that consists of a placeholder would match every name.
  return [...new Set(hosts)]
    .filter((host) => !/^\{\w+\}$/.test(host))
    .map((host) => new RegExp(`^${host.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '(.+)')}$`, 'i'));
}

/**
 * Returns a pattern of the placeholders in the addresses of a source, such as `{tenant}`. Other placeholders are
 * content of the account: GitHub's responses contain URL templates.
 */
function placeholdersOf(source: ConnectedSourceType): RegExp {
  const names = Object.values(CONNECTED_SOURCES[source].urls).flatMap((url) => url.match(/\{\w+\}/g) ?? []);
  return names.length === 0 ? /(?!)/ : new RegExp(`(${[...new Set(names)].join('|').replaceAll(/[{}]/g, '\\$&')})`);
}

/** Creates the redaction of texts of one recording. */
export function createTextRedaction({ source, vocabulary, pseudonyms, offsetMs, hosts }: TextSettings): TextRedaction {
  const ownHosts = apiHosts(source, vocabulary);
  const placeholder = placeholdersOf(source);
  const { idPrefix } = vocabulary.terms;
  const word = (text: string): string => {
    const prefix = idPrefix?.exec(text)?.[0] ?? '';
    return prefix + pseudonyms.of(text.slice(prefix.length));
  };
  const host = (text: string): string => {
    for (const pattern of ownHosts) {
      const [, fact] = pattern.exec(text) ?? [];
      if (fact !== undefined) return text.replace(fact, prose(fact));
      if (pattern.test(text)) return text;
    }
    // Labels stay separate, because a connector may compare one with the name of an account.
    const labels = text.toLowerCase().split('.');
    const shown = /^[a-z]+$/.test(labels.at(-1) ?? '') ? labels.slice(0, -1) : [labels.join('x').replace(':', 'x')];
    return [...shown.map((label) => label.replaceAll(LABEL_WORD, word)), 'example.com'].join('.');
  };
  const part = (text: string): string => {
    if (IS_URL.test(text)) return url(text);
    if (IS_TIME.test(text)) return shiftTime(text, offsetMs);
    if (IS_EMAIL.test(text)) {
      const at = text.lastIndexOf('@');
      return `${prose(text.slice(0, at))}@${host(text.slice(at + 1))}`;
    }
    // A numeric entity represents a letter of the text, so it is replaced.
    if (IS_ENTITY.test(text)) return text.includes('#') ? '&#120;' : text;
    if (IS_EXTENSION.test(text)) return text;
    if (hosts.has(text.toLowerCase())) return host(text);
    if (IS_HOST.test(text))
      return text.replaceAll(NAME_PART, (namePart) => (IS_EXTENSION.test(namePart) ? namePart : word(namePart)));
    return word(text);
  };
  function prose(text: string): string {
    return text.replaceAll(PART, part);
  }
  const value = (text: string): string => {
    if (vocabulary.values.has(text) || (ONE_WORD.test(text) && vocabulary.values.has(text.toLowerCase()))) return text;
    if (RELATIVE.test(text) || WHOLE_URL.test(text)) return url(text);
    const prefix = vocabulary.idPrefixes.find((candidate) => text.startsWith(candidate)) ?? '';
    return prefix + prose(text.slice(prefix.length));
  };
  const name = (text: string): string => {
    const bare = text.replaceAll(/^[^\p{L}\d]+|[^\p{L}\d]+$/gu, '');
    return vocabulary.names.has(text) || vocabulary.names.has(bare) ? text : prose(text);
  };
  const segment = (text: string): string => {
    if (placeholder.test(text))
      return text
        .split(placeholder)
        .map((piece) => (placeholder.test(piece) ? piece : segment(piece)))
        .join('');
    const decoded = decode(text);
    const [, called, argument = '', given = ''] = FUNCTION.exec(decoded) ?? [];
    if (called !== undefined)
      return encodeLike(text, `${name(called)}(${argument === '' ? '' : `${name(argument)}='${value(given)}'`})`);
    return vocabulary.names.has(decoded) ? text : encodeLike(text, value(decoded));
  };
  const parameter = (text: string): string => {
    const [key = '', ...rest] = text.split('=');
    const shown = encodeLike(key, name(decode(key)));
    if (rest.length === 0) return shown;
    const given = rest.join('=');
    return `${shown}=${encodeLike(given, value(decode(given.replaceAll('+', ' ')))).replaceAll('%20', given.includes('+') ? '+' : '%20')}`;
  };
  function url(text: string): string {
    const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = ADDRESS.exec(text) ?? [];
    const parameters = query.slice(1).split('&').map(parameter).join('&');
    const shownHost = authority === '' || placeholder.test(authority) ? authority : host(authority);
    return `${scheme.toLowerCase()}${shownHost}${path.split('/').map(segment).join('/')}${query === '' ? '' : `?${parameters}`}${fragment === '' ? '' : `#${prose(fragment.slice(1))}`}`;
  }
  const kept = new Set<string>();
  const keep = (type: string): string => {
    kept.add(type);
    return type;
  };
  return { value, prose, url, name, keep, kept, vocabulary, pseudonyms, offsetMs };
}
