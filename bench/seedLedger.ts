/** Seeds runs with very many items directly in MongoDB. */
import type mongoose from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../contract/files/ingestOptions.js';
import { itemEnd, type ItemEnd, NO_TALLY } from '../contract/runs/ledger.js';
import { type FileDoc, fileModel } from '../store/models/files.js';
import { rowOf } from '../store/ledger/items.js';
import { type RunDoc, runModel } from '../store/models/runs.js';
import type { Tenant } from '../store/users/accept.js';

const ROWS_PER_WRITE = 1_000;
const SMALL_RUNS = 1_000;
const DAY_MS = 86_400_000;
/** Larger than all ids that the service assigns. */
const FIRST_ID = 50_000_000;

/** Returns the end of an item: 93 % ok, 5 % timed out, 2 % unchanged, 0.1 % too large, spread evenly over the ids. */
function endOf(number: number): ItemEnd {
  if (number % 1_000 === 999) return itemEnd('failed', 'fetch', 'too_large');
  if (number % 20 === 0) return itemEnd('failed', 'fetch', 'timed_out');
  return number % 50 === 1 ? itemEnd('skipped', 'fetch', 'unchanged') : itemEnd('ok', null, null);
}

/** Seeds an ended run and an active one, each with its own files, and a thousand small runs. */
export async function seedLedger(
  connection: mongoose.Connection,
  tenant: Tenant,
  items: number,
): Promise<{ readonly ended: number; readonly active: number }> {
  const [ended, active] = [FIRST_ID, FIRST_ID + 1];
  const now = new Date();
  const expiresAt = new Date(now.getTime() + 90 * DAY_MS);
  const blankRun = new (runModel(connection))().toObject({ minimize: false });
  const blankFile = new (fileModel(connection))().toObject({ minimize: false });

  const runOf = (_id: number, tally: RunDoc['tally']): RunDoc => {
    const at = new Date(now.getTime() - (_id - FIRST_ID) * 1_000);
    return {
      ...blankRun,
      ...{ _id, ...tenant, customerId: 'bench', kind: 'scrapeSitemap', workflowId: `bench:${_id}` },
      ...{ requestId: `bench-${_id}`, request: {}, progress: {}, acceptedAt: at, startedAt: at, nextTryAt: at },
      ...(tally ? { finishedAt: at, outcome: 'finished', tally, expiresAt } : {}),
    };
  };
  const fileOf = (_id: number, runId: number): FileDoc => {
    const end = endOf(_id);
    const url = `https://bench.example/${_id}.html`;
    const failed = end.as === 'failed';
    return {
      ...blankFile,
      ...{
        _id,
        ...tenant,
        customerId: 'bench',
        source: 'WEB_SCRAPE',
        sourceOptions: {},
        externalFileId: url,
        externalUrl: url,
        name: url,
      },
      ...{ isContainer: false, syncStatus: failed ? 'SYNC_ERROR' : 'READY', options: DEFAULT_INGEST_OPTIONS },
      ...{ runId, ended: end, createdAt: now, updatedAt: now },
    };
  };

  const files = connection.collection<FileDoc>('files');
  const ledgerItems = connection.collection('ledger_items');
  const tally: Record<string, number> = { ...NO_TALLY, discovered: items };
  for (let from = 0; from < 2 * items; from += ROWS_PER_WRITE) {
    const runId = from < items ? ended : active;
    const batch = Array.from({ length: ROWS_PER_WRITE }, (_, index) => fileOf(FIRST_ID + from + index, runId));
    await files.insertMany(batch as never[], { ordered: false });
    if (runId !== ended) continue;
    for (const { ended: end } of batch) if (end) tally[end.as] = (tally[end.as] ?? 0) + 1;
    const rows = batch.map(({ _id: fileId, externalFileId: externalId, ended: end }) =>
      rowOf(
        { _id: runId, ...tenant },
        { fileId, externalId, name: null, end: end ?? itemEnd('ok', null, null), message: null },
        now,
        expiresAt,
      ),
    );
    await ledgerItems.insertMany(rows as never[], { ordered: false });
  }
  const smallRuns = Array.from({ length: SMALL_RUNS }, (_, index) => runOf(active + 1 + index, NO_TALLY));
  await connection
    .collection<RunDoc>('runs')
    .insertMany([runOf(ended, tally as never), runOf(active, undefined), ...smallRuns] as never[]);
  return { ended, active };
}
