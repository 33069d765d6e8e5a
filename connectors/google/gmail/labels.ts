import type { SourceClient, SourceItem } from '../../connector.js';
import { asList, asObject } from '../../json.js';
import { type GmailJson, itemOfLabel } from './adapter.js';

/** All labels: Gmail's own, and those of its user. */
export async function labelsAt(client: SourceClient): Promise<readonly GmailJson[]> {
  const answer = await client.get(['labels'], { fields: 'labels(id,name,type)' });
  return asList(answer['labels']).map(asObject);
}

/** Those that messages lie in, as items. */
export const placesAt = async (client: SourceClient): Promise<readonly SourceItem[]> =>
  (await labelsAt(client)).map(itemOfLabel).filter((item) => item !== null);
