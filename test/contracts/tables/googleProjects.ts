import type { Contract } from '../contract.js';

export const googleProjects: Contract = {
  name: 'googleProjects',
  source: 'Google Cloud Storage',
  specification: 'https://www.googleapis.com/discovery/v1/apis/cloudresourcemanager/v1/rest',
  version: '20261107',
  address: 'projects',
  prefix: '/v1',
  takenOn: '2026-11-26',
  operations: {
    'GET /projects': {
      query: {
        filter: {
          type: 'string',
        },
        pageSize: {
          type: 'integer',
        },
        pageToken: {
          type: 'string',
        },
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
