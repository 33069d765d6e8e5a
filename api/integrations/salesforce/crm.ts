import Joi from 'joi';

import { HttpError } from '../../http/errors.js';
import { type DocumentedOperation, operation } from '../../http/operation.js';
import { CRM_OPERATIONS, type CrmOperation } from '../../schemas/crm.js';
import { crmIncludes, crmListing } from '../../schemas/crmListing.js';
import { integer, nullable } from '../../schemas/fields.js';
import { accountId, remoteData } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, connectedSourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/**
 * Creates POST /integrations/data/crm/…, which returns a page of records of one kind, read from Salesforce during the
 * request.
 */
const list = (kind: CrmOperation): DocumentedOperation =>
  operation({
    method: 'post',
    path: `/integrations/data/crm/${kind}`,
    operationId: `get_${kind}_integrations_data_crm_${kind}_post`,
    tag: 'CRM',
    auth: 'user',
    summary: `List ${kind} of a connected Salesforce account`,
    description: [
      `Returns a page of the ${kind} that the connected user can read now. Use it to look up records without storing them. Follow \`next_cursor\` with the same filters and order to the last page; an invalid one returns 400. ${LIVE}`,
    ],
    returns: `One page of ${kind} as Salesforce has them now, the number of all that match, and the cursor of the next page.`,
    body: crmListing(kind),
    answer: named(
      CRM_OPERATIONS[kind].names.page,
      Joi.object({
        count: integer()
          .required()
          .description('Number of all records that match the filters, on all pages, as Salesforce counts them now.'),
        next_cursor: nullable(Joi.string())
          .required()
          .description(
            'Cursor of the next page: send it as `next_cursor` in the next request. `null` after the last page.',
          ),
        data: Joi.array()
          .items(CRM_OPERATIONS[kind].record)
          .required()
          .description(`The ${kind} of this page as Salesforce has them now, in the requested order.`),
      }).description(
        `One page of a list of ${kind}, read from Salesforce during the request, and the cursor of the next page.`,
      ),
    ),
    async handle({ caller, body, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, 'SALESFORCE');
      const request = {
        filters: body.filters,
        includes: body.includes,
        remote: body.include_remote_data,
        orderBy: body.order_by ?? null,
        orderDir: body.order_dir,
        pageSize: body.page_size,
        cursor: body.next_cursor || null,
      };
      return callSource('Salesforce', (signal) => accountOf(source, deps).read(kind, request, signal));
    },
  });

/** Creates GET /integrations/data/crm/…/{id}, which returns one record of a kind, read during the request. */
const singleRead = (kind: CrmOperation): DocumentedOperation =>
  operation({
    method: 'get',
    path: `/integrations/data/crm/${kind}/{id}`,
    operationId: `get_${CRM_OPERATIONS[kind].singular}_integrations_data_crm_${kind}__id__get`,
    tag: 'CRM',
    auth: 'user',
    summary: `Get ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${CRM_OPERATIONS[kind].singular} of a connected Salesforce account`,
    description: [
      `Returns one record by its id at Salesforce. A record that does not exist, or that the connected user cannot read, returns 404. ${LIVE}`,
    ],
    returns: `The ${CRM_OPERATIONS[kind].singular} as Salesforce has it now, with the related records that \`includes\` names.`,
    query: Joi.object({
      data_source_id: accountId(),
      include_remote_data: remoteData(),
      includes: crmIncludes()
        .single()
        .default([])
        .description('Related records to return with the record: `Tasks`, `Events`. The parameter may be repeated.'),
    }),
    answer: CRM_OPERATIONS[kind].record,
    async handle({ caller, params, query, deps }) {
      const source = await connectedSourceOf(caller, query.data_source_id, deps.store, 'SALESFORCE');
      const request = { id: params['id'], includes: query.includes, remote: query.include_remote_data };
      const account = accountOf(source, deps);
      const found = await callSource('Salesforce', (signal) => account.read(`one of ${kind}`, request, signal));
      if (found === null)
        throw new HttpError(404, `There is no such ${CRM_OPERATIONS[kind].singular} in this account.`);
      return found;
    },
  });

/** The two operations of each kind of record. */
export const crmOperations: readonly DocumentedOperation[] = (Object.keys(CRM_OPERATIONS) as CrmOperation[]).flatMap(
  (kind) => [list(kind), singleRead(kind)],
);
