import { loadConfig, storeSettings } from '../config/config.js';
import { connectStore, type Store } from '../store/connect.js';
import { CommandError, type Terminal } from './command.js';

/** Connects to the stores of the deployment and runs the given work. @throws ConfigError that names missing settings */
export async function withStore<T>({ env }: Pick<Terminal, 'env'>, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await connectStore(storeSettings(loadConfig(env)));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** @throws CommandError if there is no such organization: a command that processes none would look successful */
export async function requireOrganization(store: Store, organizationId: number | null): Promise<void> {
  if (organizationId === null || (await store.organizations.overview()).some(({ id }) => id === organizationId)) return;
  throw new CommandError(`There is no organization ${organizationId}. List them: npm run cli -- org list`);
}
