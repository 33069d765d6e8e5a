import type { StoredGrant } from '../../contract/accounts/oauth.js';
import { isConnectedSource, sourcesOfConsent } from '../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { ApiDeps } from '../http/deps.js';

type Deps = Pick<ApiDeps, 'store' | 'connectors' | 'log'>;

/**
 * Returns the stored grant of a data source, to be revoked at the service. Null if the service has no API for it, if no
 * grant is stored, such as after a revocation, or if the grant cannot be read.
 */
export async function revocableGrant(
  source: DataSourceDoc,
  { store, connectors, log }: Deps,
): Promise<StoredGrant | null> {
  const { _id: dataSourceId, organizationId, type } = source;
  if (!isConnectedSource(type) || connectors.consent(type)?.spec.revokes === undefined) return null;
  try {
    const grantStore = store.accountCredentials(source);
    return grantStore === null || typeof grantStore === 'string' ? null : ((await grantStore.read())?.grant ?? null);
  } catch (error) {
    log.warn(
      { organizationId, dataSourceId, err: error },
      'a grant could not be decrypted, so it is not revoked at its source',
    );
    return null;
  }
}

/**
 * Revokes the grant at the source after its deletion here. This may revoke everything that the account granted to our
 * client, so nothing is revoked while the account has another connection. Never throws: if the source does not respond,
 * an unused grant remains there.
 */
export async function endGrant(
  source: DataSourceDoc,
  grant: StoredGrant,
  { store, connectors, log }: Deps,
): Promise<void> {
  const { _id: dataSourceId, organizationId, type } = source;
  if (!isConnectedSource(type)) return;
  const context = { organizationId, dataSourceId, type };
  try {
    if (await store.dataSources.isConnectedElsewhere(source, sourcesOfConsent(type))) return;
    await connectors.consent(type)?.revoke(grant);
    log.info(context, 'the source has revoked the grant');
  } catch (error) {
    log.warn({ ...context, err: error }, 'the source did not revoke the grant, which is deleted here');
  }
}
