import { table } from '../bars.js';
import { type Command, JSON_OPTION, UsageError } from '../command.js';
import { withStore } from '../store.js';

export const createOrganization: Command = {
  usage: 'NAME',
  about: 'Creates an organization. Its users and content are isolated from all others. Its API key is shown only once.',
  options: JSON_OPTION,
  async run({ args: [name = ''], has, terminal }) {
    if (name.trim() === '') throw new UsageError('NAME is empty');
    const { organizationId, apiKey } = await withStore(terminal, (store) => store.organizations.create(name));
    if (has('json')) return terminal.out(JSON.stringify({ id: organizationId, api_key: apiKey }));
    terminal.out(`organization ${organizationId}`);
    terminal.out(`API key, shown only now: ${apiKey}`);
  },
};

export const listOrganizations: Command = {
  usage: '',
  about: 'Lists organizations with the numbers of their users and of their valid API keys.',
  options: JSON_OPTION,
  async run({ has, terminal }) {
    const rows = await withStore(terminal, (store) => store.organizations.overview());
    if (has('json')) return terminal.out(JSON.stringify(rows));
    const cells = rows.map(({ id, name, users, keys, createdAt }) => [
      ...[`${id}`, name, `${users}`, `${keys}`],
      createdAt.toISOString().slice(0, 10),
    ]);
    for (const line of table([['ID', 'NAME', 'USERS', 'KEYS', 'SINCE'], ...cells])) terminal.out(line);
  },
};
