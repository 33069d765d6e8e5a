import { isUtf8 } from 'node:buffer';
import type { RequestHandler } from 'express';
import { raw } from 'express';

import { HttpError, invalid } from '../errors.js';
import type { JsonLimits } from './limits.js';
import { nextTurn } from './nextTurn.js';
import { parseJson } from './parse.js';

/** Bodies from this size on are processed in several turns of the event loop. */
export const LARGE_BODY_BYTES = 1_000_000;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The charset that a media type names, in lower case; utf-8 where it names none. */
function charsetOf(contentType = ''): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? [];
  return (quoted ?? plain ?? 'utf-8').toLowerCase();
}

const decode: (limits: JsonLimits) => RequestHandler = (limits) => async (request, response, next) => {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes)) return next();
  response.locals['bodyBytes'] = bytes.length;
  // RFC 8259 knows no other.
  if (!['utf-8', 'utf8'].includes(charsetOf(request.headers['content-type'])))
    throw new HttpError(415, 'Send the body as UTF-8.');
  // Decoded, it would hold replacement characters.
  if (!isUtf8(bytes)) throw invalid(['body'], 'The body is not valid UTF-8', 'json_invalid');
  request.body = {};
  const text = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
  try {
    if (text.length > 0) request.body = await parseJson(text, limits);
  } catch (error) {
    // The parser's message quotes the body.
    throw error instanceof SyntaxError ? invalid(['body'], 'The body is not valid JSON', 'json_invalid') : error;
  }
  await restAfter(bytes.length);
  next();
};

/** Lets other requests run between two steps of the work on a large body. */
export const restAfter = async (bodyBytes: unknown): Promise<void> => {
  if (typeof bodyBytes === 'number' && bodyBytes >= LARGE_BODY_BYTES) await nextTurn();
};

/**
 * Reads a JSON body into `request.body`; an empty one is an object without fields.
 * @param maxBytes after decompression; above it the answer is 413
 */
export const readJson = (maxBytes: number, limits: JsonLimits): RequestHandler[] => [
  raw({ limit: maxBytes, type: 'application/json' }),
  decode(limits),
];
