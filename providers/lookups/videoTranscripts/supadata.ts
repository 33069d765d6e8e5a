/**
 * https://docs.supadata.ai/get-transcript: reads a video's existing captions. It can also generate captions, billed by
 * the minute; this is not used.
 */
import { Fault } from '../../../contract/failures.js';
import { member } from '../../members.js';
import type { ServiceClient, TranscriptLine, TranscriptService } from '../types.js';

/**
 * Interval in milliseconds between two polls of a job. If a transcript takes too long, Supadata returns the id of a job
 * instead, with status 202.
 */
const POLL_MS = 1_000;
/** Error code of Supadata for a video without captions; the status is 206. */
const NO_TRANSCRIPT = 'transcript-unavailable';

const noAccess = {
  kind: 'not_found',
  sentence: 'has no access to this video: it is private or restricted',
} as const;
const notFound = { kind: 'not_found', sentence: 'has no such video' } as const;

export const supadata: TranscriptService = {
  name: 'Supadata',
  urlSetting: 'SUPADATA_BASE_URL',
  keySetting: 'SUPADATA_API_KEY',
  headers: (apiKey) => ({ 'x-api-key': apiKey }),
  refusal({ status, text }) {
    // Without Supadata's error code, a 403 or 404 comes from the gateway before it: a wrong key or address.
    if (status === 403 && text.includes('"forbidden"')) return noAccess;
    if (status === 404 && text.includes('"not-found"')) return notFound;
    return undefined;
  },
  async fetch(client, videoId) {
    const url = `https://www.youtube.com/watch?v=${videoId}`;
    let reply = await client.get('/transcript', { url, mode: 'native', text: 'false' });
    let answer = client.json(reply);
    const job = reply.status === 202 ? member(answer, 'jobId') : undefined;
    if (reply.status === 202 && typeof job !== 'string') throw client.wrong('a job without an id');
    while (typeof job === 'string') {
      await client.pause(POLL_MS);
      reply = await client.get(`/transcript/${encodeURIComponent(job)}`);
      answer = client.json(reply);
      const status = member(answer, 'status');
      if (status === 'completed' || status === 'failed') break;
      if (status !== 'queued' && status !== 'active') throw client.wrong('a job in an unknown state');
    }
    return read(client, answer);
  },
};

function read(client: ServiceClient, answer: unknown): readonly TranscriptLine[] | null {
  const error = member(member(answer, 'error'), 'error') ?? member(answer, 'error');
  if (error === NO_TRANSCRIPT) return null;
  if (error === 'not-found' || error === 'forbidden') {
    const { sentence } = error === 'not-found' ? notFound : noAccess;
    throw new Fault('not_found', `Supadata ${sentence}.`);
  }
  if (error !== undefined) throw new Fault('server_error', 'Supadata failed to process this video. Try again later.');
  const content = member(member(answer, 'result') ?? answer, 'content');
  if (!Array.isArray(content)) throw client.wrong('no list of lines');
  return content.map((line) => {
    const [text, offset, duration] = ['text', 'offset', 'duration'].map((name) => member(line, name));
    if (typeof text !== 'string' || !Number.isFinite(offset) || !Number.isFinite(duration))
      throw client.wrong('a line without its text or its time');
    return { text, start: Number(offset) / 1000, duration: Number(duration) / 1000 };
  });
}
