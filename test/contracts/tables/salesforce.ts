import type { Contract } from '../contract.js';
import { soqlProblem } from '../soqlContract.js';

const REST = 'https://developer.salesforce.com/docs/platform/api-rest/guide';
/**
 * Timestamps of the replication calls:
 * https://developer.salesforce.com/docs/platform/api-rest/guide/resources-getdeleted.html.
 */
const timestamp = {
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(Z|[+-]\\d\\d:\\d\\d)$',
  required: true,
} as const;
const COMMON = { source: 'Salesforce', takenOn: '2026-11-26', version: 'v67.0' } as const;

/** Rules from the REST API's guide; Salesforce publishes no OpenAPI document of it. */
export const salesforce: Contract = {
  ...COMMON,
  name: 'salesforce',
  specification: `${REST}/resources-list.html`,
  address: 'api',
  operations: {
    'GET /': { source: `${REST}/resources-discoveryresource.html`, query: {} },
    'GET /query': {
      source: `${REST}/resources-query.html`,
      query: { q: { type: 'string', required: true, check: soqlProblem } },
    },
    'GET /sobjects/{object}/describe': { source: `${REST}/resources-sobject-describe.html`, query: {} },
    'GET /sobjects/{object}/deleted': {
      source: `${REST}/resources-getdeleted.html`,
      query: { start: timestamp, end: timestamp },
    },
    'GET /sobjects/ContentVersion/{version}/VersionData': {
      source: `${REST}/resources-sobject-blob-retrieve.html`,
      query: {},
    },
  },
};

const USERINFO = 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_using_userinfo_endpoint.htm';

export const salesforceIdentity: Contract = {
  ...COMMON,
  name: 'salesforceIdentity',
  specification: USERINFO,
  address: 'identity',
  operations: { 'GET /userinfo': { source: USERINFO, query: { format: { enum: ['json', 'xml'] } } } },
};
