import type { Connection } from 'mongoose';

import { segmentModel } from './chunks/model.js';
import { attemptModel } from './connections/model.js';
import { contentModel } from './contents/model.js';
import { dataSourceModel } from './dataSources/model.js';
import { eventModels } from './events/model.js';
import { fileModel } from './files/model.js';
import { crawlPageModel } from './frontier/model.js';
import { itemModel } from './items/model.js';
import { ledgerModel } from './ledger/model.js';
import { organizationModels } from './organizations/model.js';
import { originalModel } from './originals/model.js';
import { quarantinedModel } from './quarantine/model.js';
import { recognizedPageModel } from './recognizedPages/model.js';
import { reembedModel } from './reembeds/model.js';
import { runModel } from './runs/model.js';
import { scheduleModel } from './schedules/model.js';
import { leftOutModel, selectionModel } from './selections/model.js';
import { userModel } from './users/model.js';
import { webhookModels } from './webhooks/model.js';
import { whiteLabelModel } from './whiteLabels/model.js';
import { createIndexes } from './database/driver.js';

/** Every collection that has a model, with its indexes made. */
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
    leftOut: leftOutModel(connection),
    attempts: attemptModel(connection),
    ledger: ledgerModel(connection),
  };
  const families = {
    organizations: organizationModels(connection),
    events: eventModels(connection),
    webhooks: webhookModels(connection),
  };
  const all = [...Object.values(single), ...Object.values(families).flatMap((family) => Object.values(family))];
  await Promise.all(all.map(createIndexes));
  return { ...single, ...families };
}
