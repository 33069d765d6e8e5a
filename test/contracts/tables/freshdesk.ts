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
const singleObject = (section: string, query: Readonly<Record<string, Rule>> = {}): Operation => ({
  source: `${REFERENCE}#${section}`,
  ...{ query, headers },
});
const list = (section: string, query: Readonly<Record<string, Rule>> = {}): Operation =>
  singleObject(section, { ...pages, ...query });

export const freshdesk: Contract = {
  name: 'freshdesk',
  source: 'Freshdesk',
  specification: REFERENCE,
  version: 'v2',
  address: 'api',
  takenOn: '2026-11-27',
  operations: {
    'GET /agents/me': singleObject('me'),
    'GET /solutions/categories': list('list_solution_category'),
    'GET /solutions/categories/{id}': singleObject('view_solution_category'),
    'GET /solutions/categories/{category_id}/folders': list('list_solution_folder'),
    'GET /solutions/folders/{id}': singleObject('view_solution_folder'),
    'GET /solutions/folders/{folder_id}/subfolders': list('list_solution_folder'),
    'GET /solutions/folders/{id}/articles': list('list_solution_article'),
    'GET /solutions/articles/{id}': singleObject('view_solution_article'),
    'GET /tickets': list('list_all_tickets', {
      page: { type: 'integer', min: 1, max: 300 },
      filter: { enum: ['new_and_my_open', 'watching', 'spam', 'deleted'] },
      ...{ requester_id: { type: 'integer' }, email: { type: 'string' }, unique_external_id: { type: 'string' } },
      company_id: { type: 'integer' },
      updated_since: { pattern: String.raw`^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$` },
      order_by: { enum: ['created_at', 'due_by', 'updated_at', 'status'] },
      order_type: { enum: ['asc', 'desc'] },
      include: { list: ['stats', 'requester', 'description'] },
    }),
    'GET /tickets/{id}': singleObject('view_a_ticket', {
      include: { list: ['conversations', 'requester', 'company', 'stats'] },
    }),
    'GET /tickets/{id}/conversations': list('list_all_ticket_notes'),
  },
};
