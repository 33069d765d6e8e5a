import type { Contract, Rule } from '../contract.js';

const headers: Readonly<Record<string, Rule>> = { api_token: { type: 'string', required: true } };

export const document360: Contract = {
  name: 'document360',
  source: 'Document360',
  // A copy of https://apihub.document360.io/swagger/v2/swagger.json.
  specification: 'https://github.com/twardoch/d361api/blob/5f26903/swagger.json',
  version: '2.0',
  address: 'api',
  takenOn: '2026-11-27',
  operations: {
    'GET /v2/ProjectVersions': { query: {}, headers },
    'GET /v2/ProjectVersions/{projectVersionId}/categories': {
      query: {
        excludeArticles: { type: 'boolean' },
        langCode: { type: 'string' },
        includeCategoryDescription: { type: 'boolean' },
      },
      headers,
    },
    'GET /v2/Articles/{articleId}/{langCode}': {
      query: {
        isForDisplay: { type: 'boolean' },
        isPublished: { type: 'boolean' },
        appendSASToken: { type: 'boolean' },
      },
      headers,
    },
  },
};
