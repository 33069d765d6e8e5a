/** The table of contents of the guide: its pages, their order, and their addresses. */
import path from 'node:path';

export interface Part {
  readonly title: string;
  /** Pages as paths below docs/, in reading order. */
  readonly pages: readonly string[];
}

const below = (folder: string, ...names: readonly string[]): string[] => names.map((name) => `${folder}/${name}.md`);

/** Every Markdown file of docs/ belongs to one part; a build with a missing or an unlisted page fails. */
export const CONTENTS: readonly Part[] = [
  { title: 'Start', pages: below('guide', 'README', 'quickstart', 'concepts', 'clients', 'agents', 'migration') },
  {
    title: 'Sources',
    pages: [
      ...below('guide/sources', 'README', 'connect', 'sync', 'uploads', 'web', 'feeds', 'youtube'),
      ...below('guide/sources', 'azure-blob-storage', 'box', 'confluence', 'document360', 'dropbox', 'freshdesk'),
      ...below('guide/sources', 'gitbook', 'github', 'gmail', 'gong', 'google-cloud-storage', 'google-drive', 'guru'),
      ...below('guide/sources', 'intercom', 'notion', 'onedrive', 'outlook', 's3', 'salesforce', 'servicenow'),
      ...below('guide/sources', 'sharepoint', 'slack', 'zendesk', 'zotero'),
    ],
  },
  {
    title: 'Formats',
    pages: below('guide/formats', 'README', 'pdf', 'office', 'mail', 'pages', 'images', 'recordings', 'tables', 'text'),
  },
  { title: 'Search', pages: below('guide/search', 'README', 'chunks', 'hybrid', 'citations') },
  { title: 'Events', pages: below('guide/events', 'webhooks', 'streams') },
  {
    title: 'Operate',
    pages: [
      ...['guide/operate.md', 'deployment.md', 'settings.md', 'operations.md'],
      ...below('operations', 'troubleshooting', 'runs', 'ops-page', 'data', 'models', 'accounts', 'metrics', 'traces'),
      'security.md',
    ],
  },
  {
    title: 'API behaviour',
    pages: [
      ...below('api', 'README', 'conventions', 'accounts', 'web', 'files', 'documents', 'search', 'integrations'),
      ...below('api', 'sources', 'live-data', 'runs', 'webhooks', 'mcp'),
      ...['events.md', 'sources.md'],
    ],
  },
  {
    title: 'How it is built',
    pages: [
      ...['architecture.md', ...below('architecture', 'syncs', 'files', 'search')],
      ...['durability.md', 'adding-a-source.md', 'glossary.md'],
      ...below('decisions', '001-fairness', '002-priority-of-workers', '003-readers-in-processes', '004-own-traces'),
      ...below('decisions', '005-metrics-ports', '006-azure-signatures', '007-limits-of-bodies', '008-hybrid-by-sum'),
      ...below('decisions', '009-uploads-share-a-workflow', '010-backup-and-repair', '011-operations-page'),
      ...below('decisions', '012-store-timeouts', '013-guide', '014-old-office-files'),
    ],
  },
];

/** Returns where a page of docs/ is served, relative to the root of the guide: `sources/box.html`. */
export function addressOf(page: string): string {
  const inGuide = page.replace(/^guide\//, '');
  return inGuide.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html');
}

/** Returns a link from one address to another that works under every path prefix. */
export function linkBetween(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to);
}
