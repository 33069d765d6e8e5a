import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { DataSourceRecord } from '../../contract/files/records.js';
import { type StoredTag, storedTags, withoutTags } from '../../contract/files/tags.js';
import { addTags } from '../files/addTags.js';
import type { ApiDeps } from '../http/deps.js';
import { notFound } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { presentDataSource } from '../presenters/dataSource.js';
import { dataSourceRecord } from '../schemas/dataSources.js';
import { integer } from '../schemas/fields.js';
import { tags } from '../schemas/tags.js';
import { named } from '../schemas/reference.js';

/**
 * Changes the tags of a data source's record at once. If its files and vectors do not have the stored tags yet, accepts
 * a run whose workflow copies them.
 */
async function changeTags(
  caller: UserCaller,
  id: number,
  change: (storedBefore: readonly StoredTag[]) => StoredTag[],
  { store, unit, workflowLink }: ApiDeps,
): Promise<DataSourceRecord> {
  const runId = await store.runs.nextId();
  const { dataSource, needsCopy } = await unit.transaction(async (session) => {
    const tagged = await store.dataSources.changeTags(caller, id, change, session);
    if (!tagged) throw notFound('data source');
    if (tagged.needsCopy) {
      const workflowId = workflowIds.updateTags(id);
      const run = { kind: 'updateTags', workflowId, owner: caller, fileId: null, dataSourceId: id } as const;
      await store.runs.accept(runId, { ...run, requestId: randomUUID() }, session);
    }
    return tagged;
  });
  if (needsCopy) unit.start(runId);
  return presentDataSource(dataSource, { workflowLink });
}

/** POST /data_sources/tags/add: adds new keys and replaces existing ones. */
export const addDataSourceTags = operation({
  method: 'post',
  path: '/data_sources/tags/add',
  operationId: 'add_data_source_tags_data_sources_tags_add_post',
  tag: 'Data Sources',
  auth: 'user',
  summary: 'Add tags to a data source',
  description: [
    'Adds tags to a data source, and so to its files. A key that exists gets the new value as a whole; other keys stay. The returned record already has the tags.\n\nA run `updateTags` copies the change to its files and their vectors; follow it by `GET /sync_runs` with `data_source_id`. Until it ends, searches may use the previous tags of some files.',
  ],
  returns: 'Record of the data source with its new tags. A run then copies them to the files.',
  createsWork: true,
  body: named(
    'AddDataSourceTagsInput',
    Joi.object({
      data_source_id: integer()
        .required()
        .description('`id` of the connected account or feed to tag, as `POST /user_data_sources` lists it.'),
      tags: tags()
        .required()
        .description(
          'Tags to add, such as `{"team": "sales"}`. The value of an existing key is replaced; `{}` changes nothing. At most 65,536 characters as JSON, together with the tags that it has.',
        ),
    }).description('Tags to merge into those of a data source. Its files get them too.'),
  ),
  answer: dataSourceRecord,
  handle: ({ caller, body, deps }) =>
    changeTags(caller, body.data_source_id, (storedBefore) => addTags(storedBefore, storedTags(body.tags)), deps),
});

/** POST /data_sources/tags/remove: removes the named keys, or all. */
export const removeDataSourceTags = operation({
  method: 'post',
  path: '/data_sources/tags/remove',
  operationId: 'remove_data_source_tags_data_sources_tags_remove_post',
  tag: 'Data Sources',
  auth: 'user',
  summary: 'Remove tags from a data source',
  description: [
    'Removes tags from a data source, and so from its files; a tag of the same key that a file has itself stays. Keys that do not exist are ignored. The returned record no longer has the tags.\n\nA run `updateTags` copies the change to its files and their vectors; follow it by `GET /sync_runs` with `data_source_id`. Until it ends, searches may use the previous tags of some files.',
  ],
  returns: 'Record of the data source without the removed tags. A run then removes them from the files.',
  createsWork: true,
  body: named(
    'RemoveDataSourceTagsInput',
    Joi.object({
      data_source_id: integer()
        .required()
        .description(
          '`id` of the connected account or feed whose tags are removed, as `POST /user_data_sources` lists it.',
        ),
      tags_to_remove: Joi.array()
        .items(Joi.string().allow(''))
        .default([])
        .description('Keys to remove from the data source. Unknown keys are ignored. Default: none.'),
      remove_all_tags: Joi.boolean()
        .default(false)
        .description('`true`: remove every key, whatever `tags_to_remove` lists.'),
    }).description('Keys to remove from one data source, or all of them.'),
  ),
  answer: dataSourceRecord,
  handle: ({ caller, body, deps }) =>
    changeTags(
      caller,
      body.data_source_id,
      (storedBefore) => withoutTags(storedBefore, body.remove_all_tags ? 'all' : body.tags_to_remove),
      deps,
    ),
});
