/** Groups of operations in the API reference, in its order, with their descriptions (Markdown). */
export const API_TAGS = {
  Auth: 'Access tokens with which a front end acts for one end user.',
  Files:
    'Files of an end user: upload, list, tag, re-sync, move to cold storage and delete. A file has an original, a parsed text and chunks.',
  Embeddings: 'Search the chunks of files, list them, and upload chunks and vectors of your own.',
  'Embedding Models':
    'The models that embed chunks, the providers that serve them, and runs that embed stored chunks with another model.',
  Utilities: 'Web pages: scrapes of sitemaps and links, live reads of single pages, web search and transcripts.',
  Integrations:
    'Accounts of other services: connect them by consent or credentials, list what they contain, and choose what to sync.',
  'Data Sources': 'Connected accounts and feeds: list, tag, diagnose and revoke them.',
  'Held Deletions':
    'Deletions that wait for your decision, because a listing or scrape missed suspiciously many files: list, approve and refuse them.',
  Quarantine:
    'Files that were deleted because they vanished at their source: list and restore them until they are erased.',
  CRM: 'Accounts, leads, contacts and opportunities of a connected Salesforce account, read live. Nothing is stored.',
  Github: 'Issues and pull requests of a connected GitHub account, read live. Nothing is stored.',
  Runs: 'Runs, the background jobs that requests and schedules start: progress, results for each item with cause and remedy, retry and resumption.',
  Users: 'End users of an organization: their limits, features and totals.',
  Organizations:
    'The organization of the API key: its defaults for users, settings of connectors, embedding models and totals.',
  'White Label': "The organization's own OAuth clients, so that consent pages show its name.",
  Webhooks: 'URLs of your servers that receive events, and the deliveries to them: list and repeat.',
  Events: 'Events of an organization as a list or stream, for receivers that were down or use no webhook.',
  Health: 'Probes for load balancers and operators: whether a process runs, and whether it can serve requests.',
} as const satisfies Record<string, string>;
export type ApiTag = keyof typeof API_TAGS;
