import { reconcile } from '../../cli/reconcile.js';
import { loadConfig, storeSettings } from '../../config/config.js';
import { connectStore } from '../../store/connect.js';

/**
 * Returns the differences between the stores that the reconcile command finds, as texts. Repairs nothing.
 * @param env the settings of the service
 */
export async function findDifferences(env: NodeJS.ProcessEnv): Promise<string[]> {
  const store = await connectStore(storeSettings(loadConfig(env)));
  try {
    const { report } = await reconcile(store, {});
    return [...report.kinds()].flatMap(([kind, { examples }]) => examples.map((example) => `${kind}: ${example}`));
  } finally {
    await store.close();
  }
}
