/** Tests that files missing at their source are removed with their descendants, with and without quarantine. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { ActivityDeps } from '../../activities/deps.js';
import { removeMissing } from '../../activities/quarantine/removeMissing.js';
import type { FileDoc } from '../../store/models/files.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

const NEVER = new AbortController().signal;
let service: SharedService;
let users = 0;
let lastId: number;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  lastId = service.firstId;
});
afterAll(() => service.close());

const ignore = (): void => undefined;
const depsOf = (quarantineMs: number): ActivityDeps => {
  const log = { info: ignore, warn: ignore, error: ignore, debug: ignore };
  return {
    store: service.store,
    settings: { quarantineMs },
    log,
    isBrokenCopy: () => false,
  } as unknown as ActivityDeps;
};

/** Quarantine periods in milliseconds. */
const RETENTION_MS: readonly number[] = [0, 86_400_000];

test('the attachments of a missing file are removed with it, and no other files', () =>
  everyRow(RETENTION_MS, String, async (quarantineMs) => {
    const customerIds = [`gone ${(users += 1)}`, `gone ${(users += 1)}`];
    for (const customerId of customerIds) await service.user(customerId);
    const [owner, stranger] = await Promise.all(
      customerIds.map((customerId) => service.store.users.ensure(service.organizationId, customerId)),
    );
    const seed = async (
      parentId: number | null,
      fileOwner = owner!,
      fields: Partial<FileDoc> = {},
    ): Promise<number> => {
      const id = (lastId += 1);
      await seedFiles(service, fileOwner, [{ id, texts: [`Text ${id}`], fields: { parentId, ...fields } }]);
      return id;
    };
    const mail = await seed(null);
    const attached = await seed(mail);
    const inside = await seed(attached);
    const [otherRoot, unrelated] = [await seed(null), await seed(lastId)];
    const foreign = await seed(mail, stranger);

    const { runs, transaction, files, chunks, quarantine } = service.store;
    const runId = await runs.nextId();
    const run = {
      kind: 'recountFiles',
      workflowId: `run:${runId}`,
      owner: owner!,
      fileId: null,
      requestId: 'r',
    } as const;
    await transaction((session) => runs.accept(runId, run, session));
    await removeMissing((await runs.find(runId))!, [mail], depsOf(quarantineMs), NEVER);

    const fileIds = [mail, attached, inside, otherRoot, unrelated];
    expect((await files.byIds(owner!, fileIds)).map(({ _id }) => _id)).toEqual([otherRoot, unrelated]);
    expect(await files.byIds(stranger!, [foreign])).toHaveLength(1);
    const quarantinedIds = await quarantine.filterQuarantined(owner!, fileIds);
    expect([...quarantinedIds].toSorted((a, b) => a - b)).toEqual(quarantineMs === 0 ? [] : [mail, attached, inside]);
    expect(await chunks.countOf(owner!, [mail, attached, inside])).toBe(quarantineMs === 0 ? 0 : 3);
    expect(await chunks.countOf(stranger!, [foreign])).toBe(1);
    // A repetition changes nothing.
    await removeMissing((await runs.find(runId))!, [mail], depsOf(quarantineMs), NEVER);
    expect(await files.byIds(owner!, fileIds)).toHaveLength(2);
  }));
