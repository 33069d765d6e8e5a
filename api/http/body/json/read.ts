import { isUtf8 } from 'node:buffer';
import type { RequestHandler } from 'express';
import { raw } from 'express';

import { HttpError, invalid } from '../../errors.js';
import type { JsonLimits } from './limits.js';
import { nextTurn } from './nextTurn.js';
import { parseJson } from './parse.js';

/** Other requests run between the steps of processing a body of this size or more. */
export const LARGE_BODY_BYTES = 1_000_000;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Returns the charset of a media type in lower case; utf-8 by default. */
function charsetOf(contentType = ''): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? [];
  return (quoted ?? plain ?? 'utf-8').toLowerCase();
}

const decode: (limits: JsonLimits) => RequestHandler = (limits) => async (request, response, next) => {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes)) return next();
  response.locals['bodyBytes'] = bytes.length;
  // RFC 8259 allows only UTF-8.
  if (!['utf-8', 'utf8'].includes(charsetOf(request.headers['content-type'])))
    throw new HttpError(415, 'Send the body as UTF-8.');
  // Decoding would insert replacement characters.
  if (!isUtf8(bytes)) throw invalid(['body'], 'The body is not valid UTF-8', 'json_invalid');
  request.body = {};
  const text = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
  try {
    if (text.length > 0) request.body = await parseJson(text, limits);
  } catch (error) {
    // The message of the parser contains parts of the body.
    throw error instanceof SyntaxError ? invalid(['body'], 'The body is not valid JSON', 'json_invalid') : error;
  }
  await yieldAfter(bytes.length);
  next();
};

/** Lets other requests run between two steps of processing a large body. */
export const yieldAfter = async (bodyBytes: unknown): Promise<void> => {
  if (typeof bodyBytes === 'number' && bodyBytes >= LARGE_BODY_BYTES) await nextTurn();
};

/**
 * Parses a JSON body into `request.body`; an empty body becomes an empty object.
 * @param maxBytes maximum size after decompression; above it the response is 413
 */
export const readJson = (maxBytes: number, limits: JsonLimits): RequestHandler[] => [
  raw({ limit: maxBytes, type: 'application/json' }),
  decode(limits),
];
