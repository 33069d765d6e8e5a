/**
 * Entities of Microsoft Graph v1.0, from its published metadata. Navigation properties are in a shape if an answer
 * expands them.
 */
import {
  anyObject,
  anything,
  each,
  flag,
  integer,
  listOf,
  timestamp,
  object,
  oneOf,
  orNull,
  type Shape,
  text,
} from './shape.js';

export const GRAPH = {
  specification: 'https://github.com/microsoftgraph/msgraph-metadata/blob/master/clean_v10_metadata/cleanMetadata.xml',
  version: 'v1.0, 84c1cb51',
  takenOn: '2026-11-26',
} as const;

const nullableText = orNull(text);
const nullableTimestamp = orNull(timestamp);
const nullableObject = orNull(anyObject);

/** Returns the shape of an entity: an object with an id. @param kind pattern of its `@odata.type` */
const entity = (fields: Readonly<Record<string, Shape>>, kind = /^#microsoft\.graph\./): Shape =>
  object({ '@odata.context': text, '@odata.type': { ...text, pattern: kind }, '@odata.etag': text, ...fields }, ['id']);

/** Returns the shape of a page of entities. https://learn.microsoft.com/graph/paging */
export const pageOf = (items: Shape): Shape => ({
  ...object({ ...each(text, '@odata.context', '@odata.nextLink'), '@odata.count': integer, value: listOf(items) }, [
    'value',
  ]),
  isPage: true,
});
/** Returns the shape of a page of changes. https://learn.microsoft.com/graph/delta-query-overview */
export const feedOf = (items: Shape): Shape => {
  const page = pageOf(items);
  return { ...page, fields: { ...page.fields, '@odata.deltaLink': text } };
};

/** The refusals of all operations. https://learn.microsoft.com/graph/errors */
export const refusal: Shape = object(
  {
    error: object(
      {
        code: text,
        message: text,
        target: nullableText,
        details: listOf(anyObject),
        innerError: anyObject,
        innererror: anyObject,
      },
      ['code', 'message'],
    ),
  },
  ['error'],
);

const reference = object({
  ...each(nullableText, 'driveId', 'driveType', 'id', 'name', 'path', 'shareId', 'siteId'),
  sharepointIds: nullableObject,
});
const baseItem = {
  id: text,
  ...each(nullableObject, 'createdBy', 'lastModifiedBy'),
  ...each(timestamp, 'createdDateTime', 'lastModifiedDateTime'),
  ...each(nullableText, 'description', 'eTag', 'name', 'webUrl'),
  parentReference: orNull(reference),
};
const folder = object({ childCount: orNull(integer), view: nullableObject });
const file = object({
  hashes: orNull(object(each(nullableText, 'crc32Hash', 'quickXorHash', 'sha1Hash', 'sha256Hash'))),
  mimeType: nullableText,
  processingMetadata: orNull(flag),
});
const remoteItem = object({
  ...each(
    nullableObject,
    'createdBy',
    'fileSystemInfo',
    'image',
    'lastModifiedBy',
    'package',
    'shared',
    'sharepointIds',
  ),
  ...each(nullableObject, 'specialFolder', 'video'),
  ...each(nullableTimestamp, 'createdDateTime', 'lastModifiedDateTime'),
  ...each(nullableText, 'id', 'name', 'webDavUrl', 'webUrl'),
  file: orNull(file),
  folder: orNull(folder),
  parentReference: orNull(reference),
  size: orNull(integer),
});

export const user = entity({ id: text, ...each(nullableText, 'displayName', 'mail', 'userPrincipalName') });
export const drive = entity({
  ...baseItem,
  driveType: oneOf('personal', 'business', 'documentLibrary'),
  ...each(nullableObject, 'owner', 'quota', 'sharePointIds', 'system'),
});
export const driveItem = entity({
  ...baseItem,
  ...each(
    nullableObject,
    'audio',
    'bundle',
    'fileSystemInfo',
    'image',
    'location',
    'malware',
    'pendingOperations',
    'photo',
  ),
  ...each(nullableObject, 'publication', 'searchResult', 'shared', 'sharepointIds', 'specialFolder', 'video'),
  ...each(nullableText, 'cTag', 'webDavUrl'),
  content: anything,
  deleted: orNull(object({ state: nullableText })),
  file: orNull(file),
  folder: orNull(folder),
  package: orNull(object({ type: nullableText })),
  remoteItem: orNull(remoteItem),
  root: orNull(object({})),
  size: orNull(integer),
});

export const site = entity({
  ...baseItem,
  displayName: nullableText,
  ...each(nullableObject, 'error', 'root', 'sharepointIds', 'siteCollection'),
  isPersonalSite: orNull(flag),
});
const keyed = listOf(object(each(nullableText, 'key', 'value')));
const webPart = entity({
  id: text,
  innerHtml: nullableText,
  ...each(nullableText, 'containerTextWebPartId', 'webPartType'),
  data: orNull(
    object({
      ...each(nullableText, 'dataVersion', 'description', 'title'),
      properties: anything,
      serverProcessedContent: orNull(
        object(each(keyed, 'htmlStrings', 'imageSources', 'links', 'searchablePlainTexts')),
      ),
    }),
  ),
});
const emphasis = orNull(oneOf('none', 'neutral', 'soft', 'strong', 'unknownFutureValue'));
const LAYOUTS = ['oneColumn', 'twoColumns', 'threeColumns', 'oneThirdLeftColumn', 'oneThirdRightColumn', 'fullWidth'];
const column = entity({ id: text, width: orNull(integer), webparts: listOf(webPart) });
export const sitePage = entity({
  ...baseItem,
  pageLayout: oneOf('microsoftReserved', 'article', 'home', 'unknownFutureValue'),
  ...each(nullableObject, 'publishingState', 'reactions', 'titleArea'),
  ...each(nullableText, 'title', 'promotionKind', 'thumbnailWebUrl'),
  ...each(orNull(flag), 'showComments', 'showRecommendedPages'),
  // https://learn.microsoft.com/graph/api/sitepage-get#example-2-get-a-page-with-canvaslayout: the layout itself has no
  // id.
  canvasLayout: object({
    horizontalSections: listOf(
      entity({ id: text, emphasis, layout: oneOf('none', ...LAYOUTS, 'unknownFutureValue'), columns: listOf(column) }),
    ),
    verticalSection: orNull(entity({ id: text, emphasis, webparts: listOf(webPart) })),
  }),
});

const recipient = object({ emailAddress: object(each(nullableText, 'address', 'name')) });
const body = object({ content: nullableText, contentType: oneOf('text', 'html') });
export const message = entity({
  id: text,
  ...each(nullableText, 'bodyPreview', 'changeKey', 'conversationId', 'conversationIndex', 'internetMessageId'),
  ...each(nullableText, 'parentFolderId', 'subject', 'webLink'),
  ...each(nullableTimestamp, 'createdDateTime', 'lastModifiedDateTime', 'receivedDateTime', 'sentDateTime'),
  ...each(listOf(recipient), 'bccRecipients', 'ccRecipients', 'replyTo', 'toRecipients'),
  ...each(orNull(recipient), 'from', 'sender'),
  ...each(orNull(flag), 'hasAttachments', 'isDeliveryReceiptRequested', 'isDraft', 'isRead', 'isReadReceiptRequested'),
  ...each(orNull(body), 'body', 'uniqueBody'),
  categories: listOf(text),
  flag: orNull(
    object({
      flagStatus: oneOf('notFlagged', 'complete', 'flagged'),
      ...each(nullableObject, 'completedDateTime', 'dueDateTime', 'startDateTime'),
    }),
  ),
  importance: oneOf('low', 'normal', 'high'),
  inferenceClassification: oneOf('focused', 'other'),
  internetMessageHeaders: listOf(anyObject),
});
/** A message in a page of changes; `@removed` is set if it was deleted or left the folder. */
export const changedMessage: Shape = {
  ...message,
  fields: { ...message.fields, '@removed': object({ reason: oneOf('changed', 'deleted') }, ['reason']) },
};
export const mailFolder = entity({
  id: text,
  ...each(orNull(integer), 'childFolderCount', 'totalItemCount', 'unreadItemCount'),
  ...each(nullableText, 'displayName', 'parentFolderId'),
  isHidden: orNull(flag),
});
export const attachment: Shape = {
  ...entity(
    {
      id: text,
      ...each(nullableText, 'contentBytes', 'contentId', 'contentLocation', 'contentType', 'name'),
      isInline: flag,
      lastModifiedDateTime: nullableTimestamp,
      size: integer,
    },
    /^#microsoft\.graph\.(file|item|reference)Attachment$/,
  ),
  required: ['id', 'isInline', 'size', '@odata.type'],
};
export const category = entity({
  id: text,
  color: { ...text, pattern: /^(none|preset\d\d?)$/ },
  displayName: nullableText,
});
