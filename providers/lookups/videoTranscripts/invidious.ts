/** https://docs.invidious.io/api/#get-apiv1captionsid: a self-hosted front end of YouTube. */
import { member } from '../../members.js';
import type { TranscriptService } from '../types.js';
import { readCues } from './readCues.js';

export const invidious: TranscriptService = {
  name: 'Invidious',
  urlSetting: 'INVIDIOUS_BASE_URL',
  keySetting: null,
  // Every accessible video has a list of captions, so a 404 means that the video is missing or not accessible.
  refusal: ({ status }) => (status === 404 ? { kind: 'not_found', sentence: 'has no such video' } : undefined),
  async fetch(client, videoId) {
    const path = `/api/v1/captions/${videoId}`;
    const listed = member(client.json(await client.get(path)), 'captions');
    if (!Array.isArray(listed)) throw client.wrong('no list of captions');
    const labels = listed.map((caption) => member(caption, 'label')).filter((label) => typeof label === 'string');
    const [first] = labels;
    if (first === undefined) return null;
    // Prefer captions written by people to those that YouTube generated.
    const label = labels.find((candidate) => !candidate.includes('auto-generated')) ?? first;
    const { text } = await client.get(path, { label });
    const lines = readCues(text);
    if (lines === null) throw client.wrong('captions that are not WebVTT');
    return lines;
  },
};
