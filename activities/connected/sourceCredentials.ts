import { Fault } from '../../contract/failures.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ActivityDeps } from '../deps.js';

type Deps = Pick<ActivityDeps, 'store'>;

/** Returns the credentials of a source that is not a connected account; null if none. @throws Fault access_revoked */
export function credentialsOf(source: DataSourceDoc, { store }: Deps): string | null {
  if (source.revokedAccess)
    throw new Fault('access_revoked', 'Access to this source was revoked. Add it again to continue.');
  return store.dataSources.credentialsOf(source);
}

/** Returns the credentials of a file's data source. */
export async function fileCredentials(
  file: Tenant & { readonly dataSourceId: number | null },
  deps: Deps,
): Promise<string | null> {
  const source = file.dataSourceId === null ? null : await deps.store.dataSources.find(file, file.dataSourceId);
  return source && credentialsOf(source, deps);
}
