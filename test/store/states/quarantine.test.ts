/** Tests that each write changes a quarantined file only in the states, and for the runs, for which it is allowed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { fileModel } from '../../../store/models/files.js';
import { type QuarantinedDoc, quarantinedModel } from '../../../store/models/quarantine.js';
import { runModel } from '../../../store/models/runs.js';
import { userModel } from '../../../store/models/users.js';
import { createQuarantineClaims } from '../../../store/quarantine/claims.js';
import { createQuarantine } from '../../../store/quarantine/quarantine.js';
import { everyRow } from '../../support/everyRow.js';
import {
  ADA,
  AGO,
  AHEAD,
  NOW,
  STRANGERS,
  withoutTransaction,
  checkWrites,
  dropDatabase,
  openDatabase,
  seed,
  sorted,
} from './writes.js';

let connection: Connection;
beforeAll(async () => {
  connection = await openDatabase();
});
afterAll(() => dropDatabase(connection));

const events = { write: () => Promise.resolve() } as never;

const [ENDED_RUN, OPEN_RUN, RUN] = [901, 902, 903];
const COPY = { key: 'copy' } as never;
const QUARANTINED: Readonly<Record<string, Partial<QuarantinedDoc>>> = {
  kept: { state: 'kept' },
  due: { state: 'kept', keptUntil: AGO },
  leaving: { state: 'leaving' },
  copied: { state: 'leaving', copy: COPY },
  returning: { state: 'returning' },
  tidying: { state: 'tidying' },
  erasing: { state: 'erasing' },
  leavingNow: { state: 'leaving', runId: OPEN_RUN },
  returningNow: { state: 'returning', runId: RUN },
};

test('a write changes a quarantined file only in the states and for the runs for which it is allowed', async () => {
  const [quarantined, files] = [quarantinedModel(connection), fileModel(connection)];
  const [users, runs] = [userModel(connection), runModel(connection)];
  const run = { ...ADA, kind: 'settleQuarantine', requestId: 'r', acceptedAt: AGO, nextTryAt: AGO, startedAt: AGO };
  await runs.collection.insertMany(
    [ENDED_RUN, OPEN_RUN, RUN].map((_id) => ({
      ...{ ...run, _id, workflowId: `q${_id}`, finishedAt: _id === ENDED_RUN ? AGO : null },
    })) as never,
  );
  const claims = createQuarantineClaims(quarantined, runs);
  const quarantine = createQuarantine(quarantined, files, users, withoutTransaction, events);
  const file = { ...new files().toObject({ minimize: false }), ...ADA, source: 'BOX', syncStatus: 'READY' };
  const common = (id: number) => ({
    ...{ ...ADA, dataSourceId: 40, parentId: 50, missedBy: ENDED_RUN, runId: ENDED_RUN, quarantinedAt: AGO },
    ...{ keptUntil: AHEAD, copy: null, file: { ...file, _id: id, externalFileId: `file ${id}`, generation: 1 } },
  });
  const fresh = () => seed(quarantined, common, QUARANTINED);
  const all = Object.keys(QUARANTINED).join(' ');
  /**
   * Limits a write that applies to all files of a tenant to one row: the other rows belong to another organization
   * during the write.
   */
  const alone =
    (write: (tenant: typeof ADA) => Promise<unknown>) =>
    async (id: number, _row: unknown, tenant: typeof ADA): Promise<void> => {
      if (tenant !== ADA) return void (await write(tenant));
      const others = { _id: { $ne: id } } as never;
      await quarantined.collection.updateMany(others, { $set: { organizationId: 99 } });
      await write(tenant);
      await quarantined.collection.updateMany(others, { $set: { organizationId: ADA.organizationId } });
    };
  await checkWrites(quarantined, fresh, [
    [
      'adoption of interrupted work',
      alone((tenant) => claims.adopt(tenant, RUN)),
      'leaving copied returning tidying erasing',
      'tenant',
    ],
    ['claim of due files', alone((tenant) => claims.claimDue(tenant, RUN, NOW, 10)), 'due', 'tenant'],
    ['claim before it is due', alone((tenant) => claims.claimDue(tenant, RUN, new Date(AGO.getTime() - 1), 10)), ''],
    ['claim at the moment it is due', alone((tenant) => claims.claimDue(tenant, RUN, AGO, 10)), 'due'],
    ['claim of all', alone((tenant) => claims.claimAll(tenant, RUN)), all, 'tenant'],
    ['end of retention, by source', alone((tenant) => claims.expire(tenant, { dataSourceId: 40 })), all, 'tenant'],
    ['end of retention, other source', alone((tenant) => claims.expire(tenant, { dataSourceId: 41 })), ''],
    ['end of retention, by container', alone((tenant) => claims.expire(tenant, { parentIds: [50] })), all, 'tenant'],
    ['end of retention, other container', alone((tenant) => claims.expire(tenant, { parentIds: [51] })), ''],
    ['restore', alone((tenant) => claims.claimForRestore(tenant, {}, RUN, null as never)), 'kept', 'tenant'],
    ['copy', (_id, row) => quarantine.saveCopy(row, COPY), 'leaving leavingNow'],
    ['copy of another run', (_id, row) => quarantine.saveCopy({ ...row, runId: 999 }, COPY), ''],
    ['no copy', (_id, row) => quarantine.saveCopy(row, null), ''],
    ['kept', (_id, row) => quarantine.markKept([row]), 'leaving copied leavingNow'],
    ['cancelled restore', (_id, row) => quarantine.cancelRestore([row]), 'returning returningNow'],
    [
      'restored',
      (_id, row) =>
        quarantine.restore({ _id: RUN, workflowId: 'w', requestId: 'r' } as never, [{ row, isWhole: true }]),
      'returningNow',
    ],
    ['deleted row', (_id, row) => quarantine.deleteRows([row]), 'tidying erasing'],
  ]);
  expect(await files.countDocuments({ runId: RUN })).toBe(1);

  const ids = await fresh();
  const rows = await quarantined.find().sort({ _id: 1 }).lean();
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]));
  const named = (found: readonly { readonly _id: number }[]) =>
    found.map(({ _id }) => nameOf.get(_id) ?? '').toSorted();
  expect(named(await quarantine.listClaimed({ ...ADA, _id: OPEN_RUN }, 10))).toEqual(['leavingNow']);
  expect(named(await quarantine.listClaimed({ ...ADA, _id: ENDED_RUN }, 10))).toEqual(
    sorted('leaving copied returning tidying erasing'),
  );
  const first = await quarantine.listClaimed({ ...ADA, _id: ENDED_RUN }, 2);
  expect(first.map(({ _id }) => nameOf.get(_id))).toEqual(['leaving', 'copied']);
  for (const stranger of STRANGERS) {
    expect(await quarantine.listClaimed({ ...stranger, _id: ENDED_RUN }, 10)).toEqual([]);
    expect(await quarantine.filterQuarantined(stranger, [...ids.values()])).toEqual(new Set());
  }
  const { found, count } = await claims.list(1, {}, { limit: 10, offset: 0 });
  expect([named(found), count]).toEqual([sorted('kept leaving copied returning leavingNow returningNow'), 6]);
  expect(await claims.listOwnersToRestore(1, {})).toEqual([{ ...ADA, files: 1 }]);
  expect(await claims.listOwnersOfDue(NOW, 10)).toEqual([ADA]);
  // Rows that changed since they were read.
  await quarantined.updateOne({ _id: ids.get('kept')! }, { $set: { state: 'returning' } });
  await quarantined.updateOne({ _id: ids.get('leaving')! }, { $set: { runId: RUN } });
  expect(named(await quarantine.filterUnchanged(rows))).toEqual(
    sorted(all).filter((name) => name !== 'kept' && name !== 'leaving'),
  );
  await everyRow(Object.keys(QUARANTINED), String, async (name) => {
    await quarantined.deleteMany({ _id: { $ne: (await fresh()).get(name)! } });
    const isDue = 'due leaving copied returning tidying erasing'.split(' ').includes(name);
    expect(await claims.listOwnersOfDue(NOW, 10)).toEqual(isDue ? [ADA] : []);
  });
});

test('restores a file with an unfinished sync as READY if it has synced content, else as SYNC_ABORTED', async () => {
  const [quarantined, files] = [quarantinedModel(connection), fileModel(connection)];
  const quarantine = createQuarantine(quarantined, files, userModel(connection), withoutTransaction, events);
  const blank = { ...new files().toObject({ minimize: false }), ...ADA, source: 'BOX' };
  const rows: readonly (readonly [status: string, generation: number, restored: string])[] = [
    ['SYNCING', 0, 'SYNC_ABORTED'],
    ['SYNCING', 1, 'READY'],
    ['EVALUATING_RESYNC', 1, 'READY'],
    ['QUEUED_FOR_SYNC', 0, 'SYNC_ABORTED'],
    ['READY', 1, 'READY'],
    ['SYNC_ERROR', 0, 'SYNC_ERROR'],
    ['READY_TO_SYNC', 0, 'READY_TO_SYNC'],
  ];
  await everyRow(
    rows,
    ([status, generation]) => `${status}, generation ${generation}`,
    async ([syncStatus, generation, restored]) => {
      const file = (_id: number) => ({ ...blank, _id, externalFileId: `of ${_id}`, syncStatus, generation });
      const ids = await seed(
        quarantined,
        (id) => ({ ...ADA, missedBy: 1, runId: RUN, quarantinedAt: AGO, keptUntil: AHEAD, copy: null, file: file(id) }),
        { returning: { state: 'returning' } },
      );
      const [row] = await quarantined.find().lean();
      const run = { _id: RUN, workflowId: 'w', requestId: 'r' } as never;
      await quarantine.restore(run, [{ row: row!, isWhole: true }]);
      expect(await files.findById(ids.get('returning')!).lean()).toMatchObject({ syncStatus: restored, runId: RUN });
    },
  );
});

test('a claim, and the adoption of interrupted work, leave out files that another run changes meanwhile', async () => {
  const [quarantined, runs] = [quarantinedModel(connection), runModel(connection)];
  await Promise.all([quarantined.deleteMany({}), runs.deleteMany({})]);
  const run = { ...ADA, kind: 'settleQuarantine', requestId: 'r', acceptedAt: AGO, nextTryAt: AGO, startedAt: AGO };
  await runs.collection.insertMany(
    [ENDED_RUN, OPEN_RUN, RUN].map((_id) => ({
      ...{ ...run, _id, workflowId: `q${_id}`, finishedAt: _id === ENDED_RUN ? AGO : null },
    })) as never,
  );
  const common = () => ({
    ...{ ...ADA, dataSourceId: 40, parentId: 50, missedBy: ENDED_RUN, runId: ENDED_RUN, quarantinedAt: AGO },
    ...{ keptUntil: AGO, copy: null, file: {} },
  });
  const due = { state: 'kept' } as const;
  const [restored, prolonged, foreign] = [{ state: 'returning', runId: OPEN_RUN }, { keptUntil: AHEAD }, { userId: 8 }];
  /** Returns the claims of a store in which the file `changing` changes between the read and the write of a claim. */
  const claimsWhile = (change: object, id: number) =>
    createQuarantineClaims(
      {
        find: quarantined.find.bind(quarantined),
        distinct: quarantined.distinct.bind(quarantined),
        async updateMany(...args: Parameters<typeof quarantined.updateMany>) {
          await quarantined.collection.updateOne({ _id: id as never }, { $set: change });
          return quarantined.updateMany(...args);
        },
      } as never,
      runs,
    );
  const stateOf = async (id: number) => {
    const { state, runId } = (await quarantined.findById(id).lean())!;
    return [state, runId];
  };
  await everyRow([restored, prolonged, foreign], JSON.stringify, async (change) => {
    const ids = await seed(quarantined, common, { first: due, changing: due, last: due, later: due });
    await claimsWhile(change, ids.get('changing')!).claimDue(ADA, RUN, NOW, 3);
    const claimed = ['erasing', RUN];
    expect(await Promise.all([...ids.values()].map(stateOf))).toEqual([
      ...[claimed, change === restored ? ['returning', OPEN_RUN] : ['kept', ENDED_RUN], claimed, ['kept', ENDED_RUN]],
    ]);
  });
  await everyRow([restored, { state: 'kept' }, foreign], JSON.stringify, async (change) => {
    const work = { state: 'returning' } as const;
    const ids = await seed(quarantined, common, { first: work, changing: work });
    await claimsWhile(change, ids.get('changing')!).adopt(ADA, RUN);
    const unchanged = 'state' in change ? [change.state, change === restored ? OPEN_RUN : ENDED_RUN] : null;
    expect(await Promise.all([...ids.values()].map(stateOf))).toEqual([
      ...[['returning', RUN], unchanged ?? ['returning', ENDED_RUN]],
    ]);
  });
});
