import type { Contract, Rule } from '../contract.js';

/** Basic authentication with an email address and a user token, or the id of a collection and its token. */
const headers: Readonly<Record<string, Rule>> = { authorization: { pattern: '^Basic \\S+$', required: true } };
/** Token of the next page, from the link of the previous one. https://developer.getguru.com/docs/paging */
const token: Rule = { type: 'string' };
const REFERENCE = 'https://developer.getguru.com/reference';
/** Guru's own client, which shows what the reference omits. */
const CLIENT = 'https://github.com/guruhq/py-sdk/blob/685ca65/guru/core.py';

export const guru: Contract = {
  name: 'guru',
  source: 'Guru',
  specification: REFERENCE,
  version: 'v1',
  address: 'api',
  takenOn: '2026-11-27',
  operations: {
    'GET /whoami': { source: `${REFERENCE}/getv1whoami`, query: {}, headers },
    'GET /collections': { source: `${REFERENCE}/getv1collections`, query: { token }, headers },
    'GET /collections/{collectionId}': { source: `${REFERENCE}/getv1collections`, query: {}, headers },
    'GET /folders/{folderId}': { source: CLIENT, query: { collection: { type: 'string' } }, headers },
    'GET /folders/{folderId}/items': {
      source: CLIENT,
      query: { token, cardDetail: { enum: ['FULL', 'BASIC'] } },
      headers,
    },
    'GET /cards/{cardId}': { source: CLIENT, query: {}, headers },
    'GET /cards/{cardId}/extended': { source: CLIENT, query: {}, headers },
    'GET /search/query': {
      source: 'https://developer.getguru.com/docs/listing-cards',
      query: {
        token,
        ...{ q: { type: 'string' }, searchTerms: { type: 'string' }, queryType: { type: 'string' } },
        ...{ showArchived: { type: 'boolean' }, includeCardAttributes: { type: 'boolean' } },
        maxResults: { type: 'integer', min: 1, max: 50 },
        sortField: {
          enum: [
            ...['lastModified', 'lastModifiedBy', 'boardCount', 'verificationState', 'copyCount', 'viewCount'],
            ...['favoriteCount', 'dateCreated', 'verificationInterval', 'verifier', 'owner', 'lastVerifiedBy'],
            ...['lastVerified', 'popularity', 'title'],
          ],
        },
        sortOrder: { enum: ['asc', 'desc'] },
      },
      headers,
    },
  },
};
