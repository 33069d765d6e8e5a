import type { Contract } from '../contract.js';

export const gitbook: Contract = {
  name: 'gitbook',
  source: 'GitBook',
  specification: 'https://www.npmjs.com/package/@gitbook/api',
  version: '0.202.0',
  address: 'api',
  takenOn: '2026-11-27',
  operations: {
    'GET /user': {
      query: {},
    },
    'GET /orgs/{organizationId}': {
      query: {},
    },
    'GET /orgs/{organizationId}/spaces': {
      query: {
        page: {
          type: 'string',
        },
        limit: {
          type: 'number',
          min: 0,
          max: 1000,
        },
      },
    },
    'GET /spaces/{spaceId}': {
      query: {
        shareKey: {
          type: 'string',
        },
      },
    },
    'GET /spaces/{spaceId}/content/pages': {
      query: {
        metadata: {
          type: 'boolean',
        },
        computed: {
          type: 'boolean',
        },
      },
    },
    'GET /spaces/{spaceId}/content/page/{pageId}': {
      query: {
        format: {
          type: 'string',
          enum: ['document', 'markdown'],
        },
        'format.markdown.refs': {
          type: 'string',
          enum: ['relative', 'stable'],
        },
        evaluated: {},
        dereferenced: {},
        metadata: {
          type: 'boolean',
        },
        computed: {
          type: 'boolean',
        },
      },
    },
  },
};
