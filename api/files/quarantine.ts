import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { MAX_PAGE_LIMIT } from '../../contract/files/fileFilters.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { QuarantineFilters } from '../../contract/files/quarantine.js';
import type { QuarantinedDoc } from '../../store/models/quarantine.js';
import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { listOf, wholeRecord } from '../schemas/answers.js';
import { keywords, named } from '../schemas/reference.js';
import { integer, nullable, timestamp } from '../schemas/fields.js';
import { idList } from '../schemas/listing.js';
import { sourceType } from '../schemas/enums.js';

const record = named(
  'QuarantinedFile',
  wholeRecord({
    file_id: integer().description(
      '`id` of the file. A restored file keeps it. Send it in `file_ids` of `POST /quarantined_files/restore` to restore the file.',
    ),
    name: nullable(Joi.string().allow('')).description('File name or title before the deletion; null if it had none.'),
    source: sourceType().description('Where the file came from, such as `WEB_SCRAPE` or `NOTION`.'),
    external_file_id: Joi.string().description('Id that the file had at its source; for a page, its address.'),
    external_url: nullable(Joi.string().allow('')).description(
      'Address that the file had at its source; null if it had none.',
    ),
    data_source_id: nullable(integer()).description(
      '`id` of the data source that the file came from. Null for pages of a scrape.',
    ),
    parent_id: nullable(integer()).description(
      '`id` of the file that contained it: a folder, or the parent file of a scrape. Null if it had no parent.',
    ),
    organization_supplied_user_id: Joi.string().description('Your id of the end user, as in the header `customer-id`.'),
    run_id: integer().description(
      '`id` of the run that found the file missing at its source, for `GET /sync_runs/{sync_run_id}`.',
    ),
    quarantined_at: timestamp().description(
      'When the file was removed from lists and searches, in UTC. It is erased at `kept_until`.',
    ),
    kept_until: timestamp().description('Time (UTC) until which the file can be restored. Afterwards it is erased.'),
    state: named(
      'QuarantineState',
      Joi.string()
        .valid('LEAVING', 'KEPT', 'RETURNING')
        .description(
          '`LEAVING`: its vectors are being moved to quarantine. `KEPT`: it can be restored. `RETURNING`: it is being restored.',
        ),
    ).description('Whether it can be restored now. Only `KEPT` files can.'),
  }).description('A file that vanished at its source and can be restored until `kept_until`.'),
);

const present = ({ _id, file, ...row }: QuarantinedDoc) => ({
  file_id: _id,
  name: file.name,
  source: file.source,
  external_file_id: file.externalFileId,
  external_url: file.externalUrl,
  data_source_id: row.dataSourceId,
  parent_id: row.parentId,
  organization_supplied_user_id: row.customerId,
  run_id: row.missedBy,
  quarantined_at: row.quarantinedAt.toISOString(),
  kept_until: row.keptUntil.toISOString(),
  state: row.state.toUpperCase(),
});

/** Filters of quarantined files, in queries and bodies. */
const filterFields = {
  data_source_id: integer()
    .min(1)
    .description('Only files of this data source, by its `id`. Absent: files of all data sources, and scraped pages.'),
  parent_id: integer()
    .min(1)
    .description(
      'Only direct children of the file with this `id`, such as the pages of one scrape. Absent: files with any parent or none.',
    ),
  customer_id: Joi.string().description(
    'Only files of this end user: your id of the user, as in the header `customer-id`. Absent: files of all end users.',
  ),
  run_id: integer()
    .min(1)
    .description('Only files that the run with this `id` did not find at their source. Absent: files of all runs.'),
};
interface FilterValues {
  data_source_id?: number;
  parent_id?: number;
  customer_id?: string;
  run_id?: number;
  file_ids?: number[];
}
const filtersOf = ({ data_source_id, parent_id, customer_id, run_id, file_ids }: FilterValues): QuarantineFilters => ({
  ...(data_source_id !== undefined && { dataSourceId: data_source_id }),
  ...(parent_id !== undefined && { parentId: parent_id }),
  ...(customer_id !== undefined && { customerId: customer_id }),
  ...(run_id !== undefined && { runId: run_id }),
  ...(file_ids !== undefined && { fileIds: file_ids }),
});

/** GET /quarantined_files: lists files that disappeared at their source and can be restored for some days. */
export const quarantinedFiles = operation({
  method: 'get',
  path: '/quarantined_files',
  operationId: 'list_quarantined_files',
  tag: 'Quarantine',
  auth: 'key',
  summary: 'List quarantined files',
  description: [
    'Lists files that were deleted because they vanished at their source, and that can still be restored. They stay for `QUARANTINE_DAYS` days and are then erased. Neither searches nor the file lists of end users return them. Files that a caller deleted are not in this list. Filters are combined with AND; files are sorted by id.',
  ],
  returns: 'Files that can still be restored, and their number on all pages.',
  query: Joi.object({
    ...filterFields,
    limit: integer()
      .min(1)
      .max(MAX_PAGE_LIMIT)
      .default(100)
      .description('Maximum number of files in the response. `count` has the number of all that match.'),
    offset: integer().min(0).default(0).description('Number of matching files to skip, in the order of their ids.'),
  }),
  answer: listOf('QuarantinedFiles', record, 'quarantined files'),
  async handle({ caller, query, deps: { store } }) {
    const { found, count } = await store.quarantine.list(caller.organizationId, filtersOf(query), query);
    return { results: found.map(present), count };
  },
});

/**
 * POST /quarantined_files/restore: restores files unchanged. A file stays quarantined if a newer file has its external
 * id.
 */
export const restoreQuarantined = operation({
  method: 'post',
  path: '/quarantined_files/restore',
  operationId: 'restore_quarantined_files',
  tag: 'Quarantine',
  auth: 'key',
  summary: 'Restore quarantined files',
  description: [
    'Restores files that vanished at their source. They keep their ids, and are not fetched or embedded again. Filters are combined with AND; at least one is required (400). A run for each user restores them after the response, and FILE_READY reports each file. A file stays in quarantine if a newer file has the same `external_file_id`. Syncs that do not find a restored file at its source leave it unchanged, until a sync has found it there once.',
  ],
  returns: 'Number of files that match and are being restored; FILE_READY reports each.',
  createsWork: true,
  body: keywords(
    named(
      'RestoreQuarantinedFilesRequest',
      Joi.object({
        ...filterFields,
        file_ids: idList().description(
          'Only files with one of these values of `file_id`, as `GET /quarantined_files` lists them; at most 10,000. An empty list selects none.',
        ),
      }).description('Which files to restore. At least one filter is required.'),
    ),
    {
      minProperties: 1,
    },
  ),
  answer: named(
    'RestoringFiles',
    Joi.object({
      restoring: integer()
        .required()
        .description('Number of files whose restoration was started; 0 if no file matches.'),
    }).description(
      'Number of files that a request began to restore. A run for each user restores them after the response.',
    ),
  ),
  async handle({ caller, body, deps: { store, unit } }) {
    const filters = filtersOf(body);
    if (Object.keys(filters).length === 0) throw new HttpError(400, 'Name at least one filter.');
    const owners = await store.quarantine.listOwnersToRestore(caller.organizationId, filters);
    const firstRunId = owners.length === 0 ? 0 : await store.runs.nextId(owners.length);
    const runs = owners.map((owner, index) => ({ owner, runId: firstRunId + index }));
    const restoring = await unit.transaction(async (session) => {
      let files = 0;
      for (const { owner, runId } of runs) {
        files += await store.quarantine.claimForRestore(owner, filters, runId, session);
        const work = { kind: 'settleQuarantine', request: { does: 'restore' } } as const;
        const run = { ...work, workflowId: workflowIds.restore(runId), owner };
        await store.runs.accept(runId, { ...run, fileId: null, requestId: randomUUID() }, session);
      }
      return files;
    });
    for (const { runId } of runs) unit.start(runId);
    return { restoring };
  },
});
