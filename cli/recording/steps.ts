/**
 * The steps of a recording, run on one account: by the recorder with the provider, by a replay with recorded answers.
 */
import type { Account } from '../../connectors/account.js';
import type { ChangePage, ItemPage, SourceItem } from '../../connectors/sourceItem.js';
import { Fault } from '../../contract/failures.js';
import type { RecordingLimits, StepName } from './fixture.js';

/** The items that the operator changes and deletes at the provider. */
export interface Targets {
  readonly changed: SourceItem;
  readonly deleted: SourceItem;
}

export interface StepHooks {
  /** Called before each step. A repeated step replaces its earlier attempt. */
  enter(step: StepName): void;
  /** Called after each step with its result. */
  leave(step: StepName, outcome: unknown): void;
  /**
   * Called before the changes are read; null: the steps `point` and `changes` are skipped.
   * @param attempt 1 at first, higher if the provider did not report the changes yet
   */
  readonly change: ((targets: Targets, attempt: number) => Promise<void>) | null;
}

/** Thrown if a recording is not possible. The message states what to do. */
export class RecordingError extends Error {}

/** Maximum number of times that the changes are read, each after a confirmation by the operator. */
const MAX_ATTEMPTS = 10;
/** Maximum number of pages that are read from a feed, and of calls of its `prepare`. */
const MAX_FEED_PAGES = 200;

type Listed = Omit<ItemPage, 'next'> & { readonly hasNext: boolean };
type Listing = { readonly pages: readonly Listed[] } | { readonly fault: string };

/**
 * Returns the result of the work, or the kind of its Fault: refusals of single containers and items are recorded too.
 */
async function orFault<T extends object>(work: Promise<T>): Promise<T | { readonly fault: string }> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault) return { fault: error.kind };
    throw error;
  }
}

async function pagesOf(maxPages: number, readPage: (cursor: string | null) => Promise<ItemPage>): Promise<Listing> {
  const pages: Listed[] = [];
  for (let cursor: string | null | undefined; cursor !== null && pages.length < maxPages;) {
    const { next, ...page } = await readPage(cursor ?? null);
    pages.push({ ...page, hasNext: next !== null });
    cursor = next;
  }
  return { pages };
}

const itemsIn = (listing: Listing): readonly SourceItem[] =>
  'pages' in listing ? listing.pages.flatMap(({ items }) => items) : [];
const unique = (items: readonly SourceItem[]): SourceItem[] => [
  ...new Map(items.map((item) => [item.externalId, item])).values(),
];

interface ListOutcome {
  readonly roots: Listing;
  readonly containers: readonly { readonly of: string; readonly listing: Listing }[];
}

async function list(account: Account, limits: RecordingLimits, signal: AbortSignal): Promise<ListOutcome> {
  const roots = await pagesOf(limits.pages, (cursor) => account.listRoots(cursor, signal));
  const open = itemsIn(roots).filter(({ isExpandable }) => isExpandable);
  const containers: { of: string; listing: Listing }[] = [];
  for (const { externalId } of open.slice(0, limits.containers)) {
    const listing = pagesOf(limits.pages, (cursor) => account.listDescendants(externalId, cursor, signal));
    containers.push({ of: externalId, listing: await orFault(listing) });
  }
  return { roots, containers };
}

const allItems = ({ roots, containers }: ListOutcome): SourceItem[] =>
  unique([roots, ...containers.map(({ listing }) => listing)].flatMap(itemsIn));

/** Returns items with content: one of each kind first. */
function itemsToRead(listed: ListOutcome): SourceItem[] {
  const readable = allItems(listed).filter(({ hasContent, isSelectable }) => hasContent && isSelectable);
  const kinds = new Set<string>();
  const first = readable.filter(({ itemType, fileFormat }) => {
    const kind = `${itemType} ${fileFormat}`;
    return kinds.has(kind) ? false : kinds.add(kind);
  });
  return [...first, ...readable.filter((item) => !first.includes(item))];
}

async function read(account: Account, items: readonly SourceItem[], signal: AbortSignal): Promise<object[]> {
  const outcomes: object[] = [];
  for (const { externalId, version } of items) {
    const opening = account.open(externalId, signal, { version }).then(({ bytes, plain, ...content }) => ({
      ...content,
      ...(plain === undefined ? {} : { plain: { contentType: plain.contentType, mimeType: plain.mimeType } }),
      isEmpty: bytes.length === 0,
    }));
    outcomes.push({ of: externalId, content: await orFault(opening) });
  }
  return outcomes;
}

async function currentPoint({ changes }: Account, signal: AbortSignal): Promise<string | null> {
  if (!changes) return null;
  let point = await changes.now(signal);
  if (!changes.prepare) return point;
  for (let steps = 0; steps < MAX_FEED_PAGES; steps += 1) {
    const { next, more } = await changes.prepare(point, signal);
    point = next;
    if (!more) return point;
  }
  throw new RecordingError(
    'The account is too large: its feed of changes takes too long to begin. Record a smaller one.',
  );
}

type Feed = NonNullable<Account['changes']>;
type Reported = Omit<ChangePage, 'next'>;
interface ChangesOutcome {
  /** Pages of the feed; null for a source without one. */
  readonly feed: readonly Reported[] | { readonly fault: string } | null;
  /** The account, listed again. */
  readonly again: ListOutcome;
}

async function readFeed(changes: Feed, point: string, signal: AbortSignal): Promise<Reported[]> {
  const pages: Reported[] = [];
  for (let cursor = point; pages.length < MAX_FEED_PAGES;) {
    const { next, ...page } = await changes.since(cursor, signal);
    pages.push(page);
    if (!page.more) break;
    cursor = next;
  }
  return pages;
}

/** Whether the changes are visible, in the feed or in the listing. */
function isVisible({ feed, again }: ChangesOutcome, { changed, deleted }: Targets): boolean {
  const changes = Array.isArray(feed) ? (feed as readonly Reported[]).flatMap((page) => page.changes) : [];
  const paths = Array.isArray(feed) ? (feed as readonly Reported[]).flatMap((page) => page.deletedPaths ?? []) : [];
  const listed = allItems(again);
  const now = listed.find(({ externalId }) => externalId === changed.externalId);
  const isChanged =
    changes.some((change) => 'item' in change && change.item.externalId === changed.externalId) ||
    (now !== undefined && (now.version === null || now.version !== changed.version));
  const isGone =
    changes.some((change) => 'gone' in change && change.gone === deleted.externalId) ||
    (deleted.path !== undefined && paths.includes(deleted.path)) ||
    !listed.some(({ externalId }) => externalId === deleted.externalId);
  return isChanged && isGone;
}

/**
 * Runs all steps. Faults of single containers and items, and of the feed, are part of the outcome of a step.
 * @throws RecordingError, or the Fault if the account cannot be identified, its root items cannot be listed, or the
 *   current position of its feed cannot be read
 */
export async function runSteps(
  account: Account,
  limits: RecordingLimits,
  signal: AbortSignal,
  { enter, leave, change }: StepHooks,
): Promise<void> {
  const step = async <T>(name: StepName, work: () => Promise<T>): Promise<T> => {
    enter(name);
    const outcome = await work();
    leave(name, outcome);
    return outcome;
  };
  await step('connect', () => account.identify(signal));
  const listed = await step('list', () => list(account, limits, signal));
  const items = itemsToRead(listed);
  await step('read', () => read(account, items.slice(0, limits.items), signal));
  if (!change) return;
  const [changed, deleted] = items;
  if (!changed || !deleted)
    throw new RecordingError(
      'The listed containers have fewer than two items with content: one to change, and one to delete. Create them, raise --containers, or pass --no-changes.',
    );
  enter('point');
  const point = await currentPoint(account, signal);
  leave('point', { hasFeed: point !== null });
  const targets = { changed, deleted };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    await change(targets, attempt);
    const outcome = await step('changes', async (): Promise<ChangesOutcome> => {
      const { changes } = account;
      const feed = point === null || !changes ? null : await orFault(readFeed(changes, point, signal));
      return { feed, again: await list(account, limits, signal) };
    });
    if (isVisible(outcome, targets)) return;
  }
  throw new RecordingError(
    'The provider did not report the change and the deletion. Record again, and wait longer before Enter, or pass --no-changes.',
  );
}
