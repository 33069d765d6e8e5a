import type { Contract, Rule } from '../contract.js';

const headers: Readonly<Record<string, Rule>> = {
  // https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
  authorization: { pattern: String.raw`^SharedKey [a-z\d]{3,24}:[A-Za-z\d+/]{43}=$`, required: true },
  'x-ms-date': { pattern: String.raw`^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$`, required: true },
  'x-ms-version': { pattern: String.raw`^20\d\d-\d\d-\d\d$`, required: true },
};
const timeout: Rule = { type: 'integer', min: 0 };
/** https://learn.microsoft.com/rest/api/storageservices/list-blobs: a page has at most 5,000 blobs. */
const maxresults: Rule = { type: 'integer', min: 1, max: 5_000 };

export const azureBlobStorage: Contract = {
  name: 'azureBlobStorage',
  source: 'Azure Blob Storage',
  // Package generated from specification/storage/data-plane/Microsoft.BlobStorage of Azure/azure-rest-api-specs.
  specification: 'https://www.npmjs.com/package/@azure/storage-blob',
  version: '12.32.0, 2026-04-06',
  address: 'api',
  takenOn: '2026-11-27',
  operations: {
    'GET /': {
      query: {
        ...{ comp: { enum: ['list'], required: true }, timeout, maxresults },
        ...{ prefix: { type: 'string' }, marker: { type: 'string' } },
        include: { list: ['metadata', 'deleted', 'system'] },
      },
      headers,
    },
    'GET /{containerName}': {
      query: {
        comp: { enum: ['list'], required: true },
        restype: { enum: ['container'], required: true },
        ...{
          timeout,
          maxresults,
          prefix: { type: 'string' },
          marker: { type: 'string' },
          startFrom: { type: 'string' },
        },
        include: {
          list: [
            ...[
              'copy',
              'deleted',
              'metadata',
              'snapshots',
              'uncommittedblobs',
              'versions',
              'tags',
              'immutabilitypolicy',
            ],
            ...['legalhold', 'deletedwithversions'],
          ],
        },
      },
      headers,
    },
    'GET /{containerName}/{blob+}': {
      query: { timeout, snapshot: { type: 'string' }, versionid: { type: 'string' } },
      headers,
    },
  },
};
