import type { Json } from './types.js';

const id = (description: string, example = 1_042): Json => ({ description, schema: { type: 'integer' }, example });
const text = (description: string, example: string): Json => ({ description, schema: { type: 'string' }, example });

/**
 * Descriptions, schemas and examples of the parameters in paths, by their names. Every name means the same in all
 * paths. A recorded example replaces that of this table.
 */
export const PATH_PARAMETERS: Readonly<Record<string, Json>> = {
  content: text(
    'Last part of the path of a presigned URL. The service creates it to name the content and its version: use the whole URL as you received it.',
    '3.txt',
  ),
  data_source_id: id('`id` of a data source, as `POST /user_data_sources` lists it.'),
  file: text('Part of a presigned URL: `id` of the file. Use the whole URL as the service returned it.', '1042'),
  file_id: id('`id` of a file, as `POST /user_files_v2` lists it. A file of another caller returns 404.'),
  id: text(
    '`id` of the record at its source, as the operation that lists records of the same kind returns it.',
    '001boatsxxxxxxxxxx',
  ),
  issue_number: id('Number of the issue in its repository, as its page on GitHub shows it.', 4),
  organization: text(
    'Part of a presigned URL: number of the organization that owns the file. Use the whole URL as the service returned it.',
    '1',
  ),
  pull_number: id('Number of the pull request in its repository, as its page on GitHub shows it.', 4),
  reembed_id: id('`id` that `POST /files/reembed` returned for the run.'),
  sync_run_id: id('`id` of a run, as `GET /sync_runs` lists it. A run of another caller returns 404.'),
  webhook_id: id('`id` of a webhook, as `POST /webhooks` lists it. An unknown one returns 404.'),
};
