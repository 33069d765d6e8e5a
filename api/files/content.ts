import Joi from 'joi';

import { HttpError, notFound } from '../http/errors.js';
import { FileAnswer, operation } from '../http/operation.js';
import { CONTENT_PATH } from '../http/signedUrls.js';

/** GET /content/…: a stored content, for the holder of a presigned URL. */
export const content = operation<'open', unknown>({
  method: 'get',
  path: CONTENT_PATH,
  auth: 'open',
  summary: 'Serves stored content under a presigned URL.',
  query: Joi.object({ key: Joi.string(), expires: Joi.string(), signature: Joi.string() }),
  answer: Joi.any(),
  async handle({ params, query, deps: { signedUrls, store } }) {
    const ref = signedUrls.read(params, query);
    if (!ref) throw new HttpError(403, 'This link is not valid, or has expired. List the file again for a fresh one.');
    const stored =
      ref.kind === 'raw' ? await store.contents.get(ref) : await store.chunks.parsedText(ref, ref.generation);
    if (stored === null)
      throw notFound('content; the file was synced again or deleted. List it again for a fresh link');
    return new FileAnswer(
      typeof stored === 'string' ? Buffer.from(stored) : stored,
      ref.kind === 'txt' ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    );
  },
});
