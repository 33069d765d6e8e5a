import Joi from 'joi';

import { type ConnectedSourceType, idInDrive } from '../../contract/sources.js';
import { type Documentation, type DocumentedOperation, operation } from '../http/operation.js';
import { estimate } from '../schemas/estimates.js';
import { integer } from '../schemas/fields.js';
import {
  documentFields,
  fileSyncConfig,
  incrementalSync,
  ocrFields,
  selectionFields,
} from '../schemas/integrations.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { connectedSourceOf } from './dataSourceOf.js';
import { selectionWishes } from './keptOptions.js';
import { syncSelection } from './syncSelection.js';
import { typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

const id = () => Joi.string().max(2_048);
/** Id of an item; for some sources with the id of its drive. */
const itemName = typed<string | { id: string; root_id: string }>(
  Joi.alternatives().conditional(Joi.object().unknown(), {
    then: named('SyncFilesIds', Joi.object({ id: id().required(), root_id: id().required() })),
    otherwise: id().allow(''),
  }),
);

/** For any source, or for one only. */
interface Place extends Documentation {
  readonly path: string;
  readonly summary: string;
  readonly type?: ConnectedSourceType;
}

/** Creates the operation that syncs selected items of a connected account with all their descendants. */
export const syncFilesAt = ({ type, ...documented }: Place): DocumentedOperation =>
  operation({
    ...documented,
    method: 'post',
    auth: 'user',
    createsWork: true,
    body: named(
      'SyncFilesRequest',
      Joi.object({
        data_source_id: integer().required(),
        ids: Joi.array().items(itemName).max(MAX_MEMBERS).required(),
        ...selectionFields(),
        ...documentFields(),
        ...ocrFields(),
        incremental_sync: incrementalSync(),
        file_sync_config: fileSyncConfig(),
      }),
    ),
    answer: success,
    dryAnswer: estimate,
    async handle({ caller, body, given, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, type);
      const externalIds = body.ids.map((one) => (typeof one === 'string' ? one : idInDrive(source.type, one)));
      const selection = { externalIds, ...selectionWishes(body, given, source) };
      return syncSelection(caller, source, selection, deps);
    },
  });

/** POST /integrations/files/sync: syncs selected items of any connected account. */
export const syncFiles = syncFilesAt({
  path: '/integrations/files/sync',
  operationId: 'sync_files_integrations_files_sync_post',
  tag: 'Integrations',
  summary: 'Syncs chosen items of a connected account.',
  description: [],
});
