/** https://docs.searxng.org/dev/search_api.html: a self-hosted server that queries its configured engines. */
import { Fault } from '../../../contract/failures.js';
import { member } from '../../members.js';
import type { SearchService } from '../types.js';

export const searxng: SearchService = {
  name: 'SearXNG',
  urlSetting: 'SEARXNG_BASE_URL',
  keySetting: null,
  // SearXNG responds 403 for a format that is not enabled. By default, only HTML is enabled.
  refusal: ({ status }) =>
    status === 403
      ? { kind: 'access_denied', sentence: 'does not return JSON: add json to search.formats in its settings.yml' }
      : undefined,
  async find(client, query) {
    const answer = client.json(await client.get('/search', { q: query, format: 'json' }));
    const results = member(answer, 'results');
    if (!Array.isArray(results)) throw client.wrong('no list of results');
    const silent = member(answer, 'unresponsive_engines');
    if (results.length === 0 && Array.isArray(silent) && silent.length > 0) throw emptyWithout(silent);
    return results.map((result) => member(result, 'url'));
  },
};

/** Returns the fault of an empty result with failed engines. @param silent pairs of an engine and its error */
function emptyWithout(silent: readonly unknown[]): Fault {
  const failedEngines = silent
    .slice(0, 5)
    .map((pair) => (Array.isArray(pair) ? pair.map(String).join(': ') : String(pair)))
    .join(', ')
    .slice(0, 300);
  return new Fault(
    'server_error',
    `SearXNG found nothing, and these engines did not answer: ${failedEngines}. Try again later.`,
  );
}
