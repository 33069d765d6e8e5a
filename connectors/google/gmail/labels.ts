import type { SourceClient, SourceItem } from '../../connector.js';
import { asList, asObject } from '../../json.js';
import { type GmailJson, itemOfLabel } from './adapter.js';

/** All labels: Gmail's own, and those of its user. */
export async function labelsAt(client: SourceClient, signal: AbortSignal): Promise<readonly GmailJson[]> {
  const answer = await client.get(['labels'], { fields: 'labels(id,name,type)' }, signal);
  return asList(answer['labels']).map(asObject);
}

/** Those that messages lie in, as items. */
export const placesAt = async (client: SourceClient, signal: AbortSignal): Promise<readonly SourceItem[]> =>
  (await labelsAt(client, signal)).map(itemOfLabel).filter((item) => item !== null);
