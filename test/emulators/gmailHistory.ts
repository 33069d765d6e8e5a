/** The history of an emulated mailbox: the differences between its current and its previous state. */

/** The parts of a message that are compared. */
export interface MailState {
  readonly labelIds: readonly string[];
  readonly raw: string;
}

/** A change to one message, as a record of the history. */
export interface HistoryRecord {
  readonly id: string;
  readonly message: string;
  readonly kind: 'messagesAdded' | 'messagesDeleted' | 'labelsAdded' | 'labelsRemoved';
  readonly labelIds: readonly string[];
}

export interface MailHistory {
  /** Compares the current mailbox with its previous state and records the differences. */
  recordChanges(): void;
  /** Returns the current history id of the mailbox. */
  now(): string;
  /** Returns the history id of a message's last change. */
  idOf(message: string): string;
  /** Returns the records after a history id; null for an id older than the retained history. */
  since(start: string): HistoryRecord[] | null;
  /** Discards all records, so that earlier history ids are too old. */
  discardRecords(): void;
}

/** Creates the history. @param readMessages returns the current messages, by id */
export function createMailHistory(readMessages: () => ReadonlyMap<string, MailState>): MailHistory {
  // Larger than Number.MAX_SAFE_INTEGER, like real 64-bit ids.
  let currentId = 9_007_199_254_740_993n;
  let oldest = currentId;
  let previous = new Map<string, MailState>();
  const lastIds = new Map<string, string>();
  const records: HistoryRecord[] = [];
  const addRecord = (message: string, kind: HistoryRecord['kind'], labelIds: readonly string[]): void => {
    currentId += 7n;
    lastIds.set(message, String(currentId));
    records.push({ id: String(currentId), message, kind, labelIds });
  };
  return {
    recordChanges() {
      const now = new Map(readMessages());
      for (const [id, { labelIds, raw }] of now) {
        const before = previous.get(id);
        // The text of a real message never changes. If a test changes a text, the message counts as a new one.
        if (before?.raw !== raw) addRecord(id, 'messagesAdded', labelIds);
        const [added, removed] = [
          labelIds.filter((label) => before && !before.labelIds.includes(label)),
          before?.labelIds.filter((label) => !labelIds.includes(label)) ?? [],
        ];
        if (added.length > 0) addRecord(id, 'labelsAdded', added);
        if (removed.length > 0) addRecord(id, 'labelsRemoved', removed);
      }
      for (const [id, { labelIds }] of previous) if (!now.has(id)) addRecord(id, 'messagesDeleted', labelIds);
      previous = now;
    },
    now: () => String(currentId),
    idOf: (message) => lastIds.get(message) ?? String(currentId),
    since: (start) => (BigInt(start) < oldest ? null : records.filter(({ id }) => BigInt(id) > BigInt(start))),
    discardRecords() {
      currentId += 1n;
      oldest = currentId;
    },
  };
}
