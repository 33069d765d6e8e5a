import { apiSettings, storeApiKey } from '../../config/config.js';
import type { ApiKeys } from '../../store/organizations/keys.js';
import { table } from '../bars.js';
import { type Call, type Command, CommandError, idOf, JSON_OPTION } from '../command.js';
import { withStore } from '../store.js';

const ORG_OPTION = {
  org: { value: 'ID', about: 'The organization. Default: 1, which the service creates at its first start.' },
} as const;
const TOKENS = 'Access tokens issued with it stay valid until they expire (default ten hours, at most 90 days).';

const withKeys = <T>({ terminal }: Call, work: (keys: ApiKeys) => Promise<T>): Promise<T> =>
  withStore(terminal, (store) => work(store.apiKeys));

function printKey(
  { has, terminal }: Call,
  { id, organizationId, apiKey }: Awaited<ReturnType<ApiKeys['create']>> & object,
) {
  if (has('json')) return terminal.out(JSON.stringify({ id, organization_id: organizationId, api_key: apiKey }));
  terminal.out(`key ${id} of organization ${organizationId}`);
  terminal.out(`API key, shown only now: ${apiKey}`);
}

export const createKey: Command = {
  usage: '',
  about: 'Creates an additional API key of an organization; existing keys stay valid. The key is shown only once.',
  options: { ...ORG_OPTION, ...JSON_OPTION },
  async run(call) {
    const organizationId = call.number('org') ?? 1;
    const newKey = await withKeys(call, (keys) => keys.create(organizationId));
    if (!newKey)
      throw new CommandError(`There is no organization ${organizationId}. List them: npm run cli -- org list`);
    printKey(call, newKey);
  },
};

export const listKeys: Command = {
  usage: '',
  about: 'Lists API keys by their first characters; only their hashes are stored.',
  options: { org: { value: 'ID', about: 'Only keys of this organization.' }, ...JSON_OPTION },
  async run(call) {
    const { has, terminal } = call;
    const rows = await withKeys(call, (keys) => keys.list(call.number('org') ?? null));
    if (has('json')) return terminal.out(JSON.stringify(rows));
    const cells = rows.map(({ id, organizationId, prefix, createdAt, revokedAt }) => [
      ...[`${id}`, `${organizationId}`, `${prefix}…`, createdAt.toISOString()],
      revokedAt?.toISOString() ?? '',
    ]);
    for (const line of table([['ID', 'ORG', 'KEY', 'MADE', 'REVOKED'], ...cells])) terminal.out(line);
  },
};

export const rotateKey: Command = {
  usage: 'ID',
  about: `Replaces an API key by a new one; the old one becomes invalid at once. ${TOKENS}\nIf DATA_DIR/api-key contains the old key, it is updated. Update API_KEY in the environment yourself.`,
  options: JSON_OPTION,
  async run(call) {
    const { args, terminal } = call;
    const id = idOf(args[0], 'ID');
    const configuredKey = apiSettings(terminal.env).apiKey;
    const { made, wasOwn } = await withKeys(call, async (keys) => ({
      wasOwn: configuredKey !== null && (await keys.idOf(configuredKey)) === id,
      made: await keys.rotate(id),
    }));
    if (!made)
      throw new CommandError(`There is no key ${id}, or it is already revoked. List the keys: npm run cli -- key list`);
    printKey(call, made);
    if (!wasOwn) return;
    const isSaved = storeApiKey(made.apiKey, terminal.env);
    terminal.err(
      isSaved
        ? 'DATA_DIR/api-key contains the new key.\n'
        : 'The old key is in API_KEY. Set API_KEY to the new one, then restart API and workers.\n',
    );
  },
};

export const revokeKey: Command = {
  usage: 'ID',
  about: `Revokes an API key: further requests with it fail with 401. ${TOKENS}`,
  options: { last: { about: "Revokes the key even if it is the organization's last one." } },
  async run(call) {
    const { args, has, terminal } = call;
    const id = idOf(args[0], 'ID');
    const outcome = await withKeys(call, (keys) => keys.revoke(id, has('last')));
    if (outcome === 'last')
      throw new CommandError(
        `Key ${id} is the last one of its organization. Without it the API rejects every call. Create another one first (key create), use key rotate, or add --last.`,
      );
    if (outcome === 'unknown')
      throw new CommandError(`There is no key ${id}, or it is already revoked. List the keys: npm run cli -- key list`);
    terminal.out(`key ${id} is revoked`);
  },
};
