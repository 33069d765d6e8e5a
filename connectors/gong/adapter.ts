import { createHash } from 'node:crypto';

import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { type Answer, asAnswer, asLink, asList, asTimestamp, asName, asText, omitNull } from '../json.js';
import { createItem, createContainer } from '../items.js';
import { requireList } from '../faults.js';
import type {
  GongAnswer,
  GongCall,
  GongFolder,
  GongMonologue,
  GongParty,
  GongSentence,
  GongWorkspace,
} from './fields.js';

/** Item ids. Gong's ids are numbers of up to 20 digits; calls, workspaces and folders are numbered separately. */
const ID = /^(?:(workspace|folder):)?(\d{1,20})$/;
export type Kind = 'call' | 'workspace' | 'folder';
export interface ItemRef {
  readonly kind: Kind;
  readonly id: string;
}
/** Returns the item id: the number alone for a call, as in Gong's URLs. */
export const idOf = ({ kind, id }: ItemRef): string => (kind === 'call' ? id : `${kind}:${id}`);
/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [, kind, id] = ID.exec(externalId) ?? [];
  return id === undefined ? null : { kind: kind === 'workspace' || kind === 'folder' ? kind : 'call', id };
}
export const isId = (value: unknown): value is string => typeof value === 'string' && /^\d{1,20}$/.test(value);

const itemOfContainer = (
  itemRef: ItemRef,
  json: Pick<Answer<GongFolder>, 'name'>,
  parent: string | null,
  root: string | null,
): SourceItem =>
  createContainer({
    externalId: idOf(itemRef),
    parentExternalId: parent,
    rootExternalId: root,
    name: asName(json.name) ?? itemRef.id,
    itemType: itemRef.kind.toUpperCase(),
  });

export function itemOfWorkspace(json: Answer<GongWorkspace>): SourceItem | null {
  const { id } = json;
  return isId(id) ? itemOfContainer({ kind: 'workspace', id }, json, null, null) : null;
}

/** A folder of a workspace's library. */
export interface Folder {
  readonly id: string;
  readonly workspace: string;
  /** Its parent folder; null: the workspace. */
  readonly parent: string | null;
  readonly json: Answer<GongFolder>;
}
/** Parses the folders of a workspace's library. */
export function readFolders(answer: Answer<GongAnswer>, workspace: string): readonly Folder[] {
  const found = requireList('Gong', answer.folders).flatMap((given) => {
    const json = asAnswer<GongFolder>(given);
    const { id, parentFolderId: parent } = json;
    return isId(id) ? [{ id, workspace, parent: isId(parent) && parent !== id ? parent : null, json }] : [];
  });
  const ids = new Set(found.map(({ id }) => id));
  // Gong omits folders that the user may not see. A folder whose parent is omitted has the workspace as its parent.
  return found.map((folder) =>
    folder.parent !== null && ids.has(folder.parent) ? folder : { ...folder, parent: null },
  );
}
/** Converts a library folder. */
export function itemOfFolder({ id, workspace, parent, json }: Folder): SourceItem {
  const root = idOf({ kind: 'workspace', id: workspace });
  return itemOfContainer(
    { kind: 'folder', id },
    json,
    parent === null ? root : idOf({ kind: 'folder', id: parent }),
    root,
  );
}
/** Returns a folder and its descendants, itself first. */
export function folderWithInner(folders: readonly Folder[], id: string): readonly Folder[] {
  const found = new Map<string, Folder>();
  const open = folders.filter((folder) => folder.id === id);
  for (let folder = open.shift(); folder !== undefined; folder = open.shift()) {
    const { id: outer } = folder;
    if (found.has(outer)) continue;
    found.set(outer, folder);
    open.push(...folders.filter(({ parent }) => parent === outer));
  }
  return [...found.values()];
}

const addressOf = (call: Answer<GongCall>, id: string): string =>
  asLink(call.url) ?? `https://app.gong.io/call?id=${id}`;

/** Age in milliseconds up to which the transcript of a call may change without a change in its listing: 14 days. */
const SETTLED_AFTER_MS = 14 * 86_400_000;

/**
 * Returns the version of a call: null for a recent one, which is read again in each sync. Gong reports no change time,
 * and its quota of 10,000 requests a day does not suffice for reading all calls in each sync.
 * https://help.gong.io/docs/what-the-gong-api-provides#api-rate-limits
 */
function versionOf(call: Answer<GongCall>): string | null {
  const { duration } = call;
  const started = asTimestamp(call.started);
  if (started === null || Date.now() - Date.parse(started) < SETTLED_AFTER_MS) return null;
  const details = [started, typeof duration === 'number' ? Math.round(duration) : null];
  const all = [...details, asText(call.language), asName(call.title)];
  return createHash('sha256').update(JSON.stringify(all)).digest('base64url').slice(0, 22);
}

/** Converts a call; null if it is invalid. @param folder the library folder in which it is listed; null: none */
export function itemOfCall(call: Answer<GongCall>, folder: string | null, workspace: string | null): SourceItem | null {
  const { id, workspaceId } = call;
  if (!isId(id)) return null;
  const of = isId(workspaceId) ? workspaceId : workspace;
  const root = of === null ? null : idOf({ kind: 'workspace', id: of });
  return createItem({
    externalId: id,
    parentExternalId: folder === null ? root : idOf({ kind: 'folder', id: folder }),
    rootExternalId: root,
    name: asName(call.title) ?? id,
    itemType: 'CALL',
    externalUrl: addressOf(call, id),
    hasContent: true,
    createdAt: asTimestamp(call.started),
    version: versionOf(call),
  });
}

/** Formats an offset from the beginning of a call, such as `1:02:03`. */
function timeOf(milliseconds: unknown): string {
  const seconds = Math.max(0, Math.floor(Number(milliseconds) / 1000) || 0);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const secondsPart = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${secondsPart}` : `${minutes}:${secondsPart}`;
}

/** Creates a lookup of speaker names by the ids in a transcript. Unnamed speakers are numbered. */
function createSpeakers(parties: readonly Answer<GongParty>[]): (id: unknown) => string {
  const names = new Map<unknown, string>();
  for (const party of parties) {
    const name = asName(party.name) ?? asText(party.emailAddress);
    if (name !== null && party.speakerId !== undefined) names.set(party.speakerId, name);
  }
  let unnamed = 0;
  return (id) => {
    const existing = names.get(id);
    if (existing !== undefined) return existing;
    unnamed += 1;
    const name = `Speaker ${unnamed}`;
    names.set(id, name);
    return name;
  };
}

/** Formats a participant, such as `Ada Lovelace (Captain, Harbour)`. */
const partyOf = (party: Answer<GongParty>): string | null => {
  const name = asName(party.name) ?? asText(party.emailAddress);
  const details = [party.title, party.affiliation].flatMap((value) => asText(value) ?? []);
  return name === null ? null : details.length === 0 ? name : `${name} (${details.join(', ')})`;
};

/** Returns the transcript, one paragraph per turn; '' without a transcript. */
function spokenIn(transcript: readonly Answer<GongMonologue>[], parties: readonly Answer<GongParty>[]): string {
  const nameOf = createSpeakers(parties);
  return transcript
    .flatMap((monologue) => {
      const sentences = asList(monologue.sentences).map(asAnswer<GongSentence>);
      const spoken = sentences.flatMap((sentence) => asText(sentence.text)?.trim() || []).join(' ');
      if (spoken === '') return [];
      const topic = asText(monologue.topic);
      return [
        `${nameOf(monologue.speakerId)}, ${timeOf(sentences[0]?.start)}${topic === null ? '' : ` [${topic}]`}: ${spoken}`,
      ];
    })
    .join('\n\n');
}

/** Returns a call's content; null if it has no transcript. */
export function contentOf(
  call: Answer<GongCall>,
  parties: readonly Answer<GongParty>[],
  transcript: readonly Answer<GongMonologue>[],
): ItemContent | null {
  const id = asText(call.id) ?? '';
  const spoken = spokenIn(transcript, parties);
  if (spoken === '') return null;
  const title = asName(call.title);
  const people = parties.flatMap((party) => partyOf(party) ?? []);
  const head = [
    ...(title === null ? [] : [title]),
    ...(people.length === 0 ? [] : [`Participants: ${people.join('; ')}`]),
  ];
  return {
    bytes: Buffer.from([...head, spoken].join('\n\n')),
    contentType: 'text/plain; charset=utf-8',
    format: 'GONG',
    mimeType: 'text/plain',
    name: title,
    url: addressOf(call, id),
    fileMetadata: {
      type: 'CALL',
      ...omitNull({
        call_id: id,
        workspace_id: asText(call.workspaceId),
        started_at: asTimestamp(call.started),
        duration_seconds: typeof call.duration === 'number' ? call.duration : null,
        direction: asText(call.direction),
        language: asText(call.language),
        system: asText(call.system),
      }),
      participants: parties.map((party) =>
        omitNull({
          name: asName(party.name),
          email: asText(party.emailAddress),
          affiliation: asText(party.affiliation),
        }),
      ),
    },
  };
}
