import type { Contract } from '../contract.js';

export const dropbox: Contract = {
  name: 'dropbox',
  source: 'Dropbox',
  specification: 'https://github.com/dropbox/dropbox-api-spec',
  version: '0d994ebe',
  takenOn: '2026-11-26',
  address: 'api',
  operations: {
    'POST /users/get_current_account': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/users.stone',
      body: {},
    },
    'POST /files/list_folder': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/files.stone',
      body: {
        path: {
          type: 'string',
          required: true,
        },
        recursive: {
          type: 'boolean',
        },
        include_media_info: {
          type: 'boolean',
        },
        include_deleted: {
          type: 'boolean',
        },
        include_has_explicit_shared_members: {
          type: 'boolean',
        },
        include_mounted_folders: {
          type: 'boolean',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 2000,
        },
        shared_link: {
          type: 'object',
        },
        include_property_groups: {
          type: 'object',
        },
        include_non_downloadable_files: {
          type: 'boolean',
        },
      },
    },
    'POST /files/list_folder/get_latest_cursor': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/files.stone',
      body: {
        path: {
          type: 'string',
          required: true,
        },
        recursive: {
          type: 'boolean',
        },
        include_media_info: {
          type: 'boolean',
        },
        include_deleted: {
          type: 'boolean',
        },
        include_has_explicit_shared_members: {
          type: 'boolean',
        },
        include_mounted_folders: {
          type: 'boolean',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 2000,
        },
        shared_link: {
          type: 'object',
        },
        include_property_groups: {
          type: 'object',
        },
        include_non_downloadable_files: {
          type: 'boolean',
        },
      },
    },
    'POST /files/list_folder/continue': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/files.stone',
      body: {
        cursor: {
          type: 'string',
          required: true,
          pattern: '.',
        },
      },
    },
    'POST /files/get_metadata': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/files.stone',
      body: {
        path: {
          type: 'string',
          required: true,
        },
        include_media_info: {
          type: 'boolean',
        },
        include_deleted: {
          type: 'boolean',
        },
        include_has_explicit_shared_members: {
          type: 'boolean',
        },
        include_property_groups: {
          type: 'object',
        },
      },
    },
    'GET /files/download': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/files.stone',
      headers: {
        'dropbox-api-arg': {
          required: true,
          pattern: '^[\\x20-\\x7e]+$',
        },
      },
    },
    'GET /files/export': {
      source: 'https://github.com/dropbox/dropbox-api-spec/blob/0d994ebe/files.stone',
      headers: {
        'dropbox-api-arg': {
          required: true,
          pattern: '^[\\x20-\\x7e]+$',
        },
      },
    },
  },
};
