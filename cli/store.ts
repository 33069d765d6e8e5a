import { loadConfig, storeSettings } from '../config/config.js';
import { connectStore, type Store } from '../store/connect.js';
import type { Terminal } from './command.js';

/** Connects to the stores of the deployment and runs the given work. @throws ConfigError that names missing settings */
export async function withStore<T>({ env }: Pick<Terminal, 'env'>, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await connectStore(storeSettings(loadConfig(env)));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
