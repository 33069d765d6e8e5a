import Joi from 'joi';

import { HttpError } from '../../http/errors.js';
import { type DocumentedOperation, operation } from '../../http/operation.js';
import { CRM_OPERATIONS, crmIncludes, crmListing, type CrmOperation } from '../../schemas/crm.js';
import { integer, nullable } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, connectedSourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/**
 * POST /integrations/data/crm/…: returns a page of records of one kind, read from Salesforce at the time of the call.
 */
const list = (kind: CrmOperation): DocumentedOperation =>
  operation({
    method: 'post',
    path: `/integrations/data/crm/${kind}`,
    operationId: `get_${kind}_integrations_data_crm_${kind}_post`,
    tag: 'CRM',
    auth: 'user',
    summary: `Lists the ${kind} of a connected Salesforce.`,
    description: [],
    body: crmListing(kind),
    answer: named(
      CRM_OPERATIONS[kind].names.page,
      Joi.object({
        count: integer().required(),
        next_cursor: nullable(Joi.string()).required(),
        data: Joi.array().items(CRM_OPERATIONS[kind].record).required(),
      }),
    ),
    async handle({ caller, body, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, 'SALESFORCE');
      const asked = {
        filters: body.filters,
        includes: body.includes,
        remote: body.include_remote_data,
        orderBy: body.order_by ?? null,
        orderDir: body.order_dir,
        pageSize: body.page_size,
        cursor: body.next_cursor || null,
      };
      return callSource('Salesforce', (signal) => accountOf(source, deps).read(kind, asked, signal));
    },
  });

/** GET /integrations/data/crm/…/{id}: returns one of these records. */
const one = (kind: CrmOperation): DocumentedOperation =>
  operation({
    method: 'get',
    path: `/integrations/data/crm/${kind}/{id}`,
    operationId: `get_${CRM_OPERATIONS[kind].one}_integrations_data_crm_${kind}__id__get`,
    tag: 'CRM',
    auth: 'user',
    summary: `Answers one ${CRM_OPERATIONS[kind].one} of a connected Salesforce.`,
    description: [],
    query: Joi.object({
      data_source_id: integer().required(),
      include_remote_data: Joi.boolean().default(false),
      includes: crmIncludes().single().default([]),
    }),
    answer: CRM_OPERATIONS[kind].record,
    async handle({ caller, params, query, deps }) {
      const source = await connectedSourceOf(caller, query.data_source_id, deps.store, 'SALESFORCE');
      const asked = { id: params['id'], includes: query.includes, remote: query.include_remote_data };
      const account = accountOf(source, deps);
      const found = await callSource('Salesforce', (signal) => account.read(`one of ${kind}`, asked, signal));
      if (found === null) throw new HttpError(404, `There is no such ${CRM_OPERATIONS[kind].one} in this account.`);
      return found;
    },
  });

/** Every kind of record, with both operations. */
export const crmOperations: readonly DocumentedOperation[] = (Object.keys(CRM_OPERATIONS) as CrmOperation[]).flatMap(
  (kind) => [list(kind), one(kind)],
);
