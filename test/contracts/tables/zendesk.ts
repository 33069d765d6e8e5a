import type { Contract, Operation, Rule } from '../contract.js';

const REFERENCE = 'https://developer.zendesk.com/api-reference';
const text: Rule = { type: 'string' };
const users = {
  include: { list: ['users', 'groups', 'organizations', 'last_audits', 'metric_sets', 'dates'] },
} as const;

/**
 * Parameters of pagination by cursor and by page number, with at most 100 entries per page:
 * https://developer.zendesk.com/api-reference/introduction/pagination/.
 */
const PAGES = {
  'page[size]': { type: 'integer', min: 1, max: 100 },
  'page[after]': text,
  'page[before]': text,
  page: { type: 'integer', min: 1, max: 100 },
  per_page: { type: 'integer', min: 1, max: 100 },
} as const;
const operation = (page: string, query: Operation['query'] = {}): Operation => ({
  source: `${REFERENCE}/${page}`,
  query,
});
const helpCenterOperation = (page: string, query: Operation['query'] = {}): Operation =>
  operation(`help_center/help-center-api/${page}/`, query);

/** Rules from the reference. Zendesk's OpenAPI lacks the help centre, cursors and sideloading. */
export const zendesk: Contract = {
  name: 'zendesk',
  source: 'Zendesk',
  specification: 'https://developer.zendesk.com/api-reference/',
  version: 'API v2',
  takenOn: '2026-11-26',
  address: 'api',
  operations: {
    'GET /users/me.json': operation('ticketing/users/users/#show-self'),
    'GET /help_center/categories.json': helpCenterOperation('categories', {
      ...PAGES,
      sort_by: text,
      sort_order: text,
    }),
    'GET /help_center/categories/{id}.json': helpCenterOperation('categories'),
    'GET /help_center/categories/{id}/sections.json': helpCenterOperation('sections', {
      ...PAGES,
      sort_by: text,
      sort_order: text,
    }),
    'GET /help_center/categories/{id}/articles.json': helpCenterOperation('articles', {
      ...PAGES,
      sort_by: text,
      sort_order: text,
    }),
    'GET /help_center/sections/{id}.json': helpCenterOperation('sections'),
    'GET /help_center/sections/{id}/articles.json': helpCenterOperation('articles', {
      ...PAGES,
      sort_by: text,
      sort_order: text,
    }),
    'GET /help_center/articles/{id}.json': helpCenterOperation('articles'),
    'GET /help_center/articles/{id}/translations.json': helpCenterOperation('translations', {
      ...PAGES,
      locales: text,
    }),
    // Pages have up to 1,000 tickets:
    // https://developer.zendesk.com/documentation/ticketing/managing-tickets/using-the-incremental-export-api.
    'GET /incremental/tickets/cursor.json': operation('ticketing/ticket-management/incremental_exports/', {
      start_time: { type: 'integer', min: 1 },
      cursor: text,
      per_page: { type: 'integer', min: 1, max: 1000 },
      exclude_deleted: { type: 'boolean' },
      ...users,
    }),
    'GET /tickets.json': operation('ticketing/tickets/tickets/#list-tickets', {
      ...PAGES,
      external_id: text,
      // Pages by cursor have `sort`; numbered pages have sort_by and sort_order.
      sort: { enum: ['updated_at', '-updated_at', 'id', '-id', 'status', '-status'] },
      sort_by: text,
      sort_order: { enum: ['asc', 'desc'] },
      ...users,
    }),
    'GET /tickets/{id}.json': operation('ticketing/tickets/tickets/#show-ticket', users),
    'GET /tickets/{id}/comments.json': operation('ticketing/tickets/ticket_comments/#list-comments', {
      ...PAGES,
      include: { enum: ['users'] },
      include_inline_images: { type: 'boolean' },
      sort: { enum: ['created_at', '-created_at'] },
    }),
  },
};
