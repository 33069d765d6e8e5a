/** Operations that ingest all files that they find. Each accepts the fields `dry_run` and `max_tokens`. */
const INGESTING_OPERATIONS = [
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

const ofIngesting = (field: string, reason: string): Record<string, string> =>
  Object.fromEntries(INGESTING_OPERATIONS.map((operation) => [`${operation}.${field}`, reason]));

/** Operations whose files OCR can read. */
const WITH_OCR = [
  'uploadfile',
  'upload_file_from_url',
  'integrations/oauth_url',
  'integrations/files/sync',
  'integrations/confluence/sync',
  'integrations/s3/files',
  'integrations/azure_blob_storage/files',
] as const;

const withOcr = (field: string, reason: string): Record<string, string> =>
  Object.fromEntries(WITH_OCR.map((operation) => [`${operation}.${field}`, reason]));

/**
 * All additions of this server to the public contract, with their reasons. The tests that compare the server with the
 * contract reject every other difference.
 */
export const EXTENSIONS = {
  /** Reason for each operation; null: the description of the operation explains it. */
  operations: {
    'GET /health': 'Older front-ends and load balancers call it.',
    'GET /ready': null,
    'GET /content/{organization}/{file}/{content}': null,
    'GET /events': null,
    'GET /events/stream': null,
    'GET /webhooks/{webhook_id}/deliveries': null,
    'POST /webhooks/{webhook_id}/redeliver': null,
    'GET /integrations/': null,
    'DELETE /deletefile/{file_id}': null,
    'GET /models': null,
    'POST /cancel_sync': 'The contract has no way to stop a scrape.',
    'POST /sync_runs/{sync_run_id}/resume': null,
    'POST /files/reembed': null,
    'GET /files/reembed/{reembed_id}': null,
    'POST /files/reembed/{reembed_id}/cancel': null,
    'GET /sync_runs': null,
    'GET /sync_runs/{sync_run_id}': null,
    'GET /sync_runs/{sync_run_id}/events': null,
    'GET /sync_runs/{sync_run_id}/items': null,
    'POST /sync_runs/{sync_run_id}/retry': null,
    'GET /data_sources/held_deletions': null,
    'POST /data_sources/{data_source_id}/held_deletions/approve': null,
    'POST /data_sources/{data_source_id}/held_deletions/refuse': null,
    'GET /data_sources/{data_source_id}/diagnosis': null,
    'GET /files/held_deletions': null,
    'POST /files/{file_id}/held_deletions/approve': null,
    'POST /files/{file_id}/held_deletions/refuse': null,
    'GET /quarantined_files': null,
    'POST /quarantined_files/restore': null,
  },
  /** Extensions of requests. */
  requestFields: {
    'auth/v1/access_token.scope': 'Tokens for agents may read, or read and write.',
    'auth/v1/access_token.expires_in': 'Tokens for agents may be valid for longer or shorter than ten hours.',
    'scrape_sitemap.remove_repeated_blocks': 'Blocks that most pages of a site repeat are noise for a search.',
    'web_scrape.[].remove_repeated_blocks': 'As for scrape_sitemap.',
    ...ofIngesting('dry_run', 'Estimates a run: files, bytes, tokens, time, price. Nothing is embedded or stored.'),
    ...ofIngesting(
      'max_tokens',
      'Maximum number of tokens that a run may embed: it pauses before it would exceed them.',
    ),
    ...withOcr(
      'ocr_languages',
      'Scans are read in the languages of their tenant, not only in those of the deployment.',
    ),
  },
  /** Additional responses, by the request option that selects them. */
  answers: { dry_run: 'The estimate of a run, in the format of POST /files/reembed: see docs/api/runs.md.' },
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
    'fetch_youtube_transcript.video_id': 'Shipped front-ends send video_id instead of id.',
    'embedding_properties.<MODEL>.served_by and dimensions': "Vector space and dimensions of the file's vectors.",
    'POST /integrations/data/github/issues.data.[].remote_data': 'include_remote_data is supported for issues too.',
    'GET /integrations/data/github/issues/{issue_number}.remote_data': 'As for the list of issues.',
    'GET /organization.embedding_usage':
      'By vector space: requests and tokens of its provider, texts embedded, and texts whose vectors were known.',
  },
  /**
   * Sources and file formats that the contract's enums do not contain, with the reason for each: `FOO: 'reason'`. They
   * occur in requests and responses. Published SDKs may reject answers that contain one.
   */
  values: {
    ODT: 'Text documents of LibreOffice are read; the contract refuses them.',
    ODS: 'As for ODT: workbooks.',
    ODP: 'As for ODT: presentations.',
    EPUB: 'As for ODT: books.',
  } as Readonly<Record<string, string>>,
  /** Fields of records in all responses. */
  records: {
    workflow_id: 'For files and data sources: their active workflow, or the last one.',
    workflow_url: "Its page in Temporal's Web UI; null if TEMPORAL_UI_URL is not set.",
  },
  /** Defaults that the contract does not name; documented in docs/api too. */
  defaults: {
    'uploadfile.chunk_size': 'As in the other operations.',
    'uploadfile.chunk_overlap': 'As in the other operations.',
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
  /** Operations that the OpenAPI document omits, because API clients do not call them. */
  paths: {
    'GET /integrations/{source}': 'A page to which a provider sends the user after the consent.',
    'GET /connections/{name}': 'A page on which a user selects items of a connected account, or syncs it again.',
    'POST /connections/{name}': "The user's decision on that page.",
    'GET /ops': 'A page with the state of an organization, for operators.',
    'GET /ops/events': 'Updates the page of operators by server-sent events.',
    'GET /ops/files': 'A page with the files that failed for one cause.',
    'POST /ops/sign_in': 'Exchanges an API key for a browser session.',
    'POST /ops/sign_out': 'Ends the browser session.',
    'POST /mcp': 'Agents search and read by the Model Context Protocol.',
    'GET /.well-known/oauth-protected-resource':
      'Describes the endpoint /mcp (RFC 9728). It exists if PUBLIC_URL is set.',
  },
  headers: {
    'Idempotency-Key': 'For POSTs that create work: a client without an answer can repeat the request safely.',
    'Idempotent-Replayed': 'Marks the answer of an earlier request with the same key.',
    'Last-Event-ID': 'For streams: the last event that the client received.',
    'X-Request-Id': 'Identifies the request in the log.',
    Prefer: 'With handling=strict, unknown fields are refused instead of ignored.',
    'Preference-Applied': 'Confirms that preference.',
    'Allotrope-Ignored-Fields': 'Names the fields of the request that were ignored.',
  },
  statuses:
    'The contract describes 200 and 422. This server adds 400, 401, 403, 404, 408, 409, 413, 415, 429 and 431, each with {detail}. It adds 502 and 503 for searches and transcripts, if a provider, reranker or service rejects the request or fails. It adds 503 for an unavailable connected source, and for a store (MongoDB, Qdrant, Temporal, file storage) that does not answer: with Retry-After, and the name of the store in {detail}. It adds 507 for a store whose disk is full.',
} as const;
