/**
 * The words of a source's API, which its recordings keep. They are derived from the code of the connector and of the
 * modules in connectors/ that it imports: this code is public, and the connector depends on few other values. Those are
 * added: media types, names of markup, `true`, `false` and `null`, parts of the source's URLs, and RECORDED_TERMS.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { FILE_FORMATS } from '../../../contract/files/fileFormats.js';
import { RECORDED_TERMS, type RecordedTerms } from '../../../contract/sources/recordedTerms.js';

export interface Vocabulary {
  /** Values that may be kept: string literals of the code, and keys of its objects, such as those of lookup tables. */
  readonly values: ReadonlySet<string>;
  /** Names that may be kept, of fields, elements and parameters: identifiers, and words of string literals. */
  readonly names: ReadonlySet<string>;
  /** Prefixes of ids that may be kept, such as `Label_`. */
  readonly idPrefixes: readonly string[];
  readonly terms: RecordedTerms;
}

const CONNECTORS = fileURLToPath(new URL('../../../connectors/', import.meta.url));
/** Reads a module: TypeScript in a checkout, JavaScript in dist/. */
const readModule = (file: string): string => {
  const source = file.replace(/\.js$/, '.ts');
  return readFileSync(existsSync(source) ? source : file, 'utf8');
};
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
/** String literals within one line: otherwise a regular expression with a quote would hide the literals after it. */
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g;
const KEY = /(?<![\w.'"`$])([a-z_]\w{0,59}):/gi;
const NAME = /[\p{L}\d_$@][\p{L}\d_$@.-]*/gu;
const ID_PREFIX = /^[\w.$/]{1,60}[_:/.-]$/;
const IMPORT = /from\s*["'](\.{1,2}\/[^"']+)["']/g;

/** Returns the code of a connector: its module, and all that it imports from connectors/. */
function codeOf(source: ConnectedSourceType): string {
  const catalogue = readModule(path.join(CONNECTORS, 'catalogue.js'));
  const name = new RegExp(`^\\s+${source}: (\\w+),?$`, 'm').exec(catalogue)?.[1];
  const module = new RegExp(`import \\{ ${name} \\} from ["'](.+)["']`).exec(catalogue)?.[1];
  if (name === undefined || module === undefined) throw new Error(`connectors/catalogue.ts has no line of ${source}`);
  const open = [path.join(CONNECTORS, module)];
  const seen = new Set(open);
  const parts: string[] = [];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const text = readModule(file);
    parts.push(text);
    for (const [, to = ''] of text.matchAll(IMPORT)) {
      const next = path.join(path.dirname(file), to);
      if (!next.startsWith(CONNECTORS) || seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return parts.join('\n');
}

/** Names of markup that contents of any source may have. */
const MARKUP = (
  'html head body title meta link style script p div span a b i em strong u s br hr h1 h2 h3 h4 h5 h6 ul ol li table ' +
  'thead tbody tr th td img pre code blockquote sup sub figure figcaption iframe font href src class id alt width ' +
  'height target rel colspan rowspan name content charset lang xmlns version encoding'
).split(' ');

const vocabularies = new Map<ConnectedSourceType, Vocabulary>();

/** Returns the vocabulary of a source. */
export function vocabularyOf(source: ConnectedSourceType): Vocabulary {
  const cached = vocabularies.get(source);
  if (cached) return cached;
  const terms = RECORDED_TERMS[source] ?? {};
  const code = codeOf(source)
    .split('\n')
    .filter((line) => !COMMENT.test(line))
    .join('\n');
  const segments = Object.values(CONNECTED_SOURCES[source].urls).flatMap((url) => url.split('/').slice(3));
  const values = new Set([...segments, ...(terms.words ?? []), 'true', 'false', 'null']);
  const names = new Set([...segments, ...(terms.words ?? []), ...MARKUP]);
  for (const { mimeTypes } of Object.values(FILE_FORMATS)) for (const type of mimeTypes) values.add(type);
  for (const [, single, double, template] of code.matchAll(LITERAL)) {
    const text = single ?? double ?? template ?? '';
    if (text.length <= 120) values.add(text);
  }
  for (const [, key = ''] of code.matchAll(KEY)) values.add(key);
  for (const [word] of code.matchAll(NAME)) {
    names.add(word);
    for (const part of word.split('.')) names.add(part);
  }
  const idPrefixes = [...values].filter((value) => ID_PREFIX.test(value));
  const vocabulary = { values, names, idPrefixes, terms };
  vocabularies.set(source, vocabulary);
  return vocabulary;
}
