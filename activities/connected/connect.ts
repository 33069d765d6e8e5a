import { Fault } from '../../contract/failures.js';
import { OPEN_ATTEMPT_STATES } from '../../contract/accounts/oauth.js';
import type { ConnectionState, EndConnectionInput, RunInput } from '../../contract/runs/orchestration.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../contract/sources/connectedSources.js';
import type { AttemptDoc } from '../../store/models/connections.js';
import type { RunEnd } from '../../store/runs/outbox.js';
import type { ActivityDeps } from '../deps.js';

const MINUTE_MS = 60_000;

/** Creates the steps that connect an account after the user's consent. Inputs and results are in the attempt's row. */
export function createConnectActivities({ store, connectors, log }: ActivityDeps) {
  const requireAttempt = async (runId: number): Promise<AttemptDoc> => {
    const attempt = await store.attempts.find(runId);
    // Deleting a user also deletes its attempts.
    if (!attempt) throw new Fault('gone', 'This connection no longer exists. Connect again.');
    return attempt;
  };
  const sourceOf = ({ service }: AttemptDoc) => {
    if (!isConnectedSource(service)) throw new Fault('bad_response', 'This service cannot be connected.');
    const consent = connectors.consent(service);
    if (!consent) throw new Fault('bad_response', 'This service cannot be connected by consent.');
    return { type: service, consent, name: CONNECTED_SOURCES[service].name };
  };
  const signalOf = (): AbortSignal => AbortSignal.timeout(MINUTE_MS);

  return {
    /** Returns whether the user has returned from the provider's consent page. Ends expired attempts. */
    async getConnectionState({ runId }: RunInput): Promise<ConnectionState> {
      await store.runs.markStarted(runId);
      const attempt = await requireAttempt(runId);
      const dueInMs = Math.max(0, attempt.expiresAt.getTime() - Date.now());
      if (attempt.state === 'waiting' && dueInMs === 0) {
        await store.attempts.changeState(runId, ['waiting'], 'expired');
        // If the user returned after the attempt was read, the attempt did not expire, so its state is read again.
        return { state: (await requireAttempt(runId)).state, dueInMs };
      }
      if (attempt.state !== 'waiting') await store.attempts.acknowledge(runId);
      return { state: attempt.state, dueInMs };
    },

    /**
     * Exchanges the authorization code for tokens. Sets the state `exchanging` before it sends the code. An attempt
     * that begins in this state repeats one that was interrupted: it is unknown whether the provider received the code,
     * so the code is sent again, and a refusal is reported as a lost answer. A provider that treats the second use as
     * theft revokes only tokens that this service never received. Safe to repeat.
     */
    async exchangeCode({ runId }: RunInput): Promise<void> {
      const attempt = await requireAttempt(runId);
      if (attempt.state !== 'returned' && attempt.state !== 'exchanging') return;
      const isRepeated = attempt.state === 'exchanging';
      const { consent, name } = sourceOf(attempt);
      const code = store.attempts.codeOf(attempt);
      if (code === null || !(isRepeated || (await store.attempts.changeState(runId, ['returned'], 'exchanging'))))
        throw new Error('The connection was continued or ended in the meantime');
      const { verifier, clientSecret, requestToken = null } = store.attempts.secretsOf(attempt);
      const { service, organizationId, clientId, redirectUri, facts } = attempt;
      const organizationClient = clientSecret === null ? await store.whiteLabels.client(organizationId, service) : null;
      const clients =
        clientSecret === null ? [organizationClient, consent.client] : [{ id: clientId, secret: clientSecret }];
      const client = clients.find((candidate) => candidate?.id === clientId);
      if (!client)
        throw new Fault('not_configured', `The OAuth client for ${name} was changed in the meantime. Connect again.`);
      try {
        const keepsClient = clientSecret !== null;
        const exchange = { client, code, redirectUri, verifier, requestToken, facts, keepsClient };
        const grant = await consent.exchange(exchange);
        await store.attempts.saveGrant(runId, grant);
      } catch (error) {
        if (!(error instanceof Fault) || error.retryable) throw error;
        const isResponseLost = isRepeated && error.kind === 'access_revoked';
        const refused = `${name} did not accept your consent: its code was used before, or has expired.`;
        throw new Fault(
          'bad_response',
          isResponseLost
            ? `The answer of ${name} was lost, so no account was connected. Connect again.`
            : error.kind === 'access_revoked'
              ? refused
              : error.message,
        );
      }
    },

    /** Requests the account's name, then writes the data source and the requested work, once. */
    async recordConnection({ runId }: RunInput): Promise<void> {
      const attempt = await requireAttempt(runId);
      const grant = store.attempts.grantOf(attempt);
      if (attempt.state === 'granted' && grant !== null) {
        const { type } = sourceOf(attempt);
        const { accessToken, facts, clientId } = grant;
        const key = `user ${attempt.userId}`;
        const identity = await connectors
          .account(type, key, JSON.stringify({ accessToken, facts, clientId }))
          .identify(signalOf());
        const { options, actions } = attempt;
        const run = await store.runs.find(runId);
        await store.transaction(async (session) => {
          const { dataSource, runIds } = await store.connections.accept(
            attempt,
            {
              type,
              ...identity,
              credentials: JSON.stringify(grant),
              dataSourceTags: actions.dataSourceTags,
              listItems: actions.listItems,
              syncFiles: actions.syncFiles,
              requestId: options.requestId ?? run?.requestId ?? '',
              options,
              workflowId: workflowIds.connect(runId),
            },
            session,
          );
          const change = { dataSourceId: dataSource._id, runIds };
          // Another execution of this activity wrote the result, or the connection was cancelled: roll back.
          if (!(await store.attempts.changeState(runId, ['granted'], 'connected', change, session)))
            throw new Error('The connection was ended in the meantime');
        });
        log.info({ runId, organizationId: attempt.organizationId, type }, 'account connected');
      }
      const ended = (await requireAttempt(runId)).state;
      await store.runs.finish(runId, ended === 'connected' ? 'finished' : 'aborted', {});
    },

    /** Ends an attempt that failed, expired or was cancelled. */
    async endConnection({ runId, outcome, message }: EndConnectionInput): Promise<void> {
      const attempt = await store.attempts.find(runId);
      const isChanged = await store.attempts.changeState(
        runId,
        OPEN_ATTEMPT_STATES,
        outcome,
        message === undefined ? {} : { message },
      );
      const { lastError } = (await store.runs.find(runId)) ?? {};
      const error = lastError && lastError.message === message ? lastError.kind : 'run_failed';
      const runEnd: RunEnd | undefined = message === undefined ? undefined : { message, error };
      await store.runs.finish(runId, outcome === 'failed' ? 'failed' : 'aborted', {}, runEnd);
      if (isChanged && attempt)
        log.info(
          { runId, organizationId: attempt.organizationId, type: attempt.service, outcome, reason: message },
          'account not connected',
        );
    },
  };
}
