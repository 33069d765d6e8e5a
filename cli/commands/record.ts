import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { sourceSettings } from '../../config/config.js';
import { createConnectors } from '../../connectors/registry.js';
import { CONNECTION_CLIENTS, CONNECTION_FIELDS, type OAuthClient } from '../../contract/accounts/oauth.js';
import { isOAuthSource, type OAuthSource } from '../../contract/accounts/whiteLabel.js';
import { Fault } from '../../contract/failures.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { createEgress } from '../../egress/createEgress.js';
import type { Egress } from '../../egress/types.js';
import { type Call, type Command, CommandError, UsageError } from '../command.js';
import { consentOnLoopback, redirectUriOf } from '../recording/consent.js';
import { fileOf } from '../recording/folder.js';
import { recordAccount } from '../recording/record.js';
import { RecordingError, type Targets } from '../recording/steps.js';

const DEFAULTS = { containers: 3, pages: 5, items: 3, port: 8791 } as const;

function sourceIn(text: string): ConnectedSourceType {
  const source = text.toUpperCase().replaceAll('-', '_');
  if (Object.hasOwn(CONNECTED_SOURCES, source)) return source as ConnectedSourceType;
  throw new UsageError(`unknown source ${text}. Give one of ${Object.keys(CONNECTED_SOURCES).join(', ')}`);
}

/**
 * Parses the parameters of a connection; names that the source does not know are kept. @throws UsageError for a missing
 * parameter, or one with an invalid value
 */
function parametersIn(source: OAuthSource, pairs: readonly string[]): Record<string, string> {
  const fields = [...(CONNECTION_FIELDS[source] ?? []), ...(CONNECTION_CLIENTS[source]?.fields ?? [])];
  const parameters: Record<string, string> = {};
  for (const { parameter, fallback } of fields) if (fallback !== undefined) parameters[parameter] = fallback;
  for (const pair of pairs) {
    const [, name = '', value = ''] = /^(\w+)=(.+)$/.exec(pair) ?? [];
    if (name === '') throw new UsageError('--parameter requires NAME=VALUE');
    const field = fields.find(({ parameter }) => parameter === name);
    if (field && !field.pattern.test(value)) throw new UsageError(`--parameter ${name} requires ${field.accepts}`);
    parameters[name] = value;
  }
  const missing = fields.find(({ parameter, isRequired }) => isRequired && parameters[parameter] === undefined);
  if (missing) throw new UsageError(`--parameter ${missing.parameter}=VALUE is missing: ${missing.accepts}`);
  return parameters;
}

/** Returns the OAuth client of RECORD_OAUTH_CLIENT, else the configured one. @throws CommandError if there is none */
function clientOf(
  source: OAuthSource,
  env: NodeJS.ProcessEnv,
  configured: OAuthClient | null,
  port: number,
): OAuthClient {
  const [, id = '', secret = ''] = /^([^:]+):(.+)$/.exec(env['RECORD_OAUTH_CLIENT'] ?? '') ?? [];
  if (id !== '') return { id, secret };
  if (configured) return configured;
  throw new CommandError(
    `There are no credentials of ${source}. Set RECORD_ACCESS_TOKEN to an access token, or RECORD_OAUTH_CLIENT to ` +
      `ID:SECRET of an OAuth client that has the redirect address ${redirectUriOf(port)}.`,
  );
}

/** Credentials come from the environment, because arguments are visible to other users of the machine. */
async function credentialsFor(
  source: ConnectedSourceType,
  { all, number, terminal }: Call,
  egress: Pick<Egress, 'request'>,
): Promise<unknown> {
  const { env } = terminal;
  if (!isOAuthSource(source)) {
    try {
      const given = JSON.parse(env['RECORD_CREDENTIALS'] ?? '') as unknown;
      if (typeof given === 'object' && given !== null) return given;
    } catch {
      // Reported below, without the text: it may contain a secret.
    }
    throw new CommandError(
      'Set RECORD_CREDENTIALS to the credentials of the account, as JSON: docs/adding-a-source.md lists the fields.',
    );
  }
  const facts = parametersIn(source, all('parameter'));
  const accessToken = env['RECORD_ACCESS_TOKEN'];
  if (accessToken) return { accessToken, facts };
  const { urls, clients, maxItemBytes } = sourceSettings(env).connectors;
  const consent = createConnectors({ egress, urls, clients, maxItemBytes }).consent(source);
  if (!consent) throw new Error(`The connector of ${source} defines no OAuth consent`);
  const port = number('port', 0) ?? DEFAULTS.port;
  return consentOnLoopback({
    consent,
    client: clientOf(source, env, consent.client, port),
    ...{ facts, port, signal: terminal.stopped },
    show: (url) => terminal.err(`Open this address in a browser, and consent:\n\n${url}\n\n`),
  });
}

const describeItem = ({ name, externalId, externalUrl }: Targets['changed']): string =>
  `  ${name}\n  (id ${externalId})${externalUrl === null ? '' : `\n  ${externalUrl}`}\n`;

function requestFor(name: string, { changed, deleted }: Targets, attempt: number): string {
  if (attempt > 1) return `${name} does not report both changes yet. Wait a little, then press Enter. `;
  return (
    `\nNow change the content of this item at ${name}:\n${describeItem(changed)}and delete this item:\n${describeItem(deleted)}` +
    'Then press Enter. '
  );
}

export const record: Command = {
  usage: 'SOURCE',
  about:
    'Connects an account, lists it, reads some items, asks you to change one item and to delete another, and lists the changes. The requests and responses become a test fixture. Names, texts, ids and tokens are replaced; nothing is saved unless a replay gives the same results.\nUse an account made for this purpose. Credentials come from the environment: RECORD_CREDENTIALS, RECORD_ACCESS_TOKEN or RECORD_OAUTH_CLIENT (docs/adding-a-source.md).',
  options: {
    parameter: {
      value: 'NAME=VALUE',
      multiple: true,
      about: 'A parameter of the connection, such as subdomain=example.',
    },
    containers: { value: 'N', about: `Maximum number of containers that are listed. Default: ${DEFAULTS.containers}.` },
    pages: { value: 'N', about: `Maximum number of pages of one listing. Default: ${DEFAULTS.pages}.` },
    items: { value: 'N', about: `Maximum number of items that are read. Default: ${DEFAULTS.items}.` },
    'no-changes': { about: 'Skips the change and the deletion. The fixture states that.' },
    port: { value: 'PORT', about: `Port of the redirect address of the consent. Default: ${DEFAULTS.port}.` },
    out: { value: 'FILE', about: 'File of the fixture. Default: in test/fixtures/recordings.' },
  },
  async run(call) {
    const { args, has, number, text, terminal } = call;
    const source = sourceIn(args[0] ?? '');
    const { name } = CONNECTED_SOURCES[source];
    const settings = sourceSettings(terminal.env);
    const egress = createEgress(settings.egress);
    try {
      const credentials = await credentialsFor(source, call, egress);
      const recording = await recordAccount({
        ...{ source, credentials, egress, urls: settings.connectors.urls, signal: terminal.stopped },
        limits: {
          containers: number('containers') ?? DEFAULTS.containers,
          pages: number('pages') ?? DEFAULTS.pages,
          items: number('items', 0) ?? DEFAULTS.items,
        },
        change: has('no-changes')
          ? null
          : (targets, attempt) => terminal.waitForEnter(requestFor(name, targets, attempt)),
      });
      const file = text('out') ?? fileOf(source);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, `${JSON.stringify(recording, null, 1)}\n`);
      const count = recording.steps.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
      terminal.out(`${file} contains ${count} requests of ${name}. Read it before you publish it.`);
      if (recording.account === 'emulator')
        terminal.out('It is marked as a recording of an emulator, so docs/sources.md does not mention it.');
      else terminal.out('Replay it with npm test, then run npm run docs:sources.');
    } catch (error) {
      if (error instanceof RecordingError) throw new CommandError(error.message);
      if (error instanceof Fault) throw new CommandError(`${error.message}\nNothing was saved.`);
      throw error;
    } finally {
      await egress.close();
    }
  },
};
