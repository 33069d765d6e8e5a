/** A mailbox of Microsoft Graph whose folders and messages a test changes. */
import type { Call } from '../emulator.js';
import { type Changed, refuse, sendFeed, sendOne, sendPage } from './answers.js';
import { readFilter } from './mailFilter.js';

export interface EmulatedAttachment {
  readonly name: string;
  readonly content: string | Buffer;
  readonly contentType?: string;
  readonly isInline?: boolean;
  readonly kind?: 'file' | 'item' | 'reference';
}

export interface EmulatedMessage {
  folder: string;
  subject: string;
  /** The body as plain text. Its HTML form is one paragraph. */
  text: string;
  readonly from?: string;
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  /** ISO 8601. */
  readonly received: string;
  readonly categories?: readonly string[];
  readonly flagged?: boolean;
  readonly read?: boolean;
  readonly attachments?: Readonly<Record<string, EmulatedAttachment>>;
  /** Position of the last change in the order of all changes. */ at?: number;
}

export interface EmulatedFolder {
  readonly name: string;
  readonly parent: string | null;
  /** The well-known name, independent of the language. */
  readonly wellKnown?: string;
  readonly isSearch?: boolean;
  readonly isHidden?: boolean;
}

export class Mailbox {
  readonly folders = new Map<string, EmulatedFolder>();
  readonly messages = new Map<string, EmulatedMessage>();
  readonly categories: { readonly id: string; readonly displayName: string; readonly color: string }[] = [];
  /** Removals from folders, with their times. */
  readonly removed: { readonly folder: string; readonly id: string; readonly at: number }[] = [];
  /** Delta tokens from before this time are no longer valid. */
  oldestToken = 0;
  #now = 0;

  get now(): number {
    return this.#now;
  }

  #tick(): number {
    this.#now += 1;
    return this.#now;
  }

  clear(): void {
    this.folders.clear();
    this.messages.clear();
    this.categories.length = 0;
    this.removed.length = 0;
    this.oldestToken = 0;
  }

  put(id: string, message: EmulatedMessage): void {
    this.messages.set(id, { ...message, at: this.#tick() });
  }

  write(id: string, text: string): void {
    const message = this.messages.get(id)!;
    message.text = text;
    message.at = this.#tick();
  }

  move(id: string, folder: string): void {
    const message = this.messages.get(id)!;
    this.removed.push({ folder: message.folder, id, at: this.#tick() });
    message.folder = folder;
    message.at = this.#tick();
  }

  remove(id: string): void {
    const message = this.messages.get(id);
    this.messages.delete(id);
    if (message) this.removed.push({ folder: message.folder, id, at: this.#tick() });
  }
}

const person = (address: string) => ({ emailAddress: { name: address.split('@')[0], address } });

function messageJson(id: string, message: EmulatedMessage, isText: boolean): Record<string, unknown> {
  const { folder, subject, text, from = 'grace@harbour.example', to = [], cc = [], received } = message;
  return {
    '@odata.etag': `W/"${message.at}"`,
    id,
    subject,
    receivedDateTime: received,
    sentDateTime: received,
    changeKey: `key${message.at}`,
    webLink: `https://outlook.example/${id}`,
    hasAttachments: Object.values(message.attachments ?? {}).some(({ isInline = false }) => !isInline),
    parentFolderId: folder,
    isDraft: false,
    isRead: message.read ?? false,
    body: isText ? { contentType: 'text', content: text } : { contentType: 'html', content: `<p>${text}</p>` },
    from: person(from),
    toRecipients: to.map(person),
    ccRecipients: cc.map(person),
    internetMessageId: `<${id}@harbour.example>`,
    conversationId: `conversation-${id}`,
    categories: message.categories ?? [],
    importance: 'normal',
    flag: { flagStatus: message.flagged === true ? 'flagged' : 'notFlagged' },
  };
}

const KINDS = { file: 'fileAttachment', item: 'itemAttachment', reference: 'referenceAttachment' } as const;
const attachmentJson = (
  id: string,
  { name, content, contentType, isInline = false, kind = 'file' }: EmulatedAttachment,
) => ({
  '@odata.type': `#microsoft.graph.${KINDS[kind]}`,
  id,
  name,
  contentType: contentType ?? null,
  size: Buffer.from(content).length,
  isInline,
  lastModifiedDateTime: '2026-03-03T10:00:00Z',
  contentBytes: Buffer.from(content).toString('base64'),
});

/** Answers a request for mail below /me. @param rest path segments after /me @returns false for any other request */
export function answerMail(call: Call, box: Mailbox, rest: readonly string[], pageSize: number): boolean {
  const { response, query, request } = call;
  const prefer = String(request.headers['prefer'] ?? '');
  const isText = /outlook\.body-content-type="text"/.test(prefer);
  // Without the preference for immutable ids, an id changes with each move.
  const idOf = (id: string, { folder }: EmulatedMessage): string =>
    /IdType="ImmutableId"/.test(prefer) ? id : `${id}-in-${folder}`;
  const json = ([id, message]: readonly [string, EmulatedMessage]) => messageJson(idOf(id, message), message, isText);
  const folderJson = ([id, { name, parent, isSearch = false, isHidden = false }]: readonly [
    string,
    EmulatedFolder,
  ]) => ({
    ...(isSearch ? { '@odata.type': '#microsoft.graph.mailSearchFolder' } : {}),
    id,
    displayName: name,
    isHidden,
    parentFolderId: parent ?? 'msgfolderroot',
    childFolderCount: [...box.folders.values()].filter((folder) => folder.parent === id).length,
    totalItemCount: [...box.messages.values()].filter(({ folder }) => folder === id).length,
  });
  const missing = (): true => {
    refuse(response, { status: 404, code: 'ErrorItemNotFound' });
    return true;
  };
  const answered = (_answer: void): true => true;
  const foldersIn = (parent: string | null) =>
    [...box.folders]
      .filter(([, folder]) => folder.parent === parent)
      .filter(([, { isHidden = false }]) => !isHidden || query.get('includeHiddenFolders') === 'true')
      .map(folderJson);

  const [resource, id = '', part, which, value] = rest;
  if (resource === 'outlook')
    return id === 'masterCategories' ? answered(sendPage(call, box.categories, pageSize)) : missing();
  if (resource === 'mailFolders') {
    if (id === '') return answered(sendPage(call, foldersIn(null), pageSize));
    const found = [...box.folders].find(([key, { wellKnown }]) => key === id || wellKnown === id.toLowerCase());
    if (!found) return missing();
    const [folderId] = found;
    if (part === undefined) return answered(sendOne(call, folderJson(found)));
    if (part === 'childFolders') return answered(sendPage(call, foldersIn(folderId), pageSize));
    if (part !== 'messages') return missing();
    const inFolder = [...box.messages].filter(([, { folder }]) => folder === folderId);
    if (which === 'delta') {
      const present: Changed[] = inFolder.map((entry) => ({ at: entry[1].at ?? 0, value: json(entry) }));
      const removed = box.removed
        .filter((removal) => removal.folder === folderId && box.messages.get(removal.id)?.folder !== folderId)
        .map((removal) => ({ at: removal.at, value: { id: removal.id, '@removed': { reason: 'deleted' } } }));
      const changed = [...present, ...removed].toSorted((a, b) => a.at - b.at);
      const parameters = {
        pageSize,
        skip: '$skiptoken',
        delta: '$deltatoken',
        oldestToken: box.oldestToken,
        now: box.now,
      };
      return answered(sendFeed(call, changed, parameters));
    }
    const filter = query.get('$filter');
    const test = filter === null ? () => true : readFilter(filter);
    if (test === null) return answered(refuse(response, { status: 400, code: 'ErrorInvalidUrlQueryFilter' }));
    return answered(sendPage(call, inFolder.filter(([, message]) => test(message)).map(json), pageSize));
  }
  if (resource !== 'messages') return false;
  const message = box.messages.get(id);
  if (!message) return missing();
  if (part === undefined) return answered(sendOne(call, json([id, message])));
  const { attachments = {} } = message;
  if (part !== 'attachments') return missing();
  if (which === undefined)
    return answered(
      sendPage(
        call,
        Object.entries(attachments).map((entry) => attachmentJson(...entry)),
        pageSize,
      ),
    );
  const attachment = Object.hasOwn(attachments, which) ? attachments[which] : undefined;
  if (!attachment) return missing();
  if (value === undefined) return answered(sendOne(call, attachmentJson(which, attachment)));
  if (value !== '$value') return missing();
  response
    .writeHead(200, { 'content-type': attachment.contentType ?? 'application/octet-stream' })
    .end(attachment.content);
  return true;
}
