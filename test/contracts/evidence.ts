/**
 * Evidence, besides the project's own emulators, that connectors work with their providers. scripts/sourcesPage.ts
 * writes docs/sources.md, including its table of evidence, from these and other constants.
 */
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Aspect } from './observations/observation.js';

/**
 * For each table in tables/, the aspects whose requests it compares with a specification. No specification contains
 * rate limits or consents.
 */
export const SPECIFIED: Readonly<Record<string, readonly Aspect[]>> = {
  azureBlobStorage: ['listing', 'paging', 'formats'],
  box: ['listing', 'paging', 'changes', 'formats'],
  confluence: ['listing', 'paging', 'formats'],
  document360: ['listing', 'formats'],
  dropbox: ['listing', 'paging', 'changes', 'formats'],
  freshdesk: ['listing', 'paging', 'formats'],
  gitbook: ['listing', 'paging', 'formats'],
  github: ['listing', 'paging', 'formats'],
  gmail: ['listing', 'paging', 'changes', 'formats'],
  gong: ['listing', 'paging', 'formats'],
  googleCloudStorage: ['listing', 'paging', 'formats'],
  googleDrive: ['listing', 'paging', 'changes', 'formats'],
  googleProjects: ['listing', 'paging'],
  guru: ['listing', 'paging', 'formats'],
  intercom: ['listing', 'paging', 'changes', 'formats'],
  notion: ['listing', 'paging', 'formats'],
  oneDrive: ['listing', 'paging', 'changes', 'formats'],
  outlook: ['listing', 'paging', 'changes', 'formats'],
  s3: ['listing', 'paging', 'formats'],
  salesforce: ['listing', 'paging', 'changes', 'deletions', 'formats'],
  salesforceIdentity: [],
  serviceNow: ['listing', 'paging', 'changes', 'formats'],
  sharePoint: ['listing', 'paging', 'changes', 'formats'],
  slack: ['listing', 'paging', 'formats'],
  zendesk: ['listing', 'paging', 'changes', 'formats'],
  zotero: ['listing', 'paging', 'changes', 'deletions', 'formats'],
};

/**
 * Suites that use servers of other projects, each with the aspects that it checks. Of OAuth they check tokens and
 * identities, not consents.
 */
export const INDEPENDENT_SUITES: readonly {
  readonly suite: string;
  readonly aspects: Partial<Readonly<Record<ConnectedSourceType, readonly Aspect[]>>>;
}[] = [
  {
    suite: 'test/connectors/emulate.test.ts',
    aspects: {
      SLACK: ['listing', 'deletions', 'formats'],
      S3: ['listing', 'formats'],
      GITHUB: ['listing', 'formats'],
      GOOGLE_DRIVE: ['listing', 'formats'],
      GMAIL: ['listing', 'formats'],
      ONEDRIVE: ['OAuth'],
      OUTLOOK: ['OAuth'],
    },
  },
  {
    suite: 'test/long/backlot.test.ts',
    aspects: {
      SLACK: ['OAuth', 'listing', 'paging', 'formats'],
      GMAIL: ['OAuth', 'listing', 'paging', 'formats'],
      GOOGLE_DRIVE: ['OAuth', 'formats'],
      GITHUB: ['listing', 'formats'],
      NOTION: ['OAuth', 'listing', 'formats'],
      S3: ['listing', 'formats'],
    },
  },
];
