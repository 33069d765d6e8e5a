import type { ConnectionOptions, ConnectionActions } from '../../../contract/accounts/oauth.js';
import type { OAuthSource } from '../../../contract/accounts/whiteLabel.js';
import type { ApiDeps } from '../../http/deps.js';
import type { UserCaller } from '../../http/operation.js';
import { pageUrl } from './pages.js';

/** The connection and the options of a page. */
interface ContinuedConnection {
  readonly service: OAuthSource;
  readonly dataSourceId: number;
  readonly options: ConnectionOptions;
  readonly actions: ConnectionActions;
}

/** Returns the URL of the page on which a user continues with a connected account, without a new consent. */
export async function newConnectionPage(
  { organizationId, userId, customerId }: UserCaller,
  { dataSourceId, actions, ...connection }: ContinuedConnection,
  { store, unit, settings, publicUrl }: Pick<ApiDeps, 'store' | 'unit' | 'settings' | 'publicUrl'>,
): Promise<string> {
  const _id = await store.runs.nextId();
  const name = await unit.transaction((session) =>
    store.attempts.beginConnected(
      {
        ...{
          _id,
          organizationId,
          userId,
          customerId,
          clientId: '',
          redirectUri: '',
          facts: {},
          actions,
          ...connection,
        },
        knownSourceId: dataSourceId,
        dataSourceId,
        expiresAt: new Date(Date.now() + settings.connectPageLifeMs),
      },
      session,
    ),
  );
  return pageUrl(name, { publicUrl });
}
