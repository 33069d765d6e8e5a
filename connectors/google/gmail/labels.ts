import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { type Answer, asAnswer } from '../../json.js';
import type { GmailLabel, GmailLabelList } from '../vendorTypes.js';
import { itemOfLabel } from './adapter.js';
import { requireList } from '../../faults.js';

/** Returns all labels, both Gmail's and the user's. */
export async function labelsAt(client: SourceClient): Promise<readonly Answer<GmailLabel>[]> {
  const answer = asAnswer<GmailLabelList>(await client.get(['labels'], { fields: 'labels(id,name,type)' }));
  return requireList('Gmail', answer.labels, 'labels').map(asAnswer<GmailLabel>);
}

/** Returns the labels that work as folders, as items. */
export const placesAt = async (client: SourceClient): Promise<readonly SourceItem[]> =>
  (await labelsAt(client)).map(itemOfLabel).filter((item) => item !== null);
