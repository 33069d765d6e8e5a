import { apiSettings, keepApiKey } from '../../config/config.js';
import type { ApiKeys } from '../../store/organizations/keys.js';
import { table } from '../bars.js';
import { type Call, type Command, CommandError, idOf, JSON_OPTION } from '../command.js';
import { withStore } from '../store.js';

const ORG_OPTION = { org: { value: 'ID', about: 'The organization. Unset: 1, that of API_KEY.' } } as const;
const TOKENS = 'Access tokens that were issued with it stay good for up to ten hours.';

const withKeys = <T>({ terminal }: Call, work: (keys: ApiKeys) => Promise<T>): Promise<T> =>
  withStore(terminal, (store) => work(store.apiKeys));

function tell(
  { has, terminal }: Call,
  { id, organizationId, apiKey }: Awaited<ReturnType<ApiKeys['create']>> & object,
) {
  if (has('json')) return terminal.out(JSON.stringify({ id, organization_id: organizationId, api_key: apiKey }));
  terminal.out(`key ${id} of organization ${organizationId}`);
  terminal.out(`API key, shown only now: ${apiKey}`);
}

export const createKey: Command = {
  usage: '',
  about: 'Makes another API key of an organization; those it has stay good. The key is shown only now.',
  options: { ...ORG_OPTION, ...JSON_OPTION },
  async run(call) {
    const organizationId = call.number('org') ?? 1;
    const made = await withKeys(call, (keys) => keys.create(organizationId));
    if (!made) throw new CommandError(`There is no organization ${organizationId}. See npm run cli -- org list`);
    tell(call, made);
  },
};

export const listKeys: Command = {
  usage: '',
  about: 'Lists API keys by their first characters; keys themselves are kept as hashes only.',
  options: { org: { value: 'ID', about: 'Only those of this organization.' }, ...JSON_OPTION },
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
  about: `Makes a new API key and ends the given one at the same moment. ${TOKENS}\nWhere DATA_DIR/api-key holds the old one, it gets the new one; API_KEY in the environment is yours to change.`,
  options: JSON_OPTION,
  async run(call) {
    const { args, terminal } = call;
    const id = idOf(args[0], 'ID');
    const own = apiSettings(terminal.env).apiKey;
    const { made, wasOwn } = await withKeys(call, async (keys) => ({
      wasOwn: own !== null && (await keys.idOf(own)) === id,
      made: await keys.rotate(id),
    }));
    if (!made) throw new CommandError(`There is no key ${id}, or it is revoked already. See npm run cli -- key list`);
    tell(call, made);
    if (!wasOwn) return;
    const isKept = keepApiKey(made.apiKey, terminal.env);
    terminal.err(
      isKept
        ? 'DATA_DIR/api-key holds it now.\n'
        : 'It was API_KEY: set that to the new one, then start API and workers again.\n',
    );
  },
};

export const revokeKey: Command = {
  usage: 'ID',
  about: `Ends an API key: from now on it is answered 401. ${TOKENS}`,
  options: { last: { about: "Also where it is its organization's last one." } },
  async run(call) {
    const { args, has, terminal } = call;
    const id = idOf(args[0], 'ID');
    const outcome = await withKeys(call, (keys) => keys.revoke(id, has('last')));
    if (outcome === 'last')
      throw new CommandError(
        `Key ${id} is the last of its organization, which nobody could call any more. Make another first (key create), use key rotate, or say --last.`,
      );
    if (outcome === 'unknown')
      throw new CommandError(`There is no key ${id}, or it is revoked already. See npm run cli -- key list`);
    terminal.out(`key ${id} is revoked`);
  },
};
