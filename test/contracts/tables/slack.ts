import type { Contract } from '../contract.js';

export const slack: Contract = {
  name: 'slack',
  source: 'Slack',
  specification: 'https://github.com/slackapi/slack-api-specs',
  version: 'bc08db49 (archived in 2021)',
  address: 'api',
  asForm: true,
  takenOn: '2026-11-26',
  operations: {
    'POST /auth.test': {
      body: {},
    },
    'POST /conversations.history': {
      body: {
        channel: {
          type: 'string',
        },
        latest: {
          type: 'number',
        },
        oldest: {
          type: 'number',
        },
        inclusive: {
          type: 'boolean',
        },
        limit: {
          type: 'integer',
        },
        cursor: {
          type: 'string',
        },
      },
    },
    'POST /conversations.info': {
      body: {
        channel: {
          type: 'string',
        },
        include_locale: {
          type: 'boolean',
        },
        include_num_members: {
          type: 'boolean',
        },
      },
    },
    'POST /conversations.list': {
      // The archived specification lacks team_id.
      source: 'https://docs.slack.dev/reference/methods/conversations.list',
      body: {
        team_id: { type: 'string' },
        exclude_archived: {
          type: 'boolean',
        },
        types: {
          type: 'string',
        },
        limit: {
          type: 'integer',
        },
        cursor: {
          type: 'string',
        },
      },
    },
    'POST /conversations.replies': {
      body: {
        channel: {
          type: 'string',
        },
        ts: {
          type: 'number',
        },
        latest: {
          type: 'number',
        },
        oldest: {
          type: 'number',
        },
        inclusive: {
          type: 'boolean',
        },
        limit: {
          type: 'integer',
        },
        cursor: {
          type: 'string',
        },
      },
    },
    'POST /users.info': {
      body: {
        include_locale: {
          type: 'boolean',
        },
        user: {
          type: 'string',
        },
      },
    },
  },
};
