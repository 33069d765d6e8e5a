import type { Contract } from '../contract.js';

export const notion: Contract = {
  name: 'notion',
  source: 'Notion',
  specification: 'https://github.com/makenotion/notion-mcp-server/blob/main/scripts/notion-openapi.json',
  version: '2025-09-03, 1d384207',
  address: 'api',
  prefix: '/v1',
  takenOn: '2026-11-26',
  operations: {
    'GET /users/me': {
      query: {},
    },
    'POST /search': {
      query: {},
      body: {
        query: {
          type: 'string',
        },
        sort: {
          type: 'object',
        },
        filter: {
          type: 'object',
        },
        start_cursor: {
          type: 'string',
        },
        page_size: {
          type: 'integer',
        },
      },
    },
    'GET /blocks/{block_id}': {
      query: {},
    },
    'GET /blocks/{block_id}/children': {
      query: {
        start_cursor: {
          type: 'string',
        },
        page_size: {
          type: 'integer',
        },
      },
    },
    'GET /pages/{page_id}': {
      query: {
        filter_properties: {
          type: 'string',
        },
      },
    },
    'GET /pages/{page_id}/properties/{property_id}': {
      query: {
        page_size: {
          type: 'integer',
        },
        start_cursor: {
          type: 'string',
        },
      },
    },
    'GET /data_sources/{data_source_id}': {
      query: {},
    },
    'POST /data_sources/{data_source_id}/query': {
      query: {
        filter_properties: {
          type: 'array',
        },
      },
      body: {
        filter: {
          type: 'object',
        },
        sorts: {
          type: 'array',
        },
        start_cursor: {
          type: 'string',
        },
        page_size: {
          type: 'integer',
        },
        archived: {
          type: 'boolean',
        },
        in_trash: {
          type: 'boolean',
        },
      },
    },
    'GET /databases/{database_id}': {
      query: {},
    },
  },
};
