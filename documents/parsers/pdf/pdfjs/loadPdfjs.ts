import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { type ContentReaders, observeContent } from './observeContent.js';

type Library = typeof Pdfjs;

const WORKER = createRequire(import.meta.url).resolve('pdfjs-dist/legacy/build/pdf.worker.mjs');

/** Classes of the worker that read the content of pages. The worker does not export them. */
const READERS: readonly (keyof ContentReaders)[] = [
  'PartialEvaluator',
  'EvaluatorPreprocessor',
  'StateManager',
  'TextState',
];

let loading: Promise<Library> | null = null;

/** Loads PDF.js with its worker in this thread, so that ending this thread or process also ends the parsing. */
export const loadPdfjs = async (): Promise<Library> => (loading ??= withBuiltIns(load));

async function load(): Promise<Library> {
  const worker = await loadWorker();
  Object.assign(globalThis, { pdfjsWorker: worker, FontFace: UnusedFont, DecompressionStream: Decompression });
  const library = await import('pdfjs-dist/legacy/build/pdf.mjs');
  observeContent(worker, library.OPS);
  return library;
}

/**
 * Loads the worker of PDF.js with exports that its package lacks. Without them, each page would have to be parsed a
 * second time for its fonts and lines, which almost doubles the processor time.
 */
async function loadWorker(): Promise<ContentReaders> {
  const code = await readFile(WORKER);
  // Removes the URL of the source map: Node cannot resolve it against a data URL, and would not load the module if
  // source maps are enabled.
  const mapAt = code.lastIndexOf('//# sourceMappingURL=');
  const exports = `\nexport { ${READERS.join(', ')} };\n//# sourceURL=${WORKER}\n`;
  const module = Buffer.concat([mapAt === -1 ? code : code.subarray(0, mapAt), Buffer.from(exports)]);
  return (await import(`data:text/javascript;base64,${module.toString('base64')}`)) as ContentReaders;
}

/**
 * Loads modules and restores the built-in functions that they replace. On Node 20, the legacy build of PDF.js replaces
 * Array.prototype.push and the functions of JSON to work around rare V8 bugs. Its versions are several times slower.
 */
async function withBuiltIns<T>(loadModules: () => Promise<T>): Promise<T> {
  const { parse, stringify } = JSON;
  const { push } = Array.prototype;
  const loaded = await loadModules();
  Object.assign(JSON, { parse, stringify });
  Object.defineProperty(Array.prototype, 'push', { value: push });
  return loaded;
}

/** A font that is loaded but never drawn. */
class UnusedFont {
  readonly loaded = Promise.resolve();
}

const NodeStream = globalThis.DecompressionStream;

/**
 * Replaces DecompressionStream, with which PDF.js decompresses the content of pages. Node's class passes the data in
 * small parts through several streams and another thread, which takes much longer than the decompression.
 */
function Decompression(format: string): object {
  return format === 'deflate' ? inflation() : new NodeStream(format as 'gzip');
}

/**
 * Returns the parts of a DecompressionStream that PDF.js uses. After an error, PDF.js itself decompresses the damaged
 * data as far as possible.
 */
function inflation(): object {
  let data: Uint8Array | null = null;
  const write = async (bytes: Uint8Array): Promise<void> => {
    // The copy has the size of the data; zlib's own buffers are larger, and PDF.js keeps them.
    data = Uint8Array.from(inflateSync(bytes));
  };
  async function* read(): AsyncGenerator<Uint8Array> {
    if (data === null) throw new TypeError('The data is broken.');
    yield data;
  }
  return {
    writable: { getWriter: () => ({ ready: Promise.resolve(), write, close: async () => {} }) },
    readable: { [Symbol.asyncIterator]: read },
  };
}
