/** https://api-dashboard.search.brave.com/api-reference/web/search/get */
import { member } from '../../members.js';
import type { SearchService } from '../types.js';

/** Number of results per request: Brave's maximum. */
const COUNT = '20';

const numbers = (header: string | undefined): number[] =>
  (header ?? '').split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));

export const brave: SearchService = {
  name: 'Brave Search',
  urlSetting: 'BRAVE_SEARCH_BASE_URL',
  keySetting: 'BRAVE_SEARCH_API_KEY',
  headers: (apiKey) => ({ 'x-subscription-token': apiKey }),
  // An invalid key gives 422, like other invalid input.
  refusal: ({ status, text }) =>
    status === 422 && text.includes('SUBSCRIPTION_TOKEN_INVALID')
      ? { kind: 'access_denied', sentence: 'rejects the key of the setting BRAVE_SEARCH_API_KEY' }
      : undefined,
  // Each header has one number for each limit (per second, per month). The longest wait of an exhausted limit applies. A
  // plan without a monthly limit has the limit 0, of which always 0 remain.
  waitMs(headers) {
    const limits = numbers(headers['x-ratelimit-limit']);
    const remaining = numbers(headers['x-ratelimit-remaining']);
    const resets = numbers(headers['x-ratelimit-reset']).filter(
      (seconds, index) => remaining[index] === 0 && limits[index] !== 0 && Number.isFinite(seconds) && seconds >= 0,
    );
    return resets.length === 0 ? null : Math.max(...resets) * 1000;
  },
  async find(client, query) {
    const answer = client.json(await client.get('/web/search', { q: query, count: COUNT, result_filter: 'web' }));
    if (member(answer, 'type') !== 'search') throw client.wrong('no results of a search');
    // The list is absent if nothing was found.
    const results = member(member(answer, 'web'), 'results') ?? [];
    if (!Array.isArray(results)) throw client.wrong('no list of results');
    return results.map((result) => member(result, 'url'));
  },
};
