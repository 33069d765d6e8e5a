import type { Connection } from 'mongoose';
import pLimit from 'p-limit';

import { segmentModel } from './chunks.js';
import { attemptModel } from './connections.js';
import { contentModel } from './contents.js';
import { dataSourceModel } from './dataSources.js';
import { eventModels } from './events.js';
import { fileModel } from './files.js';
import { crawlPageModel } from './frontier.js';
import { itemModel } from './items.js';
import { ledgerModel } from './ledger.js';
import { organizationModels } from './organizations.js';
import { originalModel } from './originals.js';
import { quarantinedModel } from './quarantine.js';
import { recognizedPageModel } from './recognizedPages.js';
import { reembedModel } from './reembeds.js';
import { runModel } from './runs.js';
import { scheduleModel } from './schedules.js';
import { skippedItemModel, selectionModel } from './selections.js';
import { siteBlocksModel } from './siteBlocks.js';
import { userModel } from './users.js';
import { webhookModels } from './webhooks.js';
import { whiteLabelModel } from './whiteLabels.js';
import { createIndexes } from '../database/driver.js';

/** Creates the models of all collections and their indexes. */
export async function openModels(connection: Connection) {
  const single = {
    files: fileModel(connection),
    segments: segmentModel(connection),
    contents: contentModel(connection),
    users: userModel(connection),
    runs: runModel(connection),
    crawlPages: crawlPageModel(connection),
    whiteLabels: whiteLabelModel(connection),
    originals: originalModel(connection),
    quarantined: quarantinedModel(connection),
    recognizedPages: recognizedPageModel(connection),
    reembeds: reembedModel(connection),
    dataSources: dataSourceModel(connection),
    items: itemModel(connection),
    schedules: scheduleModel(connection),
    selections: selectionModel(connection),
    skippedItems: skippedItemModel(connection),
    attempts: attemptModel(connection),
    ledger: ledgerModel(connection),
    siteBlocks: siteBlocksModel(connection),
  };
  const families = {
    organizations: organizationModels(connection),
    events: eventModels(connection),
    webhooks: webhookModels(connection),
  };
  const models = [...Object.values(single), ...Object.values(families).flatMap((family) => Object.values(family))];
  // Each concurrent command opens a connection, and more than a few do not make MongoDB faster.
  const fewAtOnce = pLimit(4);
  await Promise.all(models.map((model) => fewAtOnce(() => createIndexes(model))));
  return { ...single, ...families };
}
