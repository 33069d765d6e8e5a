import Joi from 'joi';

import type { ConnectedSourceType } from '../../contract/sources.js';
import { invalid } from '../http/errors.js';
import { type Documentation, type DocumentedOperation, operation } from '../http/operation.js';
import { estimate } from '../schemas/estimates.js';
import { byName, integer, orNull } from '../schemas/fields.js';
import { documentFields, fileSyncConfig, ocrFields, selectionFields } from '../schemas/integrations.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { onlySourceOf } from './dataSourceOf.js';
import { selectionWishes } from './keptOptions.js';
import { syncSelection } from './syncSelection.js';
import { typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/** Fields that name an object. Each is a text that may be empty. */
type Chosen<Field extends string> = Readonly<Partial<Record<Field, string>>>;

const MAX_KEY = 2_048;

/**
 * Creates the operation that syncs selected objects of an object store.
 * @param fields the fields of a selection
 * @param wanted error message for a selection with too few or too many fields
 * @param externalIdOf returns the external id; null for an invalid selection
 */
export const syncObjects = <Field extends string>({
  type,
  fields,
  wanted,
  externalIdOf,
  requestName,
  selectionName,
  ...documented
}: Documentation & {
  readonly path: string;
  readonly summary: string;
  readonly type: ConnectedSourceType;
  readonly fields: readonly Field[];
  /** Names of the request and of a selection in the reference. */
  readonly requestName: string;
  readonly selectionName: string;
  readonly wanted: string;
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
              typed<Chosen<Field>>(Joi.object(byName(fields, () => orNull(Joi.string().allow('').max(MAX_KEY))))),
            ),
          )
          .max(MAX_MEMBERS)
          .required(),
        data_source_id: orNull(integer()),
        ...selectionFields(),
        ...documentFields(),
        ...ocrFields(),
        file_sync_config: fileSyncConfig(),
      }),
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
      const selection = { externalIds, ...selectionWishes(body, given, source) };
      return syncSelection(caller, source, selection, deps);
    },
  });
