import type { Contract } from '../contract.js';

export const googleDrive: Contract = {
  name: 'googleDrive',
  source: 'Google Drive',
  specification: 'https://www.googleapis.com/discovery/v1/apis/drive/v3/rest',
  version: '20261106',
  address: 'api',
  prefix: '',
  takenOn: '2026-11-26',
  operations: {
    'GET /about': {
      query: {},
    },
    'GET /changes': {
      query: {
        driveId: {
          type: 'string',
        },
        includeCorpusRemovals: {
          type: 'boolean',
        },
        includeItemsFromAllDrives: {
          type: 'boolean',
        },
        includeLabels: {
          type: 'string',
        },
        includePermissionsForView: {
          type: 'string',
        },
        includeRemoved: {
          type: 'boolean',
        },
        includeTeamDriveItems: {
          type: 'boolean',
        },
        pageSize: {
          type: 'integer',
          min: 1,
          max: 1000,
        },
        pageToken: {
          type: 'string',
          required: true,
        },
        restrictToMyDrive: {
          type: 'boolean',
        },
        spaces: {
          type: 'string',
        },
        supportsAllDrives: {
          type: 'boolean',
        },
        supportsTeamDrives: {
          type: 'boolean',
        },
        teamDriveId: {
          type: 'string',
        },
      },
    },
    'GET /changes/startPageToken': {
      query: {
        driveId: {
          type: 'string',
        },
        supportsAllDrives: {
          type: 'boolean',
        },
        supportsTeamDrives: {
          type: 'boolean',
        },
        teamDriveId: {
          type: 'string',
        },
      },
    },
    'GET /drives': {
      query: {
        pageSize: {
          type: 'integer',
          min: 1,
          max: 100,
        },
        pageToken: {
          type: 'string',
        },
        q: {
          type: 'string',
        },
        useDomainAdminAccess: {
          type: 'boolean',
        },
      },
    },
    'GET /drives/{driveId}': {
      query: {
        useDomainAdminAccess: {
          type: 'boolean',
        },
      },
    },
    'GET /files': {
      query: {
        corpora: {
          type: 'string',
        },
        corpus: {
          type: 'string',
          enum: ['domain', 'user'],
        },
        driveId: {
          type: 'string',
        },
        includeItemsFromAllDrives: {
          type: 'boolean',
        },
        includeLabels: {
          type: 'string',
        },
        includePermissionsForView: {
          type: 'string',
        },
        includeTeamDriveItems: {
          type: 'boolean',
        },
        orderBy: {
          type: 'string',
        },
        pageSize: {
          type: 'integer',
          min: 1,
          max: 1000,
        },
        pageToken: {
          type: 'string',
        },
        q: {
          type: 'string',
        },
        spaces: {
          type: 'string',
        },
        supportsAllDrives: {
          type: 'boolean',
        },
        supportsTeamDrives: {
          type: 'boolean',
        },
        teamDriveId: {
          type: 'string',
        },
      },
    },
    'GET /files/{fileId}': {
      query: {
        acknowledgeAbuse: {
          type: 'boolean',
        },
        includeLabels: {
          type: 'string',
        },
        includePermissionsForView: {
          type: 'string',
        },
        supportsAllDrives: {
          type: 'boolean',
        },
        supportsTeamDrives: {
          type: 'boolean',
        },
      },
    },
    'GET /files/{fileId}/export': {
      query: {
        mimeType: {
          type: 'string',
          required: true,
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
