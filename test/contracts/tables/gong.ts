import type { Contract, Rule } from '../contract.js';

const headers: Readonly<Record<string, Rule>> = {
  authorization: { pattern: '^(?:Basic|Bearer) \\S+$', required: true },
};
const text: Rule = { type: 'string' };
const flag: Rule = { type: 'boolean' };
/** `2018-02-18T02:30:00-07:00` or `2018-02-18T08:00:00Z`. */
const dateTime: Rule = { pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)$' };
const filter: Rule = {
  ...{ type: 'object', required: true },
  fields: { fromDateTime: dateTime, toDateTime: dateTime, workspaceId: text, callIds: { type: 'array' } },
};
const SPECIFICATION = 'https://github.com/cedricziel/gong-rs/blob/e8be3fd/spec/openapi.json';

export const gong: Contract = {
  name: 'gong',
  source: 'Gong',
  // A copy of https://gong.app.gong.io/ajax/settings/api/documentation/specs?version=
  specification: SPECIFICATION,
  version: 'V2',
  address: 'api',
  // The specification's paths begin with /v2. The paths of requests lack it, because the address of a customer's API
  // ends with it.
  prefix: '/v2',
  takenOn: '2026-11-27',
  operations: {
    'GET /workspaces': { query: {}, headers },
    'GET /calls': {
      query: {
        ...{ cursor: text, workspaceId: text },
        ...{ fromDateTime: { ...dateTime, required: true }, toDateTime: { ...dateTime, required: true } },
      },
      headers,
    },
    'POST /calls/extensive': {
      source: SPECIFICATION,
      query: {},
      body: {
        cursor: text,
        filter: { ...filter, fields: { ...filter.fields, primaryUserIds: { type: 'array' } } },
        contentSelector: {
          type: 'object',
          fields: {
            context: { enum: ['None', 'Basic', 'Extended'] },
            contextTiming: { type: 'array' },
            exposedFields: {
              type: 'object',
              fields: {
                ...{ parties: flag, media: flag },
                ...{ content: { type: 'object' }, interaction: { type: 'object' }, collaboration: { type: 'object' } },
              },
            },
          },
        },
      },
      headers,
    },
    'POST /calls/transcript': { source: SPECIFICATION, query: {}, body: { cursor: text, filter }, headers },
    'GET /library/folders': {
      // Optional in the specification, but refused without it.
      source: 'https://github.com/NangoHQ/integration-templates/pull/652',
      query: { workspaceId: { ...text, required: true } },
      headers,
    },
    'GET /library/folder-content': { query: { folderId: { pattern: '^\\d{1,20}$' } }, headers },
  },
};
