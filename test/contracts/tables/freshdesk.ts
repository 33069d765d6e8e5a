import type { Contract, Operation, Rule } from '../contract.js';

const REFERENCE = 'https://developers.freshdesk.com/api/';
const headers: Readonly<Record<string, Rule>> = {
  authorization: { pattern: String.raw`^Basic [A-Za-z\d+/]+={0,2}$`, required: true },
  // Freshdesk refuses other values with 406.
  accept: { enum: ['application/json', '*/*'] },
};
const pages: Readonly<Record<string, Rule>> = {
  page: { type: 'integer', min: 1 },
  per_page: { type: 'integer', min: 1, max: 100 },
};
const one = (section: string, query: Readonly<Record<string, Rule>> = {}): Operation => ({
  source: `${REFERENCE}#${section}`,
  ...{ query, headers },
});
const many = (section: string, query: Readonly<Record<string, Rule>> = {}): Operation =>
  one(section, { ...pages, ...query });

export const freshdesk: Contract = {
  name: 'freshdesk',
  source: 'Freshdesk',
  specification: REFERENCE,
  version: 'v2',
  part: 'api',
  takenOn: '2026-11-27',
  operations: {
    'GET /agents/me': one('me'),
    'GET /solutions/categories': many('list_solution_category'),
    'GET /solutions/categories/{id}': one('view_solution_category'),
    'GET /solutions/categories/{category_id}/folders': many('list_solution_folder'),
    'GET /solutions/folders/{id}': one('view_solution_folder'),
    'GET /solutions/folders/{folder_id}/subfolders': many('list_solution_folder'),
    'GET /solutions/folders/{id}/articles': many('list_solution_article'),
    'GET /solutions/articles/{id}': one('view_solution_article'),
    'GET /tickets': many('list_all_tickets', {
      page: { type: 'integer', min: 1, max: 300 },
      filter: { enum: ['new_and_my_open', 'watching', 'spam', 'deleted'] },
      ...{ requester_id: { type: 'integer' }, email: { type: 'string' }, unique_external_id: { type: 'string' } },
      company_id: { type: 'integer' },
      updated_since: { pattern: String.raw`^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$` },
      order_by: { enum: ['created_at', 'due_by', 'updated_at', 'status'] },
      order_type: { enum: ['asc', 'desc'] },
      include: { list: ['stats', 'requester', 'description'] },
    }),
    'GET /tickets/{id}': one('view_a_ticket', {
      include: { list: ['conversations', 'requester', 'company', 'stats'] },
    }),
    'GET /tickets/{id}/conversations': many('list_all_ticket_notes'),
  },
};
