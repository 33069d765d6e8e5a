/** The history of an emulated mailbox: found by comparing what there is with what there was. */

/** What of a message is compared. */
export interface MailState {
  readonly labelIds: readonly string[];
  readonly raw: string;
}

/** What happened to one message, as its record of the history tells it. */
export interface HistoryRecord {
  readonly id: string;
  readonly message: string;
  readonly kind: 'messagesAdded' | 'messagesDeleted' | 'labelsAdded' | 'labelsRemoved';
  readonly labelIds: readonly string[];
}

export interface MailHistory {
  /** Looks at what there is by now. */
  look(): void;
  /** Of the whole mailbox. */
  now(): string;
  /** Of the last change to a message. */
  idOf(message: string): string;
  /** What happened after a point; null for one that is no longer known. */
  since(start: string): HistoryRecord[] | null;
  /** Forgets what happened until now. */
  forget(): void;
}

/** @param all what there is, by id */
export function createMailHistory(all: () => ReadonlyMap<string, MailState>): MailHistory {
  // Beyond what numbers hold exactly, as ids of 64 bits are.
  let end = 9_007_199_254_740_993n;
  let oldest = end;
  let known = new Map<string, MailState>();
  const last = new Map<string, string>();
  const records: HistoryRecord[] = [];
  const enter = (message: string, kind: HistoryRecord['kind'], labelIds: readonly string[]): void => {
    end += 7n;
    last.set(message, String(end));
    records.push({ id: String(end), message, kind, labelIds });
  };
  return {
    look() {
      const now = new Map(all());
      for (const [id, { labelIds, raw }] of now) {
        const before = known.get(id);
        // Gmail never changes a text; a test that does has it put there anew.
        if (before?.raw !== raw) enter(id, 'messagesAdded', labelIds);
        const [added, removed] = [
          labelIds.filter((label) => before && !before.labelIds.includes(label)),
          before?.labelIds.filter((label) => !labelIds.includes(label)) ?? [],
        ];
        if (added.length > 0) enter(id, 'labelsAdded', added);
        if (removed.length > 0) enter(id, 'labelsRemoved', removed);
      }
      for (const [id, { labelIds }] of known) if (!now.has(id)) enter(id, 'messagesDeleted', labelIds);
      known = now;
    },
    now: () => String(end),
    idOf: (message) => last.get(message) ?? String(end),
    since: (start) => (BigInt(start) < oldest ? null : records.filter(({ id }) => BigInt(id) > BigInt(start))),
    forget() {
      end += 1n;
      oldest = end;
    },
  };
}
