import { changeFeed, shapeOf, nullable, number, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import type { Change } from '../sourceItem.js';
import { checkSyncCount, startSyncCount, nextSyncCount, SYNC_COUNT } from '../fullResync.js';
import { LOOSE_FILES } from './adapter.js';
import { filesOf, looseFiles } from './listing.js';
import { isId } from './soql.js';
import { asObject, asText } from '../json.js';

/**
 * Overlap of successive queries: a record's timestamp may precede its visibility, after a long transaction or by
 * clock skew.
 */
const OVERLAP_MS = 15 * 60_000;
/** Maximum number of files in a request that checks whether files still exist. */
const IDS_PER_REQUEST = 200;

/** Position in the change feed. Times are in milliseconds since 1970. */
const CHANGE_TOKEN = shapeOf({
  ...SYNC_COUNT,
  /** The time up to which changes were requested. */
  since: number,
  /** The current sync: when it began, and the id of the last file that it read. Null between syncs. */
  pass: nullable(shapeOf({ begun: number, after: string })),
});
type ChangeToken = Checked<typeof CHANGE_TOKEN>;

const stale = (): Fault =>
  new Fault('stale_cursor', 'Salesforce no longer has the changes since the last sync. Everything is listed again.');

const timestampOf = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

interface Deleted {
  readonly ids: readonly string[];
  /** The time up to which they are complete, in milliseconds since 1970. */
  readonly covered: number;
}

/**
 * Returns deleted files. Salesforce rounds times to minutes, so the next sync returns the deletions of the last minute.
 * @throws Fault stale_cursor if Salesforce does not report deletions, or no longer has all deletions since `since`
 */
async function deletedSince(client: GrantClient, since: number, until: number): Promise<Deleted> {
  const query = { start: timestampOf(since), end: timestampOf(until) };
  let answer: Readonly<Record<string, unknown>>;
  try {
    answer = await client.get(['sobjects', 'ContentDocument', 'deleted'], query);
  } catch (error) {
    const isUnavailable = error instanceof Fault && ['access_denied', 'not_found', 'bad_response'].includes(error.kind);
    throw isUnavailable ? stale() : error;
  }
  const { deletedRecords, earliestDateAvailable, latestDateCovered } = answer;
  const [earliest, covered] = [earliestDateAvailable, latestDateCovered].map((at) => Date.parse(asText(at) ?? ''));
  if (!Array.isArray(deletedRecords) || covered === undefined || Number.isNaN(covered)) throw stale();
  if (earliest !== undefined && earliest > since) throw stale();
  const ids = deletedRecords.flatMap((deletedRecord) => asText(asObject(deletedRecord)['id']) ?? []).filter(isId);
  return { ids: [...new Set(ids)], covered };
}

/** Returns the files that no longer exist: a deleted file may have been restored from the recycle bin. */
async function absent(client: GrantClient, ids: readonly string[]): Promise<readonly Change[]> {
  const presentIds = new Set<string | null>();
  for (let from = 0; from < ids.length; from += IDS_PER_REQUEST)
    for (const row of await filesOf(client, ids.slice(from, from + IDS_PER_REQUEST))) presentIds.add(asText(row['Id']));
  return ids.filter((id) => !presentIds.has(id)).map((id) => ({ gone: `file:${id}` }));
}

/**
 * Reports changes of files outside of libraries, which are the majority in most organizations. Libraries and articles
 * are listed completely: a move into a library changes no timestamp, and no timestamp shows which articles are
 * published.
 * https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_getdeleted.htm
 */
export const looseFileChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const now = Date.now();
    const { covered } = await deletedSince(client, now - OVERLAP_MS, now);
    return { ...startSyncCount(), since: Math.min(now - OVERLAP_MS, covered), pass: null };
  },

  async since(client, cursor) {
    if (cursor.pass === null) checkSyncCount(cursor, 'Salesforce');
    const coveredRoots = [LOOSE_FILES];
    const pass = cursor.pass ?? { begun: Date.now(), after: '' };
    const changed = `SystemModstamp > ${timestampOf(cursor.since)}`;
    const { items, next } = await looseFiles(client, [changed], pass.after);
    const changes: Change[] = items.map((item) => ({ item }));
    if (next !== null) {
      const on: ChangeToken = { ...cursor, pass: { ...pass, after: next } };
      return { changes, next: on, more: true, coveredRoots };
    }
    const { ids, covered } = await deletedSince(client, cursor.since, Date.now());
    const since = Math.min(pass.begun - OVERLAP_MS, covered);
    const end: ChangeToken = { ...nextSyncCount(cursor), since: Math.max(since, cursor.since), pass: null };
    return {
      changes: [...(await absent(client, ids)), ...changes],
      next: end,
      more: false,
      coveredRoots,
    };
  },
});
