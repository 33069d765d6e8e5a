import { UPLOAD_SOURCES } from '../contract/files/uploads.js';
import { openBlobs } from './contents/openBlobs.js';
import { transaction } from './database/timeLimits.js';
import { createSequence } from './database/sequence.js';
import { type Atomically, createEvents } from './events/events.js';
import { createIntents } from './events/intents.js';
import { createFileChanges, markedFiles } from './files/changes.js';
import { createFileQueries } from './files/queries.js';
import { createFileQueue } from './files/queue.js';
import { createSumCaches } from './files/sumCache.js';
import { createLedgerWriter } from './ledger/ledger.js';
import { createLiveItems } from './ledger/live.js';
import { openModels } from './models/openModels.js';
import { createRuns } from './runs/outbox.js';
import { createSchedules } from './schedules/schedules.js';
import { createSelections } from './selections/selections.js';
import type { OpenMongo } from './openMongo.js';
import type { StoreSettings } from './storeSettings.js';

/** Dependencies that several kinds of records share. */
export async function openBase(settings: StoreSettings, { connection, secrets }: OpenMongo) {
  const { timeLimitMs = null, onFilesEnded = () => undefined } = settings;
  const sequence = createSequence(connection);
  const models = await openModels(connection);
  const { files, users, runs, dataSources, organizations } = models;
  const { rows } = models.events;
  const atomically: Atomically = (work) => transaction(connection, work, timeLimitMs);
  const intents = createIntents(rows, markedFiles(files), settings.eventsKeptDays);
  const events = createEvents(models.events, models.webhooks.webhooks, intents, atomically, settings.eventsKeptDays);
  const queue = createFileQueue((owner, limit, onlyUploads = false) => {
    const uploads = onlyUploads ? { parentId: null, source: { $in: [...UPLOAD_SOURCES] } } : {};
    return files
      .countDocuments({ ...owner, ...uploads, syncStatus: 'QUEUED_FOR_SYNC' })
      .limit(limit)
      .exec();
  }, settings.maxQueuedFiles);
  const live = createLiveItems(files, models.reembeds);
  const ledger = createLedgerWriter(models.ledger, files, runs, live, settings.ledgerLifeDays);
  const createSumCache = createSumCaches(files, users);
  const fileQueries = createFileQueries(files, createSumCache);
  const changes = createFileChanges(files, atomically, events, intents, onFilesEnded);
  const schedules = createSchedules({
    schedules: models.schedules,
    dataSources,
    files,
    users,
    organizations: organizations.organizations,
  });
  return {
    ...{ connection, secrets, sequence, models, atomically, intents, events, queue, live, ledger },
    ...{ createSumCache, fileQueries, changes, schedules },
    selections: createSelections(models),
    runCommands: createRuns({
      ...{ runs, sequence, atomically, events, ledger },
      traceparent: settings.traceparent,
    }),
    blobs: await openBlobs(settings.files, timeLimitMs),
  };
}

export type StoreBase = Awaited<ReturnType<typeof openBase>>;
