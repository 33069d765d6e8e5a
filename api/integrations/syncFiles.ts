import Joi from 'joi';

import { type ConnectedSourceType, idInDrive } from '../../contract/sources.js';
import { operation, type Operation } from '../http/operation.js';
import { estimate } from '../schemas/estimates.js';
import { integer } from '../schemas/fields.js';
import {
  documentFields,
  fileSyncConfig,
  incrementalSync,
  ocrFields,
  selectionFields,
  success,
} from '../schemas/integrations.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { connectedSourceOf } from './dataSourceOf.js';
import { selectionWishes } from './keptOptions.js';
import { syncSelection } from './syncSelection.js';
import { typed } from '../schemas/inferred.js';

const id = () => Joi.string().max(2_048);
/** An item by its id; of some sources with that of the drive it lies in. */
const itemName = typed<string | { id: string; root_id: string }>(
  Joi.alternatives().conditional(Joi.object().unknown(), {
    then: Joi.object({ id: id().required(), root_id: id().required() }),
    otherwise: id().allow(''),
  }),
);

/** Of any source, or of one alone. */
interface Place {
  readonly path: string;
  readonly summary: string;
  readonly type?: ConnectedSourceType;
}

/** The operation that makes files of chosen items of a connected account, and of all that lies in them. */
export const syncFilesAt = ({ path, summary, type }: Place): Operation =>
  operation({
    method: 'post',
    path,
    auth: 'user',
    summary,
    createsWork: true,
    body: Joi.object({
      data_source_id: integer().required(),
      ids: Joi.array().items(itemName).max(MAX_MEMBERS).required(),
      ...selectionFields(),
      ...documentFields(),
      ...ocrFields(),
      incremental_sync: incrementalSync(),
      file_sync_config: fileSyncConfig(),
    }),
    answer: success,
    dryAnswer: estimate,
    async handle({ caller, body, given, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, type);
      const externalIds = body.ids.map((one) => (typeof one === 'string' ? one : idInDrive(source.type, one)));
      const selection = { externalIds, ...selectionWishes(body, given, source) };
      return syncSelection(caller, source, selection, deps);
    },
  });

/** POST /integrations/files/sync. */
export const syncFiles = syncFilesAt({
  path: '/integrations/files/sync',
  summary: 'Syncs chosen items of a connected account.',
});
