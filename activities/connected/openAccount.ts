import type { Account } from '../../connectors/account.js';
import { Fault } from '../../contract/failures.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ActivityDeps } from '../deps.js';
import { currentWorkflowKey } from '../logFields.js';

type Deps = Pick<ActivityDeps, 'store' | 'connectors' | 'names' | 'log'>;

/** A connected account, open for a step. */
export interface OpenAccount {
  readonly source: DataSourceDoc;
  readonly account: Account;
}

/**
 * Calls `use` with a connected account and its current credentials. If the source rejects them, marks the data source
 * as revoked, writes an event, and aborts the files that are queued for a sync.
 * @throws Fault access_revoked without valid access, and the errors of `use`
 */
export async function withAccount<T>(
  tenant: Tenant,
  dataSourceId: number,
  { store, connectors, names, log }: Deps,
  use: (open: OpenAccount) => Promise<T>,
): Promise<T> {
  const source = await store.dataSources.find(tenant, dataSourceId);
  const credentials = source && store.accountCredentials(source);
  if (!source || credentials === null || !isConnectedSource(source.type))
    throw new Fault('access_revoked', 'There is no access to the data source. Connect it again, then resync.');
  const account = connectors.account(source.type, String(dataSourceId), credentials);
  try {
    return await use({ source, account });
  } catch (error) {
    if (error instanceof Fault && error.kind === 'access_revoked' && source.sealedCredentials !== null) {
      // Compare the credentials in use: a refresh may have replaced the ones that were read first.
      const refused = account.grantVersion() ?? source.sealedCredentials;
      const revokedSource = await store.transaction((session) =>
        store.dataSources.revoke(tenant, dataSourceId, session, { refused, workflowId: currentWorkflowKey(names) }),
      );
      if (revokedSource?.revokedAccess === true) {
        await store.files.abortQueuedOf(revokedSource);
        const { organizationId } = tenant;
        log.warn(
          { organizationId, dataSourceId },
          `${CONNECTED_SOURCES[source.type].name} no longer accepts the credentials`,
        );
      }
    }
    throw error;
  }
}
