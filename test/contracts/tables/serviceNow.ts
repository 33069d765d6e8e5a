import type { Contract, Rule } from '../contract.js';

const TABLES = 'https://www.servicenow.com/docs/r/api-reference/rest-apis/c_TableAPI.html';
const ATTACHMENTS = 'https://www.servicenow.com/docs/r/api-reference/rest-apis/c_AttachmentAPI.html';
const authorization: Rule = { pattern: String.raw`^Bearer \S+$`, required: true };
const headers: Readonly<Record<string, Rule>> = {
  authorization,
  accept: { enum: ['application/json', 'application/xml'] },
};
const view: Readonly<Record<string, Rule>> = {
  sysparm_display_value: { enum: ['true', 'false', 'all'] },
  sysparm_exclude_reference_link: { type: 'boolean' },
  sysparm_fields: { pattern: String.raw`^[a-z\d_.]+(?:,[a-z\d_.]+)*$` },
  sysparm_query_no_domain: { type: 'boolean' },
  sysparm_view: { enum: ['desktop', 'mobile', 'both'] },
};
const pages: Readonly<Record<string, Rule>> = {
  sysparm_query: { type: 'string' },
  sysparm_limit: { type: 'integer', min: 1, max: 10_000 },
  sysparm_offset: { type: 'integer', min: 0 },
};

/** Rules from the documentation that ServiceNow publishes as https://github.com/ServiceNow/ServiceNowDocs. */
export const serviceNow: Contract = {
  name: 'serviceNow',
  source: 'ServiceNow',
  specification: 'https://github.com/ServiceNow/ServiceNowDocs',
  version: 'Australia, cb48b5c3',
  address: 'api',
  takenOn: '2026-11-27',
  operations: {
    // A parameter with another name is a condition on the field of that name.
    'GET /table/{tableName}': {
      source: TABLES,
      query: {
        ...{ ...view, ...pages, sysparm_no_count: { type: 'boolean' }, sysparm_query_category: { type: 'string' } },
        sysparm_suppress_pagination_header: { type: 'boolean' },
      },
      headers,
    },
    'GET /table/{tableName}/{sys_id}': { source: TABLES, query: view, headers },
    'GET /attachment': { source: ATTACHMENTS, query: pages, headers },
    'GET /attachment/{sys_id}': { source: ATTACHMENTS, query: {}, headers },
    'GET /attachment/{sys_id}/file': { source: ATTACHMENTS, query: {}, headers: { authorization } },
  },
};
