import Joi from 'joi';

import { type ConnectedSourceType, idInDrive } from '../../contract/sources/connectedSources.js';
import { type Documentation, type DocumentedOperation, operation } from '../http/operation.js';
import { estimate } from '../schemas/estimates.js';
import {
  accountId,
  documentFields,
  fileSyncConfig,
  incrementalSync,
  selectionFields,
} from '../schemas/integrations.js';
import { ocrFields } from '../schemas/ocr.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { connectedSourceOf } from './dataSourceOf.js';
import { selectionOptions } from './selectionOptions.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED, syncSelection } from './syncSelection.js';
import { typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

const id = () => Joi.string().max(2_048);
/** Schema of the external id of an item: a string, or for some sources an object with the id of the drive. */
const itemName = typed<string | { id: string; root_id: string }>(
  Joi.alternatives().conditional(Joi.object().unknown(), {
    then: named(
      'SyncFilesIds',
      Joi.object({
        id: id()
          .required()
          .description(
            'Id of the item within its drive, as OneDrive or SharePoint returns it. It is unique only together with `root_id`.',
          ),
        root_id: id()
          .required()
          .description('Id of the drive that contains the item, as OneDrive or SharePoint returns it.'),
      }).description(
        'One item of OneDrive or SharePoint, named by its id and the id of its drive. For all other sources, give the external id as a text instead of this object.',
      ),
    ),
    otherwise: id().allow(''),
  }),
);

/** An operation that syncs selected items. */
interface SyncFilesEndpoint extends Documentation {
  readonly path: string;
  readonly summary: string;
  readonly type?: ConnectedSourceType;
}

/** Creates the operation that syncs selected items of a connected account with all their descendants. */
export const syncFilesAt = ({ type, ...documented }: SyncFilesEndpoint): DocumentedOperation =>
  operation({
    ...documented,
    method: 'post',
    auth: 'user',
    createsWork: true,
    body: named(
      'SyncFilesRequest',
      Joi.object({
        data_source_id: accountId(),
        ids: Joi.array()
          .items(itemName)
          .max(MAX_MEMBERS)
          .required()
          .description(
            `External ids of the items, up to ${MAX_MEMBERS.toLocaleString('en')}, as \`POST /integrations/items/list\` returns them. Ids of items that no listing has found yet are accepted too. An id that the source does not know becomes a file in \`SYNC_ERROR\`.`,
          ),
        ...selectionFields(),
        ...documentFields(),
        ...ocrFields(),
        incremental_sync: incrementalSync(),
        file_sync_config: fileSyncConfig(),
      }).description(
        'Items of a connected account, and options for their files. After the response, a run queues a file for each selected item and for each item below it.',
      ),
    ),
    answer: success,
    dryAnswer: estimate,
    async handle({ caller, body, given, deps }) {
      const source = await connectedSourceOf(caller, body.data_source_id, deps.store, type);
      const externalIds = body.ids.map((fileId) =>
        typeof fileId === 'string' ? fileId : idInDrive(source.type, fileId),
      );
      const selection = { externalIds, ...selectionOptions(body, given, source) };
      return syncSelection(caller, source, selection, deps);
    },
  });

/** POST /integrations/files/sync: syncs selected items of any connected account. */
export const syncFiles = syncFilesAt({
  path: '/integrations/files/sync',
  operationId: 'sync_files_integrations_files_sync_post',
  tag: 'Integrations',
  summary: 'Sync selected items of a connected account',
  description: [
    `Creates files from the selected items and all their descendants, or syncs them again. It works for every source; use it after \`POST /integrations/items/list\`.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
});
