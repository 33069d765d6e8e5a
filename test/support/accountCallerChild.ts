/** Asks connected accounts whose they are, as often at once as it is told. A process of its own, so that several share the stores and nothing else. */
import { loadConfig, storeSettings } from '../../config/config.js';
import { createConnectors } from '../../connectors/registry.js';
import { Fault } from '../../contract/failures.js';
import { isConnectedSource } from '../../contract/sources.js';
import { createEgress } from '../../egress/createEgress.js';
import { connectStore } from '../../store/connect.js';
import type { Tenant } from '../../store/users/accept.js';

export interface CallsToMake {
  readonly tenant: Tenant;
  readonly dataSourceId: number;
  readonly calls: number;
  /** Whether they keep to limits together with other processes; unset: not. */
  readonly inTurn?: boolean;
}

/** What came of each: the account, or the kind of its fault. */
export type CallsMade = readonly string[];

const config = loadConfig(process.env);
const store = await connectStore(storeSettings(config));
const egress = createEgress(config.egress);
const alone = createConnectors({ egress, ...config.connectors });
const together = createConnectors({ egress, ...config.connectors, turns: store.hostRateLimits });

async function call({ tenant, dataSourceId, inTurn = false }: CallsToMake): Promise<string> {
  const source = await store.dataSources.find(tenant, dataSourceId);
  const credentials = source && store.accountCredentials(source);
  if (!source || credentials === null || !isConnectedSource(source.type)) return 'no access';
  try {
    const account = (inTurn ? together : alone).account(source.type, String(dataSourceId), credentials);
    return (await account.identify(AbortSignal.timeout(120_000))).account;
  } catch (error) {
    return error instanceof Fault ? error.kind : String(error);
  }
}

process.on('message', (given: CallsToMake) => {
  void Promise.all(Array.from({ length: given.calls }, () => call(given))).then((made) => process.send?.(made));
});
process.send?.('ready');
