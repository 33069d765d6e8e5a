import type { Contract, Operation, Rule } from '../contract.js';

// The user supplies the key; Zotero refuses an invalid one.
const headers: Readonly<Record<string, Rule>> = {
  'zotero-api-version': { enum: ['3'], required: true },
  'zotero-api-key': { pattern: '^.+$', required: true },
};
const json: Rule = { enum: ['json'] };
const version: Rule = { type: 'integer', min: 0 };
const pages: Readonly<Record<string, Rule>> = {
  ...{ format: json, start: { type: 'integer', min: 0 }, limit: { type: 'integer', min: 1, max: 100 } },
  direction: { enum: ['asc', 'desc'] },
};
const sort: Rule = {
  enum: [
    ...['title', 'creator', 'itemType', 'date', 'publisher', 'publicationTitle', 'journalAbbreviation', 'language'],
    ...['accessDate', 'libraryCatalog', 'callNumber', 'rights', 'extra', 'dateAdded', 'dateModified', 'addedBy'],
    ...['serverDateModified', 'itemKeyList'],
  ],
};
const items: Readonly<Record<string, Rule>> = {
  ...{ ...pages, sort, since: version, includeTrashed: { enum: ['0', '1'] }, include: { list: ['data'] } },
  ...{ q: { type: 'string' }, qmode: { enum: ['titleCreatorYear', 'everything'] }, tag: { type: 'string' } },
  ...{ itemType: { pattern: String.raw`^-?[a-zA-Z]+$` }, itemKey: { pattern: '^[A-Z0-9,]+$' } },
};
const get = (query: Readonly<Record<string, Rule>>): Operation => ({ query, headers });

/** Rules from the code that answers the requests: model/API.inc.php and include/config/routes.inc.php. */
export const zotero: Contract = {
  name: 'zotero',
  source: 'Zotero',
  specification: 'https://github.com/zotero/dataserver',
  version: '3, 5cf550f3',
  address: 'api',
  // The emulator redirects downloads to these paths; Zotero redirects them to another host.
  ignoredPaths: '^/files/',
  takenOn: '2026-11-27',
  operations: {
    'GET /keys/{key}': get({}),
    'GET /users/{userID}/groups': get({ ...pages, sort: { enum: ['title', 'dateAdded', 'dateModified'] } }),
    'GET /groups/{groupID}': get({ format: json }),
    // The first two segments of a library: users and an id, or groups and an id.
    'GET /{kind}/{id}/items': get(items),
    'GET /{kind}/{id}/items/{itemKey}': get({ format: json, include: { list: ['data'] } }),
    'GET /{kind}/{id}/items/{itemKey}/children': get(items),
    'GET /{kind}/{id}/items/{itemKey}/file': get({}),
    'GET /{kind}/{id}/collections': get({ ...pages, since: version, sort: { enum: ['title', 'collectionKeyList'] } }),
    'GET /{kind}/{id}/collections/{collectionKey}': get({ format: json }),
    'GET /{kind}/{id}/collections/{collectionKey}/items': get(items),
    'GET /{kind}/{id}/deleted': get({ since: { ...version, required: true } }),
  },
};
