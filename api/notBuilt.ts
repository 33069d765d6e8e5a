import Joi from 'joi';

import { notBuilt } from './http/errors.js';
import { type AuthScheme, type Operation, operation } from './http/operation.js';

/** Operations of the public contract that are not built yet: each answers 501, never a made-up result. Shrinks until it is gone. */
const REMAINING: readonly (readonly [method: Operation['method'], path: string, auth: AuthScheme])[] = [
  ['get', '/fetch_youtube_transcript', 'user'],
  ['get', '/search_urls', 'user'],
];

export const notBuiltOperations: readonly Operation[] = REMAINING.map(([method, path, auth]) =>
  operation({
    method,
    path,
    auth,
    summary: 'Not available in this version: answers 501.',
    answer: Joi.any(),
    // oxlint-disable-next-line require-await
    async handle() {
      throw notBuilt('This operation');
    },
  }),
);
