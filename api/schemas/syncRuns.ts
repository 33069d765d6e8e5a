import Joi from 'joi';

import { MAX_PAGE_LIMIT } from '../../contract/fileFilters.js';
import { ITEM_CAUSES, ITEM_OUTCOMES, ITEM_STAGES, RUN_CAUSES } from '../../contract/ledger.js';
import { RUN_KINDS } from '../../contract/orchestration.js';
import { STALL_CAUSES } from '../../contract/stalls.js';
import { RUN_STATES, type RunFilter } from '../../store/runs/list.js';
import { workflowFields, wholeRecord } from './answers.js';
import { integer, nullable, timestamp } from './fields.js';
import { idList } from './listing.js';
import type { Infer } from './inferred.js';
import { named } from './reference.js';

/** A single value of a query is a text instead of a list. */
const some = <S extends Joi.Schema>(value: S) => Joi.array().items(value).single();
const runKind = () => named('SyncRunKind', Joi.string().valid(...RUN_KINDS));
const runCause = () => named('SyncRunCause', Joi.string().valid(...RUN_CAUSES));
const runState = () => named('SyncRunStatus', Joi.string().valid(...RUN_STATES));
const itemStage = () => named('SyncRunItemStage', Joi.string().valid(...ITEM_STAGES));
const itemCause = () => named('SyncRunItemCause', Joi.string().valid(...ITEM_CAUSES));
const MAX_CUSTOMERS = 100;

/** Filters of runs in progress are expensive, since each run is counted. */
const MAX_RUNS = 1_000;

export const runsQuery = Joi.object({
  limit: integer().min(1).max(MAX_RUNS).default(100),
  offset: integer().min(0).default(0),
  customer_ids: Joi.array().items(Joi.string().max(512)).max(MAX_CUSTOMERS).single(),
  kinds: some(runKind()),
  statuses: some(runState()),
  causes: some(runCause()),
  data_source_id: integer(),
  file_id: integer(),
  request_id: Joi.string().max(512),
  parent_run_id: integer(),
  since: Joi.date().iso(),
  until: Joi.date().iso(),
});

type RunsQuery = Infer<typeof runsQuery>;

/** Converts the query of the interface; absent fields are omitted. */
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
    id: integer(),
    kind: runKind(),
    cause: runCause(),
    status: runState(),
    message: nullable(Joi.string().allow('')),
    error: nullable(Joi.string()),
    stalled_since: nullable(timestamp()),
    stalls: Joi.array().items(
      named(
        'SyncRunStall',
        wholeRecord({
          cause: Joi.string().valid(...STALL_CAUSES),
          message: Joi.string(),
          since: timestamp(),
          until: timestamp(),
        }),
      ),
    ),
    organization_id: integer(),
    organization_user_id: nullable(integer()),
    organization_supplied_user_id: nullable(Joi.string()),
    data_source_id: nullable(integer()),
    file_id: nullable(integer()),
    parent_run_id: nullable(integer()),
    request_id: Joi.string().allow(''),
    upload_id: nullable(Joi.string().allow('')),
    accepted_at: timestamp(),
    started_at: nullable(timestamp()),
    finished_at: nullable(timestamp()),
    counts: named(
      'SyncRunCounts',
      wholeRecord({
        ...{ discovered: count(), ok: count(), failed: count() },
        ...{ skipped: count(), aborted: count(), pending: count() },
      }),
    ),
    bytes_fetched: count(),
    tokens_embedded: count(),
    tokens_reused: count(),
    details: Joi.object().unknown(),
    ...workflowFields,
  }),
);

const itemOutcome = () => named('SyncRunItemOutcome', Joi.string().valid(...ITEM_OUTCOMES, 'pending'));

export const itemsQuery = Joi.object({
  limit: integer().min(1).max(MAX_PAGE_LIMIT).default(100),
  after: Joi.string().pattern(/^\d{16}:[\w-]{1,64}$/),
  outcomes: some(itemOutcome()),
  stages: some(itemStage()),
  causes: some(itemCause()),
});

export const itemRecord = named(
  'SyncRunItem',
  wholeRecord({
    id: Joi.string(),
    sync_run_id: integer(),
    file_id: nullable(integer()),
    external_id: Joi.string().allow(''),
    name: nullable(Joi.string().allow('')),
    outcome: itemOutcome(),
    stage: nullable(itemStage()),
    cause: nullable(itemCause()),
    message: nullable(Joi.string().allow('')),
    remedy: nullable(Joi.string()),
    bytes_fetched: count(),
    tokens_embedded: count(),
    tokens_reused: count(),
    at: timestamp(),
    ...workflowFields,
  }),
);

const RETRIED = ['failed', 'aborted', 'skipped'] as const;
const members = <S extends Joi.Schema>(value: S) => Joi.array().items(value).min(1);

/** Either named files or a filter; if both are absent, all failed files. */
export const retryBody = named(
  'RetrySyncRunRequest',
  Joi.object({
    item_ids: Joi.array().items(Joi.string().max(100)).min(1).max(1_000),
    file_ids: idList().min(1).max(1_000),
    outcomes: members(Joi.string().valid(...RETRIED)),
    stages: members(itemStage()),
    causes: members(itemCause()),
  })
    .without('item_ids', ['outcomes', 'stages', 'causes'])
    .without('file_ids', ['outcomes', 'stages', 'causes']),
);
export type RetryBody = Infer<typeof retryBody>;
