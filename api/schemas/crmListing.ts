/** Schemas of requests for lists of CRM records. */
import Joi from 'joi';

import { CRM_OPERATIONS, type CrmOperation } from './crm.js';
import { orderDirection } from './enums.js';
import { integer, orNull } from './fields.js';
import { accountId, remoteData } from './integrations.js';
import { named } from './reference.js';

/** Returns the schema of the kinds of related records in a request. */
export const crmIncludes = () =>
  Joi.array()
    .items(
      named(
        'BaseIncludes',
        Joi.string()
          .valid('Tasks', 'Events')
          .description(
            'Kind of related records. `Tasks`: work that users have to do or have done. `Events`: meetings, calls and other appointments.',
          ),
      ),
    )
    .unique();
/** Default and maximum number of records per page. */
const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const MAX_CURSOR = 4_096;

/** Returns the schema of the body of a live list of CRM records of one kind. */
export const crmListing = (kind: CrmOperation) =>
  named(
    CRM_OPERATIONS[kind].names.request,
    Joi.object({
      data_source_id: accountId(),
      include_remote_data: remoteData(),
      next_cursor: orNull(Joi.string().allow('').max(MAX_CURSOR)).description(
        '`next_cursor` of the previous response. Absent, null or empty: the first page.',
      ),
      page_size: orNull(integer().min(1).max(MAX_PAGE_SIZE), PAGE_SIZE).description(
        `Maximum number of records on a page: ${PAGE_SIZE} by default and for null, ${MAX_PAGE_SIZE} at most.`,
      ),
      order_by: orNull(
        named(
          CRM_OPERATIONS[kind].names.order,
          Joi.string()
            .valid(...CRM_OPERATIONS[kind].orders)
            .description(
              `Field by which ${kind} are sorted, such as \`updated_at\`. Those without a value come last in both directions.`,
            ),
        ),
      ).description(`Field by which the ${kind} are sorted, such as \`updated_at\`. Absent or null: by id.`),
      order_dir: orNull(orderDirection(), 'asc').description(
        'Direction of `order_by`. Records without a value come last in both directions. Null: `asc`.',
      ),
      includes: crmIncludes()
        .default([])
        .description(
          'Related records to return with each record: `Tasks` (work to do or done) and `Events` (appointments). Default: none.',
        ),
      filters: named(
        CRM_OPERATIONS[kind].names.filters,
        Joi.object(CRM_OPERATIONS[kind].filters).description(
          `Filters of a list of ${kind} at Salesforce. A record has to meet every filter that is set.`,
        ),
      )
        .default({})
        .description(
          `Filters of the ${kind} to return, combined with AND. \`{}\` selects all that the connected user can read.`,
        ),
    }).description(`Filters, order and page of a list of ${kind} of a connected Salesforce account.`),
  );
