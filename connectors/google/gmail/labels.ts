import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { asObject } from '../../json.js';
import { type GmailJson, itemOfLabel } from './adapter.js';
import { requireList } from '../../faults.js';

/** Returns all labels, both Gmail's and the user's. */
export async function labelsAt(client: SourceClient): Promise<readonly GmailJson[]> {
  const answer = await client.get(['labels'], { fields: 'labels(id,name,type)' });
  return requireList('Gmail', answer['labels'], 'labels').map(asObject);
}

/** Returns the labels that work as folders, as items. */
export const placesAt = async (client: SourceClient): Promise<readonly SourceItem[]> =>
  (await labelsAt(client)).map(itemOfLabel).filter((item) => item !== null);
