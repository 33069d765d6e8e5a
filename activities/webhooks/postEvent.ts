import { eventBody, eventId, type NumberedEvent } from '../../contract/events.js';
import { Fault } from '../../contract/failures.js';
import type { AttemptDoc } from '../../store/models/webhooks.js';
import type { ActivityDeps } from '../deps.js';
import { signDelivery } from './signDelivery.js';

/** Maximum number of bytes read from a response. Only its status is used. */
const ANSWER_BYTES = 100_000;

export interface Receiver {
  readonly url: string;
  readonly organizationId: number;
  readonly signingKey: string;
}

export interface PostResult {
  readonly attempt: AttemptDoc;
  /** Whether the receiver answered 410: no further events are sent to it. */
  readonly gone: boolean;
}

/** Returns the reason why a response status means that the event is not delivered; null if it is delivered. */
function deliveryError(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'The receiver answered HTTP 410: it is gone.';
  if (status >= 300 && status < 400) return `The receiver answered HTTP ${status}: redirects are not followed.`;
  return `The receiver answered HTTP ${status}.`;
}

/**
 * Makes one attempt to deliver an event. Any response, and a failed request, is a result.
 * @throws only if the signal is aborted
 */
export async function postEvent(
  receiver: Receiver,
  { position, ...event }: NumberedEvent,
  { webhookEgress, settings, workflowLink }: Pick<ActivityDeps, 'webhookEgress' | 'settings' | 'workflowLink'>,
  signal: AbortSignal,
): Promise<PostResult> {
  const at = new Date();
  const body = eventBody(event, workflowLink);
  const seconds = Math.floor(at.getTime() / 1000);
  const id = eventId(receiver.organizationId, position);
  const resultOf = (statusCode: number | null, error: string | null): PostResult => ({
    attempt: { at, ms: Date.now() - at.getTime(), statusCode, error },
    gone: statusCode === 410,
  });
  try {
    const answer = await webhookEgress.request({
      url: receiver.url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signDelivery({ signingKey: receiver.signingKey, body, eventId: id, seconds }),
      },
      body,
      maxBytes: ANSWER_BYTES,
      totalTimeoutMs: settings.webhooks.timeoutMs,
      redirects: 'answer',
      signal,
    });
    await answer.discard();
    return resultOf(answer.status, deliveryError(answer.status));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Fault) return resultOf(null, error.message);
    throw error;
  }
}
