import type { Contract } from '../contract.js';

export const googleCloudStorage: Contract = {
  name: 'googleCloudStorage',
  source: 'Google Cloud Storage',
  specification: 'https://www.googleapis.com/discovery/v1/apis/storage/v1/rest',
  version: '20261009',
  address: 'api',
  takenOn: '2026-11-26',
  operations: {
    'GET /b': {
      query: {
        maxResults: {
          type: 'integer',
          min: 0,
        },
        pageToken: {
          type: 'string',
        },
        prefix: {
          type: 'string',
        },
        project: {
          type: 'string',
          required: true,
        },
        projection: {
          type: 'string',
          enum: ['full', 'noAcl'],
        },
        returnPartialSuccess: {
          type: 'boolean',
        },
        softDeleted: {
          type: 'boolean',
        },
        userProject: {
          type: 'string',
        },
      },
    },
    'GET /b/{bucket}': {
      query: {
        generation: {
          type: 'string',
        },
        ifMetagenerationMatch: {
          type: 'string',
        },
        ifMetagenerationNotMatch: {
          type: 'string',
        },
        projection: {
          type: 'string',
          enum: ['full', 'noAcl'],
        },
        softDeleted: {
          type: 'boolean',
        },
        userProject: {
          type: 'string',
        },
      },
    },
    'GET /b/{bucket}/o': {
      query: {
        delimiter: {
          type: 'string',
        },
        endOffset: {
          type: 'string',
        },
        filter: {
          type: 'string',
        },
        includeFoldersAsPrefixes: {
          type: 'boolean',
        },
        includeTrailingDelimiter: {
          type: 'boolean',
        },
        matchGlob: {
          type: 'string',
        },
        maxResults: {
          type: 'integer',
          min: 0,
        },
        pageToken: {
          type: 'string',
        },
        prefix: {
          type: 'string',
        },
        projection: {
          type: 'string',
          enum: ['full', 'noAcl'],
        },
        softDeleted: {
          type: 'boolean',
        },
        startOffset: {
          type: 'string',
        },
        userProject: {
          type: 'string',
        },
        versions: {
          type: 'boolean',
        },
      },
    },
    'GET /b/{bucket}/o/{object}': {
      query: {
        generation: {
          type: 'string',
        },
        ifGenerationMatch: {
          type: 'string',
        },
        ifGenerationNotMatch: {
          type: 'string',
        },
        ifMetagenerationMatch: {
          type: 'string',
        },
        ifMetagenerationNotMatch: {
          type: 'string',
        },
        projection: {
          type: 'string',
          enum: ['full', 'noAcl'],
        },
        restoreToken: {
          type: 'string',
        },
        softDeleted: {
          type: 'boolean',
        },
        userProject: {
          type: 'string',
        },
      },
    },
  },
  common: {
    alt: {
      type: 'string',
      enum: ['json', 'media'],
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
    userIp: {
      type: 'string',
    },
  },
};
