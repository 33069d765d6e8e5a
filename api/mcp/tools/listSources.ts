import Joi from 'joi';

import type { DataSourceRecord } from '../../../contract/files/records.js';
import { userDataSources } from '../../dataSources/list.js';
import { integer, nullable } from '../../schemas/fields.js';
import { firstThatFit } from '../bounds.js';
import { limit, type Listed, more, record } from '../schemas.js';
import { READS, tool } from '../tool.js';

const source = record({
  source_id: integer().description('Id of the account or feed.'),
  source: Joi.string().description('Kind of source, such as GOOGLE_DRIVE.'),
  account: nullable(Joi.string().allow('')).description('The account at the source.'),
  listing_status: Joi.string().description('State of the listing of the account, not of its files.'),
  has_access: Joi.boolean().description('Whether the account can be synced. If not, the user connects it again.'),
  files_synced_at: nullable(Joi.string()).description('When its files were last synced.'),
});

/** Lists the connected accounts and feeds. */
export const listSources = tool({
  name: 'list_sources',
  title: 'List connected sources',
  description: 'Lists the accounts and feeds that the user has connected. Uploads and web pages belong to none.',
  scope: 'read',
  annotations: READS,
  input: Joi.object({
    limit: limit(50, 500),
    offset: integer().min(0).default(0).description('Number of sources to skip, to continue a list.'),
  }),
  output: record({
    sources: Joi.array().items(source),
    count: integer().description('Number of all sources.'),
    more: more(),
  }),
  async run({ limit: maxSources, offset }, { perform, deps }) {
    const answer = await perform(userDataSources, {
      body: { order_by: 'created_at', pagination: { limit: maxSources, offset } },
    });
    const { results, count } = answer as Listed<DataSourceRecord>;
    const listedSources = results.map((result) => ({
      source_id: result.id,
      source: result.data_source_type,
      account: result.data_source_external_id,
      listing_status: result.sync_status,
      has_access: !result.revoked_access,
      files_synced_at: result.files_synced_at,
    }));
    const sources = firstThatFit(listedSources, deps.settings.mcpMaxResultCharacters);
    const next = offset + sources.length;
    return { sources, count, more: next < count ? `Call list_sources again with offset ${next}.` : null };
  },
});
