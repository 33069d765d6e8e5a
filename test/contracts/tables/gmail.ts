import type { Contract } from '../contract.js';

export const gmail: Contract = {
  name: 'gmail',
  source: 'Gmail',
  specification: 'https://www.googleapis.com/discovery/v1/apis/gmail/v1/rest',
  version: '20261005',
  address: 'api',
  prefix: '/gmail/v1/users/{userId}',
  takenOn: '2026-11-26',
  operations: {
    'GET /profile': {
      query: {},
    },
    'GET /history': {
      query: {
        historyTypes: {},
        labelId: {
          type: 'string',
        },
        maxResults: {
          type: 'integer',
        },
        pageToken: {
          type: 'string',
        },
        startHistoryId: {
          type: 'string',
        },
      },
    },
    'GET /labels': {
      query: {},
    },
    'GET /labels/{id}': {
      query: {},
    },
    'GET /messages': {
      query: {
        includeSpamTrash: {
          type: 'boolean',
        },
        labelIds: {},
        maxResults: {
          type: 'integer',
        },
        pageToken: {
          type: 'string',
        },
        q: {
          type: 'string',
        },
      },
    },
    'GET /messages/{id}': {
      query: {
        format: {
          type: 'string',
          enum: ['minimal', 'full', 'raw', 'metadata'],
        },
        metadataHeaders: {},
      },
    },
    'GET /threads/{id}': {
      query: {
        format: {
          type: 'string',
          enum: ['full', 'metadata', 'minimal'],
        },
        metadataHeaders: {},
      },
    },
  },
  common: {
    '$.xgafv': {
      type: 'string',
      enum: ['1', '2'],
    },
    access_token: {
      type: 'string',
    },
    alt: {
      type: 'string',
      enum: ['json', 'media', 'proto'],
    },
    callback: {
      type: 'string',
    },
    fields: {
      type: 'string',
    },
    key: {
      type: 'string',
    },
    oauth_token: {
      type: 'string',
    },
    prettyPrint: {
      type: 'boolean',
    },
    quotaUser: {
      type: 'string',
    },
    uploadType: {
      type: 'string',
    },
    upload_protocol: {
      type: 'string',
    },
  },
};
