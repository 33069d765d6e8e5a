/**
 * Announces each request that a connector sends, with its credentials, to subscribers in the same process: tests only.
 */
import { channel } from 'node:diagnostics_channel';

export interface SentRequest {
  /** Name of the source, as in its row of CONNECTED_SOURCES. */
  readonly source: string;
  /** Base URLs of the source for this account, by their keys in `urls` of its row of CONNECTED_SOURCES. */
  readonly urls: Readonly<Record<string, string>>;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Name of the channel; its messages are of type SentRequest. */
export const SENT_REQUESTS = 'allotrope.sourceRequests';
export const sentRequests = channel(SENT_REQUESTS);
