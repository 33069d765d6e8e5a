import Joi from 'joi';

import { MAX_PAGE_LIMIT } from '../../contract/files/fileFilters.js';
import { ITEM_CAUSES, ITEM_OUTCOMES, ITEM_STAGES, RUN_CAUSES } from '../../contract/runs/ledger.js';
import { RUN_KINDS } from '../../contract/runs/runKinds.js';
import { STALL_CAUSES } from '../../contract/runs/stalls.js';
import { RUN_STATES, type RunFilter } from '../../store/runs/list.js';
import { workflowFields, wholeRecord } from './answers.js';
import { byName, integer, nullable, timestamp } from './fields.js';
import { idList } from './listing.js';
import type { Infer } from './inferred.js';
import { named } from './reference.js';

/** Returns the schema of a list in a query, where a single value arrives as a text instead of a list. */
const listParameter = <S extends Joi.Schema>(value: S) => Joi.array().items(value).single();
const runKind = () =>
  named(
    'SyncRunKind',
    Joi.string()
      .valid(...RUN_KINDS)
      .description(
        'Work of a run: `scrapeSitemap`, `webScrape`, `syncFeed`, `syncUpload` and `syncSource` (items of a connected account) find and ingest files, `syncItems` lists an account, `resyncFile` syncs files again, `autoSync` is a scheduled sync of an account, feed or scrape, which starts its steps as runs of their own.',
      ),
  );
const runCause = () =>
  named(
    'SyncRunCause',
    Joi.string()
      .valid(...RUN_CAUSES)
      .description(
        'What started a run. `retry`: a request that repeats items of another run. `command`: the operator ran the command `reconcile --mend`.',
      ),
  );
const runState = () =>
  named(
    'SyncRunStatus',
    Joi.string()
      .valid(...RUN_STATES)
      .description(
        '`queued`: accepted, not started. `paused`: it has reached its `max_tokens` and waits until it is resumed. `stalled`: it has due work but makes no progress; `message` says why. `finished`, `failed` and `aborted` are final; single items of a finished run may have failed.',
      ),
  );
const itemStage = () =>
  named(
    'SyncRunItemStage',
    Joi.string()
      .valid(...ITEM_STAGES)
      .description(
        'Step at which an item ended. `select`: before anything was fetched. `queue`: while it waited in the queue. `fetch`: download. `transcribe`: speech to text. `recognize`: OCR. `read`: extraction of text. `embed`: computation of vectors. `store`: storage of the result. `delete`: deletion.',
      ),
  );
const itemCause = () =>
  named(
    'SyncRunItemCause',
    Joi.string()
      .valid(...ITEM_CAUSES)
      .description(
        'Code of the reason why an item failed, was skipped or was aborted, or of a warning for an `ok` item. `message` of the item explains it, `remedy` says what to do.',
      ),
  );
const MAX_CUSTOMERS = 100;

/** Maximum number of runs per response. The items of each run in progress are counted, so a long list is expensive. */
const MAX_RUNS = 1_000;

export const runsQuery = Joi.object({
  limit: integer()
    .min(1)
    .max(MAX_RUNS)
    .default(100)
    .description('Maximum number of runs in the response, 1 to 1,000. Default 100.'),
  offset: integer()
    .min(0)
    .default(0)
    .description('Number of matching runs to skip before the first one of the response. Default 0.'),
  customer_ids: Joi.array()
    .items(Joi.string().max(512))
    .max(MAX_CUSTOMERS)
    .single()
    .description(
      'Only runs of these end users: your ids of the users, as in the header `customer-id`. Repeat the parameter for several users, at most 100.',
    ),
  kinds: listParameter(runKind()).description(
    'Only runs with this type of work, such as `webScrape`. Repeat the parameter for several types.',
  ),
  statuses: listParameter(runState()).description(
    'Only runs that are in this state now: `queued`, `running`, `paused`, `stalled`, `finished`, `failed` or `aborted`. Repeat the parameter for several states.',
  ),
  causes: listParameter(runCause()).description(
    'Only runs that this trigger started: `request`, `schedule`, `resync`, `retry` or `command`. Repeat the parameter for several triggers.',
  ),
  data_source_id: integer().description('Only runs about this connected account or feed, by `id` of the data source.'),
  file_id: integer().description(
    'Only runs that are about this file (such as the scrape that it is the parent of), or that processed it.',
  ),
  request_id: Joi.string()
    .max(512)
    .description('Only runs of the request with this id, as files and events report it.'),
  parent_run_id: integer().description(
    'Only the parts of a scheduled sync, by `id` of its run. A scheduled sync starts several runs, such as one that lists the account and one that syncs its files.',
  ),
  since: Joi.date()
    .iso()
    .description('Only runs that were accepted at this time or later: ISO 8601, such as `2026-01-31T00:00:00Z`.'),
  until: Joi.date()
    .iso()
    .description('Only runs that were accepted before this time, not at it: ISO 8601, such as `2026-02-01T00:00:00Z`.'),
});

type RunsQuery = Infer<typeof runsQuery>;

/** Converts the query of a request; absent fields are omitted. */
export function toRunFilter(query: RunsQuery): RunFilter {
  const filter = {
    customerIds: query.customer_ids,
    kinds: query.kinds,
    states: query.statuses,
    causes: query.causes,
    dataSourceId: query.data_source_id,
    fileId: query.file_id,
    requestId: query.request_id,
    parentRunId: query.parent_run_id,
    since: query.since,
    until: query.until,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

const count = () => integer().min(0);

/** Schema of a run: ok + failed + skipped + aborted + pending = discovered. */
export const runRecord = named(
  'SyncRun',
  wholeRecord({
    id: integer().description('Id of the run, for `sync_run_id` in paths such as `GET /sync_runs/{sync_run_id}`.'),
    kind: runKind().description('Type of work, such as `webScrape` or `syncUpload`.'),
    cause: runCause().description('What started the run: `request`, `schedule`, `resync`, `retry` or `command`.'),
    status: runState().description('State of the run now. Poll it until it is `finished`, `failed` or `aborted`.'),
    message: nullable(Joi.string().allow('')).description(
      'A sentence. For an active run: why it is stalled, or why the last attempt of a step failed. For an ended run: why it failed or was aborted, or that it accepted only part of the pages of a sitemap or site, because of a limit. Null if there is nothing to report.',
    ),
    error: nullable(Joi.string()).description(
      'Code of the reason in `message`. For a stalled run it is a `SyncRunStallCause`, otherwise a `SyncRunItemCause`. Null if `message` is null, and for a finished run.',
    ),
    stalled_since: nullable(timestamp()).description(
      'When the current stall was detected, in UTC: as many seconds after the last progress as the server setting `STALL_AFTER_S` says (default 60). Null if the run is not stalled.',
    ),
    stalls: Joi.array()
      .items(
        named(
          'SyncRunStall',
          wholeRecord({
            cause: named(
              'SyncRunStallCause',
              Joi.string()
                .valid(...STALL_CAUSES)
                .description(
                  'Why a run with due work makes no progress. `no_worker`: no worker process is running. `worker_starved`: other programs of the machine use the processor.',
                ),
            ).description('Cause of the stall as a code, such as `no_worker`. `message` explains it.'),
            message: Joi.string().description(
              'What the problem is and what the operator has to do, as a sentence for people. Programs use `cause`.',
            ),
            since: timestamp().description(
              'Time (UTC) at which the lack of progress was detected: `STALL_AFTER_S` seconds (default 60) after the last progress.',
            ),
            until: timestamp().description('Time (UTC) at which the run made progress again, or ended.'),
          }).description('An interval in which a run had due work and made no progress.'),
        ),
      )
      .description('Earlier stalls of the run that have ended, oldest first.'),
    organization_id: integer().description(
      '`id` of the organization on whose behalf the run works, as `GET /organization` returns it.',
    ),
    organization_user_id: nullable(integer()).description(
      '`id` of the end user whose files the run processes. Null for work of the organization as a whole.',
    ),
    organization_supplied_user_id: nullable(Joi.string()).description(
      'Your id of the end user, as in the header `customer-id`. Null for work of the organization as a whole.',
    ),
    data_source_id: nullable(integer()).description(
      '`id` of the connected account or feed that the run is about. Null if there is none.',
    ),
    file_id: nullable(integer()).description(
      '`id` of the file that the run is about; for a scrape or feed, of its parent file. Null for runs about many files.',
    ),
    parent_run_id: nullable(integer()).description(
      '`id` of the scheduled sync that started this run as one of its parts. Null for other runs.',
    ),
    request_id: Joi.string()
      .allow('')
      .description(
        'Id of the request that led to the run: the `request_id` that you sent, or one that the server created.',
      ),
    upload_id: nullable(Joi.string().allow('')).description(
      'Id of the upload that the run processes, by which `upload_ids` of `POST /user_files_v2` filters. Null for all other runs.',
    ),
    accepted_at: timestamp().description(
      'When the request or the schedule created the run, in UTC. It may wait until `started_at`.',
    ),
    started_at: nullable(timestamp()).description(
      'When its workflow was started, in UTC. Null while the run waits for that.',
    ),
    finished_at: nullable(timestamp()).description('When it ended, with success or not. Null while it is in progress.'),
    counts: named(
      'SyncRunCounts',
      wholeRecord({
        discovered: count().description('Number of all items that the run found: the sum of the other counts.'),
        ok: count().description(
          'Number of items that were ingested, or deleted as requested or because they vanished at their source.',
        ),
        failed: count().description(
          'Number of items that ended with an error. `GET /sync_runs/{sync_run_id}/items` returns the cause and remedy of each.',
        ),
        skipped: count().description(
          'Number of items that were not processed: unchanged, excluded by an option, unreadable at the source, or taken over by another run.',
        ),
        aborted: count().description(
          'Number of items that the run did not reach before it ended, or whose access was revoked. They can be retried.',
        ),
        pending: count().description('Number of items that have no outcome yet; 0 after the run has ended.'),
      }).description(
        'Number of items of a run by outcome. `discovered` is the sum of `ok`, `failed`, `skipped`, `aborted` and `pending`.',
      ),
    ).description('Number of items by outcome. The counts change while the run is in progress.'),
    bytes_fetched: count().description(
      'Size in bytes of the contents that were fetched or uploaded. Only the last attempt of each item counts.',
    ),
    tokens_embedded: count().description(
      'Number of tokens (cl100k) that were sent to the embedding model. Only the last attempt of each item counts.',
    ),
    tokens_reused: count().description(
      'Number of tokens (cl100k) whose stored vectors were used instead of embedding them again. Only the last attempt of each item counts.',
    ),
    details: byName(Joi.number()).description(
      'Further counts by name, such as `parts` of a scheduled sync; which ones exist depends on `kind`. Empty while the run is in progress.',
    ),
    ...workflowFields,
  }).description(
    'Background job, such as a scrape, an upload or a sync of an account. Its record is kept for the days of the server setting `LEDGER_LIFE_DAYS` (default 90) after its end.',
  ),
);

const itemOutcome = () =>
  named(
    'SyncRunItemOutcome',
    Joi.string()
      .valid(...ITEM_OUTCOMES, 'pending')
      .description(
        'Result of a run for one item. `ok`: ingested or deleted. `skipped`: not processed, for example because it is unchanged. `aborted`: the run ended before it was processed. `pending`: in progress or waiting.',
      ),
  );

export const itemsQuery = Joi.object({
  limit: integer()
    .min(1)
    .max(MAX_PAGE_LIMIT)
    .default(100)
    .description('Maximum number of items in the response; `next_cursor` leads to the others. Default 100.'),
  after: Joi.string()
    .pattern(/^\d{16}:[\w-]{1,64}$/)
    .description('Cursor of the next page: `next_cursor` of the previous response. Absent: the first page.'),
  outcomes: listParameter(itemOutcome()).description(
    'Only items with this result: `ok`, `failed`, `skipped`, `aborted` or `pending`. Repeat the parameter for several results.',
  ),
  stages: listParameter(itemStage()).description(
    'Only items that ended at this step, such as `fetch`. Repeat the parameter for several steps.',
  ),
  causes: listParameter(itemCause()).description(
    'Only items whose `cause` is this code, such as `not_found` or `access_denied`. Repeat the parameter for several causes.',
  ),
});

export const itemRecord = named(
  'SyncRunItem',
  wholeRecord({
    id: Joi.string().description(
      'Id of the item in this run, for `item_ids` of `POST /sync_runs/{sync_run_id}/retry`. The list of items accepts it as cursor `after`.',
    ),
    sync_run_id: integer().description(
      '`id` of the run that processed the item. In the list of a scheduled sync, it is one of the runs that this sync started.',
    ),
    file_id: nullable(integer()).description('`id` of the file of the item. Null if no file was created for it.'),
    external_id: Joi.string().allow('').description('Id of the item at its source; for a page, its address.'),
    name: nullable(Joi.string().allow('')).description(
      'Name of the item as its source shows it, or its external id if it has no name.',
    ),
    outcome: itemOutcome().description(
      '`ok`, `failed`, `skipped`, `aborted`, or `pending` while the item has no result.',
    ),
    stage: nullable(itemStage()).description(
      'Step at which the item ended, such as `fetch`. Null while it is pending, and after it was ingested.',
    ),
    cause: nullable(itemCause()).description(
      'Reason of a failed, skipped or aborted item, or warning about an `ok` item, as a code. Null if there is none.',
    ),
    message: nullable(Joi.string().allow('')).description(
      'Sentence that explains `cause`, such as the error of the source. Null if there is nothing to report.',
    ),
    remedy: nullable(Joi.string()).description(
      'Sentence that says how to remove the cause. Null if there is nothing to do.',
    ),
    bytes_fetched: count().description(
      'Size in bytes of the content that its last attempt fetched, or that was uploaded.',
    ),
    tokens_embedded: count().description(
      'Number of tokens (cl100k) that its last attempt sent to the embedding model.',
    ),
    tokens_reused: count().description('Number of tokens (cl100k) whose stored vectors its last attempt used.'),
    at: timestamp().description('When the item ended, in UTC; for a pending item, when it last changed.'),
    ...workflowFields,
  }).description('Result of a run for one file, or for one item at a source for which no file was created.'),
);

const RETRIED = ['failed', 'aborted', 'skipped'] as const;
const nonEmptyList = <S extends Joi.Schema>(value: S) => Joi.array().items(value).min(1);

/** Either named files or a filter; if both are absent, all failed files. */
export const retryBody = named(
  'RetrySyncRunRequest',
  Joi.object({
    item_ids: Joi.array()
      .items(Joi.string().max(100))
      .min(1)
      .max(1_000)
      .description(
        'Values of `id` of the items to sync again, as `GET /sync_runs/{sync_run_id}/items` lists them. Together with `file_ids` at most 1,000 files. Not together with a filter.',
      ),
    file_ids: idList()
      .min(1)
      .max(1_000)
      .description(
        'Files of the run to sync again, whatever their outcome was. Together with `item_ids` at most 1,000 files. Not together with a filter.',
      ),
    outcomes: nonEmptyList(Joi.string().valid(...RETRIED)).description(
      'Filter: items whose `outcome` is in the list. Default `failed`. Files that are READY now are not synced again.',
    ),
    stages: nonEmptyList(itemStage()).description(
      'Filter: items whose `stage`, the step at which they ended, is in the list.',
    ),
    causes: nonEmptyList(itemCause()).description(
      'Filter: failed, skipped or aborted items whose `cause` is in the list.',
    ),
  })
    .without('item_ids', ['outcomes', 'stages', 'causes'])
    .without('file_ids', ['outcomes', 'stages', 'causes'])
    .description(
      'Which items of a run to sync again: named ones, or those that match a filter. An empty object: all failed ones.',
    ),
);
export type RetryBody = Infer<typeof retryBody>;
