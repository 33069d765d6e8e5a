import Joi from 'joi';

import type { FileRecord } from '../../../contract/files/records.js';
import { userFilesV2 } from '../../files/userFiles.js';
import { fileSyncStatus, sourceType } from '../../schemas/enums.js';
import { integer, nullable } from '../../schemas/fields.js';
import { tagFilter } from '../../schemas/tags.js';
import { firstThatFit } from '../bounds.js';
import { fileFields, limit, type Listed, more, record, stateFields } from '../schemas.js';
import { READS, tool } from '../tool.js';
import { uriOf } from '../uris.js';

const file = record({
  ...fileFields,
  ...stateFields,
  parent_id: nullable(integer()).description('File id of the site, feed or folder that the file belongs to.'),
  characters: nullable(integer()).description('Length of the text; null while it is unknown.'),
  created_at: Joi.string().description('When the file was added.'),
  last_sync: nullable(Joi.string()).description('When its last sync ended; null before the first.'),
});

/** Converts the record of a file to the fields that agents receive. */
export const fileOf = (listed: FileRecord) => ({
  file_id: listed.id,
  uri: uriOf(listed.id),
  name: listed.name,
  source: listed.source,
  url: listed.external_url,
  status: listed.sync_status,
  error: listed.sync_error_message,
  parent_id: listed.parent_id,
  characters: listed.file_statistics?.num_characters ?? null,
  created_at: listed.created_at,
  last_sync: listed.last_sync,
});

/** Lists files by filters, in pages. */
export const listFiles = tool({
  name: 'list_files',
  title: 'List files',
  description:
    'Lists the user’s files in the order of their ids, with their state. Use search to find content; this finds files by name.',
  scope: 'read',
  annotations: READS,
  input: Joi.object({
    name: Joi.string().max(500).description('Only files whose name contains this text, ignoring case.'),
    sources: Joi.array().items(sourceType()).description('Only files from these sources.'),
    tags: tagFilter().description('Only files with all of these tags; a list of values matches any of them.'),
    statuses: Joi.array().items(fileSyncStatus()).description('Only files in one of these states.'),
    parent_id: integer().description('Only the files of this site, feed or folder.'),
    limit: limit(50, 500),
    after_id: integer().min(0).default(0).description('Only files with a higher id, to continue a list.'),
  }),
  output: record({
    files: Joi.array().items(file),
    count: integer().description('Number of matching files with a higher id than after_id.'),
    more: more(),
  }),
  async run({ name, sources, tags, statuses, parent_id: parent, limit: maxFiles, after_id: after }, { perform, deps }) {
    const answer = await perform(userFilesV2, {
      body: {
        filters: {
          ...(name === undefined ? {} : { name }),
          ...(sources === undefined ? {} : { source: sources }),
          ...(tags === undefined ? {} : { tags }),
          ...(statuses === undefined ? {} : { sync_statuses: statuses }),
          ...(parent === undefined ? {} : { parent_file_ids: [parent] }),
        },
        order_by: 'id',
        pagination: { limit: maxFiles, starting_id: after },
      },
    });
    const { results, count } = answer as Listed<FileRecord>;
    const files = firstThatFit(results.map(fileOf), deps.settings.mcpMaxResultCharacters);
    const last = files.at(-1);
    return {
      files,
      count,
      more: last && files.length < count ? `Call list_files again with after_id ${last.file_id}.` : null,
    };
  },
});
