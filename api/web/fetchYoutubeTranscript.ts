import Joi from 'joi';

import { Fault } from '../../contract/failures.js';
import { operation } from '../http/operation.js';
import { upstream } from '../upstream.js';
import { byName } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

const VIDEO_ID = /^[\w-]{11}$/;

const nullableText = () => Joi.string().allow('', null);
const answer = named(
  'YoutubeTranscriptResponse',
  Joi.object({
    status: Joi.string().required().description('`success`, or `error` if the video has no accessible transcript.'),
    error: nullableText().description('Why no transcript is available, as a sentence. Null with `success`.'),
    data: nullableText().description(
      'Text of all caption lines, separated by spaces, without times. Null with `error`.',
    ),
    raw_transcript: Joi.array()
      .items(byName(Joi.alternatives(Joi.string().allow(''), Joi.number())))
      .allow(null)
      .description(
        'Caption lines, each with `text`, and `start` and `duration` in seconds. Null unless the request sets `raw`.',
      ),
  }).description('Captions of a video, or the reason why it has none.'),
);

const failed = (error: string) => ({ status: 'error', error, data: null, raw_transcript: null });

/** GET /fetch_youtube_transcript: returns the transcript of a video; with raw, line by line. */
export const fetchYoutubeTranscript = operation({
  method: 'get',
  path: '/fetch_youtube_transcript',
  operationId: 'fetch_youtube_transcripts_fetch_youtube_transcript_get',
  tag: 'Utilities',
  auth: 'user',
  summary: 'Fetch the transcript of a YouTube video',
  description: [
    'Returns the captions of a YouTube video. The operator configures the service that provides them (Supadata or Invidious).\n\nNothing is stored: send the text to `POST /upload_text` to search it. A video without an accessible transcript returns 200 with `status: "error"`.',
  ],
  returns: 'Text of the captions; `status` is `error` if the video has none that can be read.',
  errors: {
    400: 'No transcript service is configured: the operator sets SUPADATA_API_KEY or INVIDIOUS_BASE_URL.',
    404: null,
    502: 'The transcript service rejected the request. `detail` says why.',
    503: 'The transcript service, or a store, is busy or does not answer. Retry after `Retry-After` seconds, if given.',
  },
  query: Joi.object({
    id: Joi.string()
      .pattern(VIDEO_ID, 'the id of a video: the 11 characters after v= in its address')
      .required()
      .description('The 11 characters after `v=` in the address of the video.'),
    raw: Joi.boolean()
      .default(false)
      .description(
        '`true`: the response also has `raw_transcript`, the caption lines with `start` and `duration` in seconds.',
      ),
  })
    // Name used by published front-ends.
    .rename('video_id', 'id', { ignoreUndefined: true, override: true }),
  answer,
  handle: ({ query, signal, deps: { lookups } }) =>
    upstream(async () => {
      try {
        const lines = await lookups.videoTranscripts().transcript(query.id, signal);
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
