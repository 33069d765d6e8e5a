import type { StoredGrant } from '../../contract/oauth.js';
import { isConnectedSource, sourcesOfConsent } from '../../contract/sources.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import type { ApiDeps } from '../deps.js';

type Deps = Pick<ApiDeps, 'store' | 'connectors' | 'log'>;

/** What a person granted, of a source that can be asked to end it; null for others, and where it can not be read. */
export async function endableGrant(
  source: DataSourceDoc,
  { store, connectors, log }: Deps,
): Promise<StoredGrant | null> {
  const { _id: dataSourceId, organizationId, type } = source;
  if (!isConnectedSource(type) || connectors.consent(type)?.spec.revokes === undefined) return null;
  try {
    const keeper = store.accountCredentials(source);
    return keeper === null || typeof keeper === 'string' ? null : ((await keeper.read())?.grant ?? null);
  } catch (error) {
    log.warn(
      { organizationId, dataSourceId, err: error },
      'a grant can not be read, so its source is not asked to end it',
    );
    return null;
  }
}

/**
 * Asks a source to end what was granted, once it is forgotten here. Its account may end all that it granted to our client:
 * while that account is connected elsewhere, nothing is asked. Never throws: a source that does not answer keeps a grant
 * that nobody has.
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
    log.info(context, 'the source has ended the grant');
  } catch (error) {
    log.warn({ ...context, err: error }, 'the source has not ended the grant, which is forgotten here');
  }
}
