/** Operations that find and ingest files: extensions of their request bodies apply to these fields too. */
const BRINGING_IN = [
  'scrape_sitemap',
  'web_scrape.[]',
  'integrations/files/sync',
  'integrations/confluence/sync',
  'integrations/gitbook/sync',
  'integrations/gmail/sync',
  'integrations/outlook/sync',
  'integrations/slack/sync',
  'integrations/s3/files',
  'integrations/azure_blob_storage/files',
] as const;

const each = (field: string, reason: string): Record<string, string> =>
  Object.fromEntries(BRINGING_IN.map((operation) => [`${operation}.${field}`, reason]));

/**
 * Everything that this server adds to the public contract, with the reason. The comparison with the contract allows
 * nothing else.
 */
export const EXTENSIONS = {
  operations: {
    'GET /health': 'Older front-ends and load balancers call it.',
    'GET /ready': 'Operators see which dependency is away.',
    'GET /content/{organization}/{file}/{content}': 'Where presigned URLs point.',
    'GET /events': 'A receiver that was down catches up.',
    'GET /events/stream': 'Clients follow events without a public address, and continue where they stopped.',
    'GET /webhooks/{webhook_id}/deliveries': 'Tells why a receiver did not get an event.',
    'POST /webhooks/{webhook_id}/redeliver': 'Sends again what a receiver has missed, and starts a disabled one again.',
    'GET /integrations/': 'Older front-ends list the connected data sources by it.',
    'DELETE /deletefile/{file_id}': 'Older front-ends delete one file by it.',
    'GET /models': 'Tells which provider and vector space serve each embedding model.',
    'POST /cancel_sync': 'The contract has no way to stop a scrape.',
    'POST /sync_runs/{sync_run_id}/resume':
      'Resumes a run that is paused at its max_tokens, with another limit or none.',
    'POST /files/reembed': 'Files change their embedding model without being fetched, read and chunked again.',
    'GET /files/reembed/{reembed_id}': 'Returns the progress of a run of re-embedding.',
    'POST /files/reembed/{reembed_id}/cancel': 'Stops a run of re-embedding.',
    'GET /sync_runs': 'Lists runs with their results: the ledger.',
    'GET /sync_runs/{sync_run_id}': 'How one run stands, or ended: counts that add up.',
    'GET /sync_runs/{sync_run_id}/events': 'Clients follow a run live, without polling.',
    'GET /sync_runs/{sync_run_id}/items': 'What became of each thing that it met, with the cause and what to do.',
    'POST /sync_runs/{sync_run_id}/retry': 'Syncs again what failed.',
    'GET /data_sources/held_deletions': 'Operators see where a listing missed so much that nothing was deleted.',
    'POST /data_sources/{data_source_id}/held_deletions/approve': 'Has them carried out.',
    'POST /data_sources/{data_source_id}/held_deletions/refuse': 'Has the files stay.',
    'GET /data_sources/{data_source_id}/diagnosis': 'Tells what of a connection works, what does not, and what helps.',
    'GET /files/held_deletions': 'The same of scrapes.',
    'POST /files/{file_id}/held_deletions/approve': 'Has them carried out by the next pass.',
    'POST /files/{file_id}/held_deletions/refuse': 'Has the pages stay.',
    'GET /quarantined_files':
      'Lists files that were deleted because they vanished at their source, and can be restored.',
    'POST /quarantined_files/restore': 'Restores them.',
  },
  /** Extensions of requests. */
  requestFields: {
    'auth/v1/access_token.scope': 'Tokens for agents may read, or read and write.',
    'auth/v1/access_token.expires_in': 'Tokens for agents may be valid for longer or shorter than ten hours.',
    ...each('dry_run', 'Tells what a run would take: files, bytes, tokens, time, price. Nothing is embedded or kept.'),
    ...each('max_tokens', 'Tokens that a run may have embedded at most: it pauses before it would pass them.'),
  },
  /** Extensions of responses to requests with the option. */
  answers: { dry_run: 'What a run would take, like the answer of POST /files/reembed: see docs/api/runs.md.' },
  fields: {
    'scrape_sitemap.embedding_model null': 'Shipped front-ends send null; it means OPENAI.',
    'integrations/gitbook.embedding_model null': 'As for scrape_sitemap.',
    'integrations/document360.embedding_model null': 'As for scrape_sitemap.',
    'integrations/guru.embedding_model null': 'As for scrape_sitemap.',
    'integrations/gitbook/sync.embedding_model null': 'As for scrape_sitemap.',
    'integrations/outlook/sync.embedding_model null': 'As for scrape_sitemap.',
    'integrations/s3/files.embedding_model null': 'As for scrape_sitemap.',
    'integrations/gmail/sync.embedding_model null': 'As for scrape_sitemap.',
    'integrations/azure_blob_storage/files.embedding_model null': 'As for scrape_sitemap.',
    'integrations/slack/sync.embedding_model null': 'As for scrape_sitemap.',
    'web_scrape.[].embedding_model null': 'As for scrape_sitemap.',
    'fetch_youtube_transcript.video_id': 'Shipped front-ends say video_id for id.',
    'embedding_properties.<MODEL>.served_by and dimensions': 'Tell which vector space served the model.',
    'POST /integrations/data/github/issues.data.[].remote_data':
      'include_remote_data may be asked for of issues as well.',
    'GET /integrations/data/github/issues/{issue_number}.remote_data': 'As for the list.',
    'GET /organization.embedding_usage':
      'By vector space: requests and tokens of its provider, texts embedded, and texts whose vectors were known.',
  },
  /** Fields of records in all responses. */
  records: {
    workflow_id: 'Of files and data sources: their active workflow, or the last one.',
    workflow_url: "Where it can be looked at in Temporal's Web UI; null where TEMPORAL_UI_URL is unset.",
  },
  /** Defaults that the contract does not name; documented in docs/api too. */
  defaults: {
    'uploadfile.chunk_size': 'As the other operations have it.',
    'uploadfile.chunk_overlap': 'As the other operations have it.',
  },
  /** Operations whose body may be absent although the contract requires one: all of its fields are optional. */
  optionalBodies: [
    'POST /data_sources',
    'POST /list_users',
    'POST /modify_cold_storage_parameters',
    'POST /move_to_hot_storage',
    'POST /organization/update',
    'POST /user_data_sources',
    'POST /user_files',
    'POST /user_files_v2',
    'POST /user_webpages',
    'POST /webhooks',
    'POST /white_label/list',
  ],
  /** Outside the OpenAPI document, because API clients do not call them. */
  paths: {
    'GET /integrations/{source}': 'A page: where a provider sends the user after the consent.',
    'GET /connections/{name}': 'A page: where a user continues with a connected account.',
    'POST /connections/{name}': "The user's decision on that page.",
    'GET /ops': 'A page: the state of an organization, for operators.',
    'GET /ops/events': 'Keeps that page up to date, by server-sent events.',
    'GET /ops/files': 'Files that failed for one cause: a page.',
    'POST /ops/sign_in': 'Takes an API key for a session of a browser.',
    'POST /ops/sign_out': 'Ends it.',
    'POST /mcp': 'Agents search and read by the Model Context Protocol.',
    'GET /.well-known/oauth-protected-resource': 'Describes that endpoint (RFC 9728), where PUBLIC_URL is set.',
  },
  headers: {
    'Idempotency-Key': 'Of POSTs that create work: a client that got no answer can ask again without doing it twice.',
    'Idempotent-Replayed': 'Tells that an answer is that of an earlier request with the key.',
    'Last-Event-ID': 'Of streams: the last event that the client received.',
    'X-Request-Id': 'Names the request in the log.',
    Prefer: 'With handling=strict, unknown fields are refused instead of ignored.',
    'Preference-Applied': 'Confirms that preference.',
    'Allotrope-Ignored-Fields': 'Names the fields of the request that were ignored.',
  },
  statuses:
    '400, 401, 403, 404, 408, 409, 413, 415, 429 and 431 with {detail} are described in addition to 200 and 422; 502 and 503 for a search whose embedding provider or reranker refuses or fails, and for a web search or transcript whose service does; 503 also for a connected source that is temporarily unavailable, and for a store (MongoDB, Qdrant, Temporal, file storage) that does not answer, with Retry-After and its name in {detail}; 507 for a store whose disk is full.',
} as const;
