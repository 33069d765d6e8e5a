import type { Contract } from '../contract.js';

export const confluence: Contract = {
  name: 'confluence',
  source: 'Confluence',
  specification:
    'https://dac-static.atlassian.com/cloud/confluence/openapi-v2.v3.json (copy in Pygmalion-Records/confluence-local-sync)',
  version: '2.0.0, copied 2025-01-27',
  address: 'api',
  base: '/ex/confluence/{cloudId}/wiki/api/v2',
  takenOn: '2026-11-26',
  operations: {
    'GET /me': {
      source: 'https://developer.atlassian.com/cloud/confluence/oauth-2-3lo-apps/',
      query: {},
    },
    'GET /oauth/token/accessible-resources': {
      source: 'https://developer.atlassian.com/cloud/confluence/oauth-2-3lo-apps/',
      query: {},
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/folders/{id}/direct-children': {
      source: 'https://github.com/pchuri/confluence-cli/pull/224',
      query: {
        cursor: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 250,
        },
        sort: {
          type: 'string',
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/pages/{id}/direct-children': {
      source: 'https://github.com/pchuri/confluence-cli/pull/224',
      query: {
        cursor: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 250,
        },
        sort: {
          type: 'string',
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/blogposts/{id}': {
      query: {
        'body-format': {
          type: 'string',
          enum: [
            'storage',
            'atlas_doc_format',
            'view',
            'export_view',
            'anonymous_export_view',
            'styled_view',
            'editor',
          ],
        },
        'get-draft': {
          type: 'boolean',
        },
        status: {
          type: 'array',
        },
        version: {
          type: 'integer',
        },
        'include-labels': {
          type: 'boolean',
        },
        'include-properties': {
          type: 'boolean',
        },
        'include-operations': {
          type: 'boolean',
        },
        'include-likes': {
          type: 'boolean',
        },
        'include-versions': {
          type: 'boolean',
        },
        'include-version': {
          type: 'boolean',
        },
        'include-favorited-by-current-user-status': {
          type: 'boolean',
        },
        'include-webresources': {
          type: 'boolean',
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/folders/{id}': {
      query: {},
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/pages': {
      query: {
        id: {
          type: 'array',
        },
        'space-id': {
          type: 'array',
        },
        sort: {
          type: 'string',
          enum: ['id', '-id', 'created-date', '-created-date', 'modified-date', '-modified-date', 'title', '-title'],
        },
        status: {
          type: 'array',
        },
        title: {
          type: 'string',
        },
        'body-format': {
          type: 'string',
          enum: ['storage', 'atlas_doc_format'],
        },
        cursor: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 250,
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/pages/{id}': {
      query: {
        'body-format': {
          type: 'string',
          enum: [
            'storage',
            'atlas_doc_format',
            'view',
            'export_view',
            'anonymous_export_view',
            'styled_view',
            'editor',
          ],
        },
        'get-draft': {
          type: 'boolean',
        },
        status: {
          type: 'array',
        },
        version: {
          type: 'integer',
        },
        'include-labels': {
          type: 'boolean',
        },
        'include-properties': {
          type: 'boolean',
        },
        'include-operations': {
          type: 'boolean',
        },
        'include-likes': {
          type: 'boolean',
        },
        'include-versions': {
          type: 'boolean',
        },
        'include-version': {
          type: 'boolean',
        },
        'include-favorited-by-current-user-status': {
          type: 'boolean',
        },
        'include-webresources': {
          type: 'boolean',
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/spaces': {
      query: {
        ids: {
          type: 'array',
        },
        keys: {
          type: 'array',
        },
        type: {
          type: 'string',
          enum: ['global', 'collaboration', 'knowledge_base', 'personal'],
        },
        status: {
          type: 'string',
          enum: ['current', 'archived'],
        },
        labels: {
          type: 'array',
        },
        'favorited-by': {
          type: 'string',
        },
        'not-favorited-by': {
          type: 'string',
        },
        sort: {
          type: 'string',
          enum: ['id', '-id', 'key', '-key', 'name', '-name'],
        },
        'description-format': {
          type: 'string',
          enum: ['plain', 'view'],
        },
        'include-icon': {
          type: 'boolean',
        },
        cursor: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 250,
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/spaces/{id}': {
      query: {
        'description-format': {
          type: 'string',
          enum: ['plain', 'view'],
        },
        'include-icon': {
          type: 'boolean',
        },
        'include-operations': {
          type: 'boolean',
        },
        'include-properties': {
          type: 'boolean',
        },
        'include-permissions': {
          type: 'boolean',
        },
        'include-role-assignments': {
          type: 'boolean',
        },
        'include-labels': {
          type: 'boolean',
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/spaces/{id}/blogposts': {
      query: {
        sort: {
          type: 'string',
          enum: ['id', '-id', 'created-date', '-created-date', 'modified-date', '-modified-date'],
        },
        status: {
          type: 'array',
        },
        title: {
          type: 'string',
        },
        'body-format': {
          type: 'string',
          enum: ['storage', 'atlas_doc_format'],
        },
        cursor: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 250,
        },
      },
    },
    'GET /ex/confluence/{cloudId}/wiki/api/v2/spaces/{id}/pages': {
      query: {
        depth: {
          type: 'string',
          enum: ['all', 'root'],
        },
        sort: {
          type: 'string',
          enum: ['id', '-id', 'created-date', '-created-date', 'modified-date', '-modified-date', 'title', '-title'],
        },
        status: {
          type: 'array',
        },
        title: {
          type: 'string',
        },
        'body-format': {
          type: 'string',
          enum: ['storage', 'atlas_doc_format'],
        },
        cursor: {
          type: 'string',
        },
        limit: {
          type: 'integer',
          min: 1,
          max: 250,
        },
      },
    },
  },
};
