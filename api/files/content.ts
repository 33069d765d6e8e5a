import Joi from 'joi';

import type { Store } from '../../store/connect.js';
import { HttpError, notFound } from '../http/errors.js';
import { FileAnswer, operation } from '../http/operation.js';
import { CONTENT_PATH, type ContentRef } from '../http/identity/signedUrls.js';

const READERS: Readonly<Record<ContentRef['kind'], (ref: ContentRef, store: Stores) => Promise<Stored | null>>> = {
  raw: (ref, store) => store.contents.get(ref),
  txt: (ref, store) => store.chunks.parsedText(ref, ref.generation),
  original: (ref, store) => store.originals.stream(ref, ref.generation),
};
type Stored = Uint8Array | AsyncIterable<Uint8Array>;
type Stores = Pick<Store, 'contents' | 'chunks' | 'originals'>;

/** GET /content/…: returns stored content to the holder of a presigned URL. */
export const content = operation({
  method: 'get',
  path: CONTENT_PATH,
  operationId: 'get_content',
  tag: 'Files',
  auth: 'open',
  summary: 'Download stored content',
  description: [
    'Returns the original or the parsed text of a file to the holder of a presigned URL. Do not build these URLs: take them from `presigned_url` or `parsed_text_url` of a file, from a search, or from `GET /raw_file/{file_id}`. The signature replaces other credentials. A URL that was changed or has expired returns 403. A re-sync invalidates URLs of content that it replaces (404), a deletion all of them: list the file again.',
  ],
  returns: 'Bytes of the original, or the extracted text, as they are stored.',
  errors: {
    403: 'The URL was changed or has expired. List the file again for a fresh one.',
    404: 'The content was replaced by a re-sync, or deleted. List the file again for a fresh URL.',
    422: 'A parameter is repeated or empty. Use the URL as the list of files has it.',
  },
  query: Joi.object({
    key: Joi.string().description(
      'Part of a presigned URL: id of the server key that signed it. Use the whole URL as the service returned it.',
    ),
    expires: Joi.string().description(
      'Part of a presigned URL: time at which it expires, in seconds since 1970. A changed value returns 403.',
    ),
    signature: Joi.string().description(
      'Part of a presigned URL: HMAC-SHA256 of its path and expiry time, in base64url. Only the server can create it.',
    ),
  }),
  answer: Joi.any(),
  answersContent: true,
  async handle({ params, query, deps: { signedUrls, store } }) {
    const ref = signedUrls.read(params, query);
    if (!ref) throw new HttpError(403, 'This link is not valid, or has expired. List the file again for a fresh one.');
    const stored = await READERS[ref.kind](ref, store);
    if (stored === null)
      throw notFound('content; the file was synced again or deleted. List it again for a fresh link');
    return new FileAnswer(stored, ref.kind === 'txt' ? 'text/plain; charset=utf-8' : 'application/octet-stream');
  },
});
