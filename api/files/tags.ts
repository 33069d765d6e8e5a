import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { FileRecord, TagValue } from '../../contract/files/records.js';
import { type StoredTag, storedTags, withoutTags } from '../../contract/files/tags.js';
import { addTags } from './addTags.js';
import type { ApiDeps } from '../http/deps.js';
import { notFound } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer, strings } from '../schemas/fields.js';
import { tags } from '../schemas/tags.js';
import { named } from '../schemas/reference.js';

/** Changes the tags of a file's record at once; a workflow copies them to its vectors. */
async function changeTags(
  caller: UserCaller,
  fileId: number,
  change: (storedBefore: readonly StoredTag[]) => StoredTag[],
  { store, unit, workflowLink }: ApiDeps,
): Promise<FileRecord> {
  const runId = await store.runs.nextId();
  const { file, hasPoints } = await unit.transaction(async (session) => {
    const tagged = await store.files.changeTags(caller, fileId, change, session);
    if (!tagged) throw notFound('file');
    // Only a file with vectors has points to change. If the first sync of a file is in progress, the sync publishes its
    // result only with the latest tags.
    const accept = tagged.changed && tagged.file.vectorSpace !== null;
    if (accept) {
      const run = {
        kind: 'updateTags',
        workflowId: workflowIds.updateFileTags(fileId),
        owner: caller,
        fileId,
      } as const;
      await store.runs.accept(runId, { ...run, requestId: randomUUID() }, session);
    }
    return { file: tagged.file, hasPoints: accept };
  });
  if (hasPoints) unit.start(runId);
  return presentFile(file, { workflowLink });
}

/** Tags of files are text or lists of text; other values are converted. */
function asText(value: TagValue): TagValue {
  return typeof value === 'object' ? value.map(String) : String(value);
}

/** POST /create_user_file_tags: adds new keys and replaces existing ones. */
export const createFileTags = operation({
  method: 'post',
  path: '/create_user_file_tags',
  operationId: 'create_file_tags_create_user_file_tags_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Add tags to a file',
  description: [
    'Adds tags to a file, and replaces the values of tags that it has. Numbers and booleans become text. The returned record already has the tags; a run copies them to the vectors, so searches filter by them moments later. Tags of a data source belong to `POST /data_sources/tags/add`. An unknown file returns 404.',
  ],
  returns: 'Record of the file with its new tags, which searches use shortly after.',
  createsWork: true,
  body: named(
    'OrganizationUserFileTagCreate',
    Joi.object({
      organization_user_file_id: integer()
        .required()
        .description(
          '`id` of the file that gets the tags, as `POST /user_files_v2` lists it. An unknown one returns 404.',
        ),
      tags: tags()
        .required()
        .description(
          'New values by key, at most 65,536 characters as JSON, together with the tags that the file has. Keys have up to 256 characters. Keys that begin with `$`, and `organization_id`, `user_id`, `organization_user_file_id`, `chunk_number` and `db_embedding_id` return 422.',
        ),
    }).description('Tags to add to one file. Values of existing keys are replaced; other tags stay.'),
  ),
  answer: fileRecord,
  handle: ({ caller, body, deps }) =>
    changeTags(
      caller,
      body.organization_user_file_id,
      (storedBefore) =>
        addTags(
          storedBefore,
          storedTags(body.tags).map(({ key, value }) => ({ key, value: asText(value) })),
        ),
      deps,
    ),
});

/** POST /delete_user_file_tags: removes keys from a file. Tags of its data source stay; they are removed there. */
export const deleteFileTags = operation({
  method: 'post',
  path: '/delete_user_file_tags',
  operationId: 'delete_file_tags_delete_user_file_tags_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Remove tags from a file',
  description: [
    'Removes tags from a file by their keys; keys that it does not have are ignored. Only tags of the file itself are removed: those of its data source stay, and are removed with `POST /data_sources/tags/remove`. The returned record is current; vectors follow moments later. An unknown file returns 404.',
  ],
  returns: 'Record of the file without the removed tags. Searches stop using the tags shortly after.',
  createsWork: true,
  body: named(
    'OrganizationUserFileTagsRemove',
    Joi.object({
      organization_user_file_id: integer()
        .required()
        .description(
          '`id` of the file whose tags are removed, as `POST /user_files_v2` lists it. An unknown one returns 404.',
        ),
      tags: strings().required().description('Keys of the tags to remove. Unknown keys are ignored.'),
    }).description('Keys of tags to remove from one file. Tags of its data source stay.'),
  ),
  answer: fileRecord,
  handle: ({ caller, body, deps }) =>
    changeTags(caller, body.organization_user_file_id, (storedBefore) => withoutTags(storedBefore, body.tags), deps),
});
