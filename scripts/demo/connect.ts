/**
 * Connects emulated accounts by OAuth: emulators of the providers run next to the service. The user consents in a
 * browser, then the content of the accounts becomes searchable.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createProgressDisplay } from '../../cli/bars.js';
import type { DataSourceRecord } from '../../contract/files/records.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { startGoogleDrive } from '../../test/emulators/googleDrive.js';
import type { OAuthProvider } from '../../test/emulators/oauthProvider.js';
import { startSlack } from '../../test/emulators/slack.js';
import { searchAsText, type Client, countFiles, type Demo } from './client.js';
import { CONVERSATIONS, DRIVE, USERS } from './harbour.js';
import { openInBrowser } from './openInBrowser.js';
import type { Screen } from './scrape.js';

const CLIENT = 'allotrope-demo';
const POLL_MS = 250;
/** Page size of the emulators. */
const PER_PAGE = 100;

interface Account {
  readonly service: ConnectedSourceType;
  readonly name: string;
  readonly oauth: OAuthProvider;
  /** Additional fields of the request that creates the consent URL. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether the user selects what is synced; otherwise the demo does, as an application may. */
  readonly userChooses: boolean;
  sync(api: Client, source: DataSourceRecord): Promise<void>;
  readonly question: string;
}

const NO_SCREEN: Screen = { isInteractive: false, err: () => undefined };

export interface ConnectDemoOptions {
  /** Opens a URL for the user. */
  readonly open?: (url: string) => void;
  readonly print?: (text: string) => void;
  /** Receives progress; absent: it is not shown. */
  readonly screen?: Screen;
}

/** Prepares the demo of connected accounts. @param printLine receives progress, one line at a time */
export async function connectDemo(
  printLine: (line: string) => void,
  { open = openInBrowser, print = console.log, screen = NO_SCREEN }: ConnectDemoOptions = {},
): Promise<Demo> {
  const secret = randomBytes(16).toString('hex');
  const clients = { [CLIENT]: secret };
  const drive = await startGoogleDrive(DRIVE, { filesPerPage: PER_PAGE, clients });
  const slack = await startSlack({ perPage: PER_PAGE, clients });
  for (const [id, conversation] of Object.entries(CONVERSATIONS)) slack.conversations.set(id, conversation);
  for (const [id, name] of Object.entries(USERS)) slack.users.set(id, name);

  const accounts: readonly Account[] = [
    {
      service: 'GOOGLE_DRIVE',
      name: 'Google Drive',
      oauth: drive.oauth,
      fields: { automatically_open_file_picker: true },
      userChooses: true,
      sync: async () => undefined,
      question: 'What happens to my boat when a storm comes?',
    },
    {
      service: 'SLACK',
      name: 'Slack',
      oauth: slack.oauth,
      fields: {},
      userChooses: false,
      async sync(api, { id }) {
        const { results } = await api.get<{ results: { id: string }[] }>(
          `/integrations/slack/conversations?data_source_id=${id}`,
        );
        const ids = results.map((conversation) => conversation.id);
        await api.post('/integrations/files/sync', { data_source_id: id, ids });
      },
      question: 'When does the ferry sail on Sunday?',
    },
  ];

  return {
    env: {
      ALLOWED_PRIVATE_HOSTS: [drive.host, slack.host].join(','),
      SOURCE_URLS: [drive.settings, slack.settings].join(','),
      OAUTH_CLIENTS: accounts.map(({ service }) => `${service}=${CLIENT}:${secret}`).join(','),
      // The user may take a break before consenting.
      CONSENT_LIFE_S: '86400',
    },
    async run(api) {
      for (const account of accounts) await connect(account, { api, printLine, open, print, screen });
    },
    async close() {
      await Promise.all([drive.close(), slack.close()]);
    },
  };
}

interface Stage extends Required<ConnectDemoOptions> {
  readonly api: Client;
  readonly printLine: (line: string) => void;
}

async function connect(account: Account, stage: Stage): Promise<void> {
  const { name, userChooses, question } = account;
  const { api, printLine, print } = stage;
  const source = await waitForConsent(account, stage);
  printLine(`${name} is connected as ${source.data_source_external_id?.split('|')[1] ?? 'an account'}`);
  await account.sync(api, source);
  if (userChooses) await waitForSelection(account, source, stage);
  const counts = await waitForSync(source, stage);
  if (counts.failed > 0)
    printLine(`${counts.failed} files of ${name} failed. POST /user_files_v2 returns the reasons.`);
  printLine(`${counts.ready} files of ${name} are searchable`);
  print(await searchAsText(api, question));
}

async function consentUrl({ service, fields }: Account, api: Client, body: object): Promise<string> {
  return (await api.post<{ oauth_url: string }>('/integrations/oauth_url', { service, ...fields, ...body })).oauth_url;
}

const sourceOf = async (api: Client, type: ConnectedSourceType): Promise<DataSourceRecord[]> =>
  (await api.post<{ results: DataSourceRecord[] }>('/user_data_sources', { filters: { source: type } })).results;

/** Waits for the user's consent and returns the data source. After a refusal, the user receives another URL. */
async function waitForConsent(account: Account, { api, printLine, open }: Stage): Promise<DataSourceRecord> {
  const { name, service, oauth } = account;
  const before = new Map((await sourceOf(api, service)).map((source) => [source.id, source.last_synced_at]));
  const decisions = () => oauth.requests.filter(({ kind }) => kind === 'consent');
  let answered = decisions().length;
  const requestConsent = async (): Promise<void> => {
    // An emulator keeps no state of an earlier demo, so consent is always requested again.
    const url = await consentUrl(account, api, { connecting_new_account: true });
    printLine(`${name}: allow access in a browser:\n\n  ${url}\n`);
    open(url);
  };
  await requestConsent();
  for (;;) {
    await sleep(POLL_MS);
    const found = (await sourceOf(api, service)).find(({ id, last_synced_at: at }) => before.get(id) !== at);
    if (found) return found;
    const since = decisions().slice(answered);
    if (since.length > 0 && since.every(({ parameters }) => parameters['decision'] !== 'allow')) {
      answered += since.length;
      printLine(`You refused access to ${name}, so it is not connected. Try again:`);
      await requestConsent();
    }
  }
}

/** Waits until the user has selected items. After a cancellation, the user receives another URL. */
async function waitForSelection(
  account: Account,
  { id }: DataSourceRecord,
  { api, printLine, open }: Stage,
): Promise<void> {
  const { name, service } = account;
  printLine(`Select the items of ${name} in the browser`);
  let cancelledAt = '';
  for (;;) {
    await sleep(POLL_MS);
    const source = (await sourceOf(api, service)).find((candidate) => candidate.id === id);
    if (source?.last_sync_action === 'UPDATE') return;
    if (source?.last_sync_action === 'CANCEL' && source.last_synced_at !== cancelledAt) {
      cancelledAt = source.last_synced_at;
      const url = await consentUrl(account, api, { data_source_id: id });
      printLine(`Nothing was selected. Try again:\n\n  ${url}\n`);
      open(url);
    }
  }
}

/** Waits until all files of a data source are synced and shows the progress. */
export async function waitForSync(
  source: DataSourceRecord,
  { api, screen }: Pick<Stage, 'api' | 'screen'>,
): Promise<{ ready: number; failed: number }> {
  const progressDisplay = createProgressDisplay(screen);
  for (;;) {
    await sleep(POLL_MS);
    const filters = { organization_user_data_source_id: [source.id] };
    const { ready, failed } = await countFiles(api, filters);
    const { count } = await api.post<{ count: number }>('/user_files_v2', { filters, pagination: { limit: 1 } });
    if (count > 0)
      progressDisplay.paint([`  ${ready} of ${count} files ready${failed > 0 ? `, ${failed} failed` : ''}`]);
    const sources = await sourceOf(api, source.data_source_type as ConnectedSourceType);
    const now = sources.find(({ id }) => id === source.id);
    if (now?.files_synced_at !== source.files_synced_at && count > 0 && ready + failed === count)
      return { ready, failed };
  }
}
