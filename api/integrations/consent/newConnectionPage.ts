import type { ConnectionOptions, ConnectionWishes } from '../../../contract/oauth.js';
import type { OAuthSource } from '../../../contract/whiteLabel.js';
import type { ApiDeps } from '../../deps.js';
import type { UserCaller } from '../../http/operation.js';
import { pageUrl } from './pages.js';

/** What a person is to go on with, and how. */
interface GoingOn {
  readonly service: OAuthSource;
  readonly dataSourceId: number;
  readonly options: ConnectionOptions;
  readonly wishes: ConnectionWishes;
}

/** The address of a page of ours at which a person goes on with a connected account, without consent. */
export async function newConnectionPage(
  { organizationId, userId, customerId }: UserCaller,
  { dataSourceId, ...wanted }: GoingOn,
  { store, unit, settings, publicUrl }: Pick<ApiDeps, 'store' | 'unit' | 'settings' | 'publicUrl'>,
): Promise<string> {
  const _id = await store.runs.nextId();
  const name = await unit.transaction((session) =>
    store.attempts.beginConnected(
      {
        ...{ _id, organizationId, userId, customerId, clientId: '', redirectUri: '', facts: {}, ...wanted },
        knownSourceId: dataSourceId,
        dataSourceId,
        expiresAt: new Date(Date.now() + settings.connectPageLifeMs),
      },
      session,
    ),
  );
  return pageUrl(name, { publicUrl });
}
