import Joi from 'joi';

import { Fault } from '../../contract/failures.js';
import { operation } from '../http/operation.js';
import { upstream } from '../upstream.js';
import { named } from '../schemas/reference.js';

const VIDEO_ID = /^[\w-]{11}$/;

const nullableText = () => Joi.string().allow('', null);
const answer = named(
  'YoutubeTranscriptResponse',
  Joi.object({
    status: Joi.string().required(),
    error: nullableText(),
    data: nullableText(),
    raw_transcript: Joi.array()
      .items(Joi.object().pattern(Joi.string(), Joi.alternatives(Joi.string().allow(''), Joi.number())))
      .allow(null),
  }),
);

const failed = (error: string) => ({ status: 'error', error, data: null, raw_transcript: null });

/** GET /fetch_youtube_transcript: returns the transcript of a video; with raw, line by line. */
export const fetchYoutubeTranscript = operation({
  method: 'get',
  path: '/fetch_youtube_transcript',
  operationId: 'fetch_youtube_transcripts_fetch_youtube_transcript_get',
  tag: 'Utilities',
  auth: 'user',
  summary: 'Fetches the transcript of a video on YouTube.',
  description: '',
  query: Joi.object({
    id: Joi.string().pattern(VIDEO_ID, 'the id of a video: the 11 characters after v= in its address').required(),
    raw: Joi.boolean().default(false),
  })
    // Name used by published front-ends.
    .rename('video_id', 'id', { ignoreUndefined: true, override: true }),
  answer,
  handle: ({ query, deps: { lookups } }) =>
    upstream(async () => {
      try {
        const lines = await lookups.videoTranscripts().transcript(query.id);
        if (lines === null) return failed('The video has no transcript.');
        return {
          status: 'success',
          error: null,
          data: lines.map(({ text }) => text).join(' '),
          raw_transcript: query.raw ? lines : null,
        };
      } catch (error) {
        // A missing transcript is a valid result, not an error of the service.
        if (error instanceof Fault && error.kind === 'not_found') return failed(error.message);
        throw error;
      }
    }),
});
