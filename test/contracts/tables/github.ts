import type { Contract } from '../contract.js';

export const github: Contract = {
  name: 'github',
  source: 'GitHub',
  specification: 'https://github.com/octokit/openapi (api.github.com)',
  version: '23.0.2',
  address: 'api',
  takenOn: '2026-11-26',
  operations: {
    'GET /user': {
      query: {},
    },
    'GET /user/repos': {
      query: {
        visibility: {
          type: 'string',
          enum: ['all', 'public', 'private'],
        },
        affiliation: {
          type: 'string',
        },
        type: {
          type: 'string',
          enum: ['all', 'owner', 'public', 'private', 'member'],
        },
        sort: {
          type: 'string',
          enum: ['created', 'updated', 'pushed', 'full_name'],
        },
        direction: {
          type: 'string',
          enum: ['asc', 'desc'],
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
        since: {
          type: 'string',
        },
        before: {
          type: 'string',
        },
      },
    },
    'GET /repos/{owner}/{repo}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/branches/{branch}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/contents/{path+}': {
      query: {
        ref: {
          type: 'string',
        },
      },
    },
    'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': {
      query: {
        recursive: {
          type: 'string',
        },
      },
    },
    'GET /repos/{owner}/{repo}/issues': {
      // Links to next pages may have the parameters of pagination by cursor, which the specification omits.
      source: 'https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api',
      query: {
        after: { type: 'string' },
        before: { type: 'string' },
        milestone: {
          type: 'string',
        },
        state: {
          type: 'string',
          enum: ['open', 'closed', 'all'],
        },
        assignee: {
          type: 'string',
        },
        type: {
          type: 'string',
        },
        creator: {
          type: 'string',
        },
        mentioned: {
          type: 'string',
        },
        issue_field_values: {
          type: 'string',
        },
        labels: {
          type: 'string',
        },
        sort: {
          type: 'string',
          enum: ['created', 'updated', 'comments'],
        },
        direction: {
          type: 'string',
          enum: ['asc', 'desc'],
        },
        since: {
          type: 'string',
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': {
      query: {
        since: {
          type: 'string',
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/issues/comments/{comment_id}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/pulls': {
      query: {
        state: {
          type: 'string',
          enum: ['open', 'closed', 'all'],
        },
        head: {
          type: 'string',
        },
        base: {
          type: 'string',
        },
        sort: {
          type: 'string',
          enum: ['created', 'updated', 'popularity', 'long-running'],
        },
        direction: {
          type: 'string',
          enum: ['asc', 'desc'],
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits': {
      query: {
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': {
      query: {
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments': {
      query: {
        sort: {
          type: 'string',
          enum: ['created', 'updated'],
        },
        direction: {
          type: 'string',
          enum: ['asc', 'desc'],
        },
        since: {
          type: 'string',
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/pulls/comments/{comment_id}': {
      query: {},
    },
    'GET /repos/{owner}/{repo}/issues/comments': {
      query: {
        sort: {
          type: 'string',
          enum: ['created', 'updated'],
        },
        direction: {
          type: 'string',
          enum: ['asc', 'desc'],
        },
        since: {
          type: 'string',
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
    'GET /repos/{owner}/{repo}/pulls/comments': {
      query: {
        sort: {
          type: 'string',
          enum: ['created', 'updated', 'created_at'],
        },
        direction: {
          type: 'string',
          enum: ['asc', 'desc'],
        },
        since: {
          type: 'string',
        },
        per_page: {
          type: 'integer',
        },
        page: {
          type: 'integer',
        },
      },
    },
  },
};
