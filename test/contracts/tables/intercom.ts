import type { Contract } from '../contract.js';

export const intercom: Contract = {
  name: 'intercom',
  source: 'Intercom',
  specification: 'https://github.com/intercom/Intercom-OpenAPI',
  version: '2.14, 8889625a',
  address: 'api',
  ignoredPaths: '^/files/',
  takenOn: '2026-11-26',
  operations: {
    'GET /me': {
      query: {},
    },
    'GET /admins': {
      query: {
        display_avatar: {
          type: 'boolean',
        },
      },
    },
    'GET /teams': {
      query: {},
    },
    'GET /contacts/{contact_id}': {
      query: {},
    },
    'GET /articles': {
      // The specification omits the parameters of pagination.
      source: 'https://developers.intercom.com/docs/build-an-integration/learn-more/rest-apis/pagination',
      query: { page: { type: 'integer', min: 1 }, per_page: { type: 'integer', min: 1, max: 250 } },
    },
    'GET /articles/{article_id}': {
      query: {},
    },
    'GET /help_center/collections': {
      // The specification omits the parameters of pagination.
      source: 'https://developers.intercom.com/docs/build-an-integration/learn-more/rest-apis/pagination',
      query: { page: { type: 'integer', min: 1 }, per_page: { type: 'integer', min: 1, max: 250 } },
    },
    'GET /conversations/{conversation_id}': {
      query: {
        display_as: {
          type: 'string',
        },
        include_translations: {
          type: 'boolean',
        },
      },
    },
    'POST /conversations/search': {
      query: {},
      body: {
        query: {
          required: true,
        },
        pagination: {
          type: 'object',
        },
      },
    },
    'GET /tickets/{ticket_id}': {
      query: {},
    },
    'POST /tickets/search': {
      query: {},
      body: {
        query: {
          required: true,
        },
        pagination: {
          type: 'object',
        },
      },
    },
  },
};
