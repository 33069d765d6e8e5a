import type { Contract } from '../contract.js';

export const box: Contract = {
  name: 'box',
  source: 'Box',
  specification: 'https://github.com/box/box-openapi',
  version: '2024.0, c9a878a9',
  address: 'api',
  takenOn: '2026-11-26',
  operations: {
    'GET /users/me': {
      query: {
        fields: {
          type: 'array',
        },
      },
    },
    'GET /events': {
      query: {
        stream_type: {
          type: 'string',
          enum: ['all', 'changes', 'sync', 'admin_logs', 'admin_logs_streaming'],
        },
        stream_position: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          max: 500,
        },
        event_type: {
          type: 'array',
        },
        created_after: {
          type: 'string',
        },
        created_before: {
          type: 'string',
        },
      },
    },
    'GET /files/{file_id}': {
      query: {
        fields: {
          type: 'array',
        },
      },
    },
    'GET /files/{file_id}/content': {
      query: {
        version: {
          type: 'string',
        },
        access_token: {
          type: 'string',
        },
      },
    },
    'GET /folders/{folder_id}': {
      query: {
        fields: {
          type: 'array',
        },
        sort: {
          type: 'string',
          enum: ['id', 'name', 'date', 'size'],
        },
        direction: {
          type: 'string',
          enum: ['ASC', 'DESC'],
        },
        offset: {
          type: 'integer',
        },
        limit: {
          type: 'integer',
          max: 1000,
        },
      },
    },
    'GET /folders/{folder_id}/items': {
      query: {
        fields: {
          type: 'array',
        },
        usemarker: {
          type: 'boolean',
        },
        marker: {
          type: 'string',
        },
        offset: {
          type: 'integer',
        },
        limit: {
          type: 'integer',
          max: 1000,
        },
        sort: {
          type: 'string',
          enum: ['id', 'name', 'date', 'size'],
        },
        direction: {
          type: 'string',
          enum: ['ASC', 'DESC'],
        },
      },
    },
    'GET /web_links/{web_link_id}': {
      query: {},
    },
  },
};
