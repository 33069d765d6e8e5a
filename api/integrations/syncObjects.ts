import Joi from 'joi';

import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { invalid } from '../http/errors.js';
import { type Documentation, type DocumentedOperation, operation } from '../http/operation.js';
import { estimate } from '../schemas/estimates.js';
import { orNull } from '../schemas/fields.js';
import { documentFields, fileSyncConfig, onlyAccountId, selectionFields } from '../schemas/integrations.js';
import { ocrFields } from '../schemas/ocr.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { onlySourceOf } from './dataSourceOf.js';
import { selectionOptions } from './selectionOptions.js';
import { syncSelection } from './syncSelection.js';
import { typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/** The fields of a request that name an object. Each is a string that may be empty. */
type Chosen<Field extends string> = Readonly<Partial<Record<Field, string>>>;

const MAX_KEY = 2_048;

const keyFields = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(fields).map(
      ([name, description]) => [name, orNull(Joi.string().allow('').max(MAX_KEY)).description(description)] as const,
    ),
  );

/**
 * Creates the operation that syncs selected objects of an object store.
 * @param fields the fields of a selection, with their descriptions
 * @param wanted error message for a selection with too few or too many fields
 * @param externalIdOf returns the external id; null for an invalid selection
 */
export const syncObjects = <Field extends string>({
  type,
  fields,
  wanted,
  objects,
  externalIdOf,
  requestName,
  selectionName,
  ...documented
}: Documentation & {
  readonly path: string;
  readonly summary: string;
  readonly type: ConnectedSourceType;
  readonly fields: Readonly<Record<Field, string>>;
  /** Names of the request and of a selection in the reference. */
  readonly requestName: string;
  readonly selectionName: string;
  readonly wanted: string;
  /** Plural noun for what a selection may name, such as `objects, prefixes or buckets`; part of the descriptions. */
  readonly objects: string;
  readonly externalIdOf: (chosen: Chosen<Field>) => string | null;
}): DocumentedOperation =>
  operation({
    ...documented,
    method: 'post',
    auth: 'user',
    createsWork: true,
    body: named(
      requestName,
      Joi.object({
        ids: Joi.array()
          .items(
            named(
              selectionName,
              typed<Chosen<Field>>(
                Joi.object(keyFields(fields)).description(
                  `One of the ${objects} to sync. A container of other objects is synced with everything in it. ${wanted}.`,
                ),
              ),
            ),
          )
          .max(MAX_MEMBERS)
          .required()
          .description(`Up to ${MAX_MEMBERS.toLocaleString('en')} ${objects} to sync, each with everything in it.`),
        data_source_id: onlyAccountId(),
        ...selectionFields(),
        ...documentFields(),
        ...ocrFields(),
        file_sync_config: fileSyncConfig(),
      }).description(
        `The ${objects} of a connected account to sync, and options for their files. After the response, a run creates a file for each object that they name or contain.`,
      ),
    ),
    answer: success,
    dryAnswer: estimate,
    async handle({ caller, body, given, deps }) {
      const externalIds = body.ids.map((chosen, index) => {
        const id = externalIdOf(chosen);
        // Each field may be absent or null, so the error is reported for the selection.
        if (id === null) throw invalid(['body', 'ids', index], wanted, 'value_error');
        return id;
      });
      const source = await onlySourceOf(caller, body.data_source_id, deps.store, type);
      const selection = { externalIds, ...selectionOptions(body, given, source) };
      return syncSelection(caller, source, selection, deps);
    },
  });
