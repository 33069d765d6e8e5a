/** https://api-dashboard.search.brave.com/api-reference/web/search/get */
import { member } from '../../members.js';
import type { SearchService } from '../types.js';

/** Results of one page, which are the most that one request gets. */
const COUNT = '20';

const numbers = (header: string | undefined): number[] =>
  (header ?? '').split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));

export const brave: SearchService = {
  name: 'Brave Search',
  urlSetting: 'BRAVE_SEARCH_BASE_URL',
  keySetting: 'BRAVE_SEARCH_API_KEY',
  headers: (apiKey) => ({ 'x-subscription-token': apiKey }),
  // A key that is none is 422, as is what else it can not take.
  refusal: ({ status, text }) =>
    status === 422 && text.includes('SUBSCRIPTION_TOKEN_INVALID')
      ? { kind: 'access_denied', sentence: 'refuses the key of the setting BRAVE_SEARCH_API_KEY' }
      : undefined,
  // One number for each limit, of a second and of a month: that counts which is used up.
  waitMs(headers) {
    const left = numbers(headers['x-ratelimit-remaining']);
    const resets = numbers(headers['x-ratelimit-reset']).filter(
      (seconds, index) => left[index] === 0 && Number.isFinite(seconds) && seconds >= 0,
    );
    return resets.length === 0 ? null : Math.max(...resets) * 1000;
  },
  async find(client, query) {
    const answer = client.json(await client.get('/web/search', { q: query, count: COUNT, result_filter: 'web' }));
    if (member(answer, 'type') !== 'search') throw client.wrong('no results of a search');
    // Where nothing was found there is no list.
    const results = member(member(answer, 'web'), 'results') ?? [];
    if (!Array.isArray(results)) throw client.wrong('no list of results');
    return results.map((one) => member(one, 'url'));
  },
};
