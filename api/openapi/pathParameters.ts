import type { Json } from './types.js';

const id = (description: string): Json => ({ description, schema: { type: 'integer' } });
const text = (description: string): Json => ({ description, schema: { type: 'string' } });

/** Descriptions and schemas of the parameters in paths, by their names. Every name means the same in all paths. */
export const PATH_PARAMETERS: Readonly<Record<string, Json>> = {
  content: text('Part of a presigned URL: which content of the file, and which version of it.'),
  data_source_id: id('`id` of a data source, as `POST /user_data_sources` lists it.'),
  file: text('Part of a presigned URL: the file.'),
  file_id: id('`id` of a file, as `POST /user_files_v2` lists it.'),
  id: text('`id` of the record at its source, as the list of these records returns it.'),
  issue_number: id('Number of the issue in its repository, as its page on GitHub shows it.'),
  organization: text('Part of a presigned URL: the organization that owns the file.'),
  pull_number: id('Number of the pull request in its repository, as its page on GitHub shows it.'),
  reembed_id: id('`id` that `POST /files/reembed` returned for the run.'),
  sync_run_id: id('`id` of a run, as `GET /sync_runs` lists it.'),
  webhook_id: id('`id` of a webhook, as `POST /webhooks` lists it.'),
};
