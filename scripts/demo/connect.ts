/**
 * Accounts are connected by consent, without any account: stand-ins for their providers run beside the service. Whoever
 * looks on consents in a browser, and what lies in the accounts becomes searchable.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { DataSourceRecord } from '../../contract/records.js';
import type { ConnectedSourceType } from '../../contract/sources.js';
import { startGoogleDrive } from '../../test/emulators/googleDrive.js';
import type { OAuthProvider } from '../../test/emulators/oauthProvider.js';
import { startSlack } from '../../test/emulators/slack.js';
import { ask, type Client, countFiles, type Demo } from './client.js';
import { CONVERSATIONS, DRIVE, USERS } from './harbour.js';
import { openInBrowser } from './openInBrowser.js';

const CLIENT = 'allotrope-demo';
const LOOK_MS = 250;
/** Things on a page of a stand-in. */
const PER_PAGE = 100;

interface Account {
  readonly service: ConnectedSourceType;
  readonly name: string;
  readonly oauth: OAuthProvider;
  /** Beside the service, in the call that makes the address. */
  readonly wishes: Readonly<Record<string, unknown>>;
  /** Whether the person chooses what is synced; else it is chosen here, as an application may. */
  readonly personChooses: boolean;
  sync(api: Client, source: DataSourceRecord): Promise<void>;
  readonly question: string;
}

export interface ConnectDemoOptions {
  /** Leads the person to an address. */
  readonly open?: (url: string) => void;
  readonly print?: (text: string) => void;
}

/** @param say told how far it is, a line at a time */
export async function connectDemo(
  say: (line: string) => void,
  { open = openInBrowser, print = console.log }: ConnectDemoOptions = {},
): Promise<Demo> {
  const secret = randomBytes(16).toString('hex');
  const clients = { [CLIENT]: secret };
  const drive = await startGoogleDrive(DRIVE, { filesPerPage: PER_PAGE, clients });
  const slack = await startSlack({ perPage: PER_PAGE, clients });
  for (const [id, one] of Object.entries(CONVERSATIONS)) slack.conversations.set(id, one);
  for (const [id, name] of Object.entries(USERS)) slack.users.set(id, name);

  const accounts: readonly Account[] = [
    {
      service: 'GOOGLE_DRIVE',
      name: 'Google Drive',
      oauth: drive.oauth,
      wishes: { automatically_open_file_picker: true },
      personChooses: true,
      sync: async () => undefined,
      question: 'What happens to my boat when a storm comes?',
    },
    {
      service: 'SLACK',
      name: 'Slack',
      oauth: slack.oauth,
      wishes: {},
      personChooses: false,
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
      // Whoever looks on may be called away.
      CONSENT_LIFE_S: '86400',
    },
    async run(api) {
      for (const account of accounts) await connect(account, { api, say, open, print });
    },
    async close() {
      await Promise.all([drive.close(), slack.close()]);
    },
  };
}

interface Stage extends Required<ConnectDemoOptions> {
  readonly api: Client;
  readonly say: (line: string) => void;
}

async function connect(account: Account, stage: Stage): Promise<void> {
  const { name, personChooses, question } = account;
  const { api, say, print } = stage;
  const source = await consented(account, stage);
  say(`${name} is connected as ${source.data_source_external_id?.split('|')[1] ?? 'an account'}`);
  await account.sync(api, source);
  if (personChooses) await chosen(account, source, stage);
  const counts = await synced(source, stage);
  if (counts.failed > 0) say(`${counts.failed} of ${name} failed: /user_files_v2 says why`);
  say(`${counts.ready} of ${name} are searchable`);
  print(await ask(api, question));
}

async function addressOf({ service, wishes }: Account, api: Client, body: object): Promise<string> {
  return (await api.post<{ oauth_url: string }>('/integrations/oauth_url', { service, ...wishes, ...body })).oauth_url;
}

const sourceOf = async (api: Client, type: ConnectedSourceType): Promise<DataSourceRecord[]> =>
  (await api.post<{ results: DataSourceRecord[] }>('/user_data_sources', { filters: { source: type } })).results;

/** The data source, once the person has consented to it; who says no may think again. */
async function consented(account: Account, { api, say, open }: Stage): Promise<DataSourceRecord> {
  const { name, service, oauth } = account;
  const before = new Map((await sourceOf(api, service)).map((one) => [one.id, one.last_synced_at]));
  const decisions = () => oauth.requests.filter(({ kind }) => kind === 'consent');
  let answered = decisions().length;
  const lead = async (): Promise<void> => {
    // A stand-in remembers nothing of its last life, so that consent is always asked for anew.
    const url = await addressOf(account, api, { connecting_new_account: true });
    say(`${name}: allow the access, in a browser:\n\n  ${url}\n`);
    open(url);
  };
  await lead();
  for (;;) {
    await sleep(LOOK_MS);
    const found = (await sourceOf(api, service)).find(({ id, last_synced_at: at }) => before.get(id) !== at);
    if (found) return found;
    const since = decisions().slice(answered);
    if (since.length > 0 && since.every(({ parameters }) => parameters['decision'] !== 'allow')) {
      answered += since.length;
      say(`You said no to ${name}, and nothing was connected. Here is another address:`);
      await lead();
    }
  }
}

/** Waits until the person has chosen; who gives up may choose on. */
async function chosen(account: Account, { id }: DataSourceRecord, { api, say, open }: Stage): Promise<void> {
  const { name, service } = account;
  say(`Choose in the browser what of ${name} is to be searchable`);
  let given = '';
  for (;;) {
    await sleep(LOOK_MS);
    const source = (await sourceOf(api, service)).find((one) => one.id === id);
    if (source?.last_sync_action === 'UPDATE') return;
    if (source?.last_sync_action === 'CANCEL' && source.last_synced_at !== given) {
      given = source.last_synced_at;
      const url = await addressOf(account, api, { data_source_id: id });
      say(`Nothing was chosen. Here it can be done:\n\n  ${url}\n`);
      open(url);
    }
  }
}

/** Follows what is synced to its end. */
async function synced(source: DataSourceRecord, { api, say }: Stage): Promise<{ ready: number; failed: number }> {
  let last = '';
  for (;;) {
    await sleep(LOOK_MS);
    const filters = { organization_user_data_source_id: [source.id] };
    const { ready, failed } = await countFiles(api, filters);
    const { count } = await api.post<{ count: number }>('/user_files_v2', { filters, pagination: { limit: 1 } });
    const line = `${ready} of ${count} ready${failed > 0 ? `, ${failed} failed` : ''}`;
    if (count > 0 && line !== last) say(line);
    last = line;
    const [now] = await sourceOf(api, source.data_source_type as ConnectedSourceType);
    if (now?.files_synced_at !== source.files_synced_at && count > 0 && ready + failed === count)
      return { ready, failed };
  }
}
