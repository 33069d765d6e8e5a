/**
 * A child process that identifies connected accounts with concurrent calls. Several such processes share only the
 * stores.
 */
import { loadConfig, storeSettings } from '../../config/config.js';
import { createConnectors } from '../../connectors/registry.js';
import { Fault } from '../../contract/failures.js';
import { isConnectedSource } from '../../contract/sources/connectedSources.js';
import { createEgress } from '../../egress/createEgress.js';
import { connectStore } from '../../store/connect.js';
import type { Tenant } from '../../store/users/accept.js';

export interface IdentifyCalls {
  readonly tenant: Tenant;
  readonly dataSourceId: number;
  readonly calls: number;
  /** Whether the calls respect the host rate limits that all processes share. Default: false. */
  readonly sharesRateLimits?: boolean;
}

/** The result of each call: the account, or the kind of its fault. */
export type IdentifyResults = readonly string[];

const config = loadConfig(process.env);
const store = await connectStore(storeSettings(config));
const egress = createEgress(config.egress);
const withOwnLimits = createConnectors({ egress, ...config.connectors });
const withSharedLimits = createConnectors({ egress, ...config.connectors, hostRateLimits: store.hostRateLimits });

async function call({ tenant, dataSourceId, sharesRateLimits = false }: IdentifyCalls): Promise<string> {
  const source = await store.dataSources.find(tenant, dataSourceId);
  const credentials = source && store.accountCredentials(source);
  if (!source || credentials === null || !isConnectedSource(source.type)) return 'no access';
  try {
    const account = (sharesRateLimits ? withSharedLimits : withOwnLimits).account(
      source.type,
      String(dataSourceId),
      credentials,
    );
    return (await account.identify(AbortSignal.timeout(120_000))).account;
  } catch (error) {
    return error instanceof Fault ? error.kind : String(error);
  }
}

process.on('message', (request: IdentifyCalls) => {
  void Promise.all(Array.from({ length: request.calls }, () => call(request))).then((results) =>
    process.send?.(results),
  );
});
process.send?.('ready');
