import { discovered, kindOf, long, refusal } from './api.js';
import {
  always,
  anyObject,
  each,
  eitherOf,
  flag,
  listOf,
  timestamp,
  object,
  oneOf,
  type Shape,
  text,
} from '../shape.js';
import type { AnswerTable } from '../table.js';

const user = object(
  { kind: kindOf('drive#user'), ...each(text, 'displayName', 'emailAddress', 'permissionId', 'photoLink'), me: flag },
  ['displayName', 'permissionId'],
);
const texts = listOf(text);
const facet = anyObject;

/**
 * A file. Only kind, id, name and mimeType are always present. An answer without a selection has these fields, and the
 * resource key of a file that has one.
 */
const file = object(
  {
    kind: kindOf('drive#file'),
    ...each(text, 'id', 'name', 'mimeType', 'resourceKey', 'description', 'driveId', 'fileExtension', 'folderColorRgb'),
    ...each(text, 'fullFileExtension', 'headRevisionId', 'iconLink', 'md5Checksum', 'originalFilename', 'sha1Checksum'),
    ...each(text, 'sha256Checksum', 'teamDriveId', 'thumbnailLink', 'webContentLink', 'webViewLink'),
    ...each(long, 'quotaBytesUsed', 'size', 'thumbnailVersion', 'version'),
    ...each(
      timestamp,
      'createdTime',
      'modifiedByMeTime',
      'modifiedTime',
      'sharedWithMeTime',
      'trashedTime',
      'viewedByMeTime',
    ),
    ...each(flag, 'copyRequiresWriterPermission', 'explicitlyTrashed', 'hasAugmentedPermissions', 'hasThumbnail'),
    ...each(flag, 'inheritedPermissionsDisabled', 'isAppAuthorized', 'modifiedByMe', 'ownedByMe', 'shared', 'starred'),
    ...each(flag, 'trashed', 'viewedByMe', 'viewersCanCopyContent', 'writersCanShare'),
    ...each(facet, 'capabilities', 'clientEncryptionDetails', 'contentHints', 'downloadRestrictions', 'labelInfo'),
    ...each(facet, 'imageMediaMetadata', 'linkShareMetadata', 'videoMediaMetadata'),
    ...each(user, 'lastModifyingUser', 'sharingUser', 'trashingUser'),
    ...each(texts, 'parents', 'permissionIds', 'spaces'),
    ...each({ type: 'object', others: text } as const, 'appProperties', 'properties', 'exportLinks'),
    ...each(listOf(facet), 'contentRestrictions', 'permissions'),
    owners: listOf(user),
    shortcutDetails: object(each(text, 'targetId', 'targetMimeType', 'targetResourceKey'), [
      'targetId',
      'targetMimeType',
    ]),
  },
  ['kind', 'id', 'name', 'mimeType'],
);
const drive = object(
  {
    kind: kindOf('drive#drive'),
    ...each(text, 'id', 'name', 'backgroundImageLink', 'colorRgb', 'orgUnitId', 'themeId'),
    ...each(facet, 'backgroundImageFile', 'capabilities', 'restrictions'),
    createdTime: timestamp,
    hidden: flag,
  },
  ['kind', 'id', 'name'],
);

/** An entry of a feed. The state of a file or drive is missing if it was removed. */
const change = (type: 'file' | 'drive', removed: boolean, state: Record<string, Shape>): Shape =>
  object(
    {
      kind: kindOf('drive#change'),
      ...each(oneOf(type), 'changeType', 'type'),
      removed: always(removed),
      [`${type}Id`]: text,
      teamDriveId: text,
      time: timestamp,
      ...state,
    },
    ['kind', 'changeType', 'removed', `${type}Id`, ...Object.keys(state)],
  );
const changes = listOf(
  eitherOf(
    change('file', false, { file }),
    change('file', true, {}),
    change('drive', false, { drive }),
    change('drive', true, {}),
  ),
);

/** A page of a list. The list is present even if it is empty. */
const pageOf = (kind: string, name: string, items: Shape, more: Record<string, Shape> = {}): Shape =>
  object({ kind: kindOf(kind), nextPageToken: text, [name]: listOf(items), ...more }, [
    'kind',
    name,
    ...Object.keys(more),
  ]);
/** A page of a feed, which has the token of either the next page or the end. */
const feedPage = (token: string): Shape =>
  object({ kind: kindOf('drive#changeList'), [token]: text, changes }, ['kind', token, 'changes']);

export const googleDrive: AnswerTable = {
  ...discovered('drive/v3', '20261106'),
  name: 'googleDrive',
  // https://developers.google.com/workspace/drive/api/guides/fields-parameter
  masks: {
    'GET /files': 'kind,incompleteSearch,nextPageToken,files(kind,id,name,mimeType,resourceKey)',
    'GET /files/{fileId}': 'kind,id,name,mimeType,resourceKey',
    'GET /drives': 'kind,nextPageToken,drives(kind,id,name)',
    'GET /drives/{driveId}': 'kind,id,name',
    'GET /changes':
      'kind,nextPageToken,newStartPageToken,changes(kind,type,changeType,time,removed,fileId,driveId,file(kind,id,name,mimeType),drive(kind,id,name))',
  },
  refusal,
  operations: {
    'GET /about': object(
      {
        kind: kindOf('drive#about'),
        ...each(flag, 'appInstalled', 'canCreateDrives', 'canCreateTeamDrives'),
        ...each(listOf(anyObject), 'driveThemes', 'teamDriveThemes'),
        ...each({ type: 'object', others: texts } as const, 'exportFormats', 'importFormats'),
        folderColorPalette: texts,
        maxImportSizes: { type: 'object', others: long },
        maxUploadSize: long,
        storageQuota: object(each(long, 'limit', 'usage', 'usageInDrive', 'usageInDriveTrash')),
        user,
      },
      ['kind', 'user'],
    ),
    'GET /changes': eitherOf(feedPage('nextPageToken'), feedPage('newStartPageToken')),
    'GET /changes/startPageToken': object({ kind: kindOf('drive#startPageToken'), startPageToken: text }, [
      ...['kind', 'startPageToken'],
    ]),
    'GET /drives': pageOf('drive#driveList', 'drives', drive),
    'GET /drives/{driveId}': drive,
    'GET /files': pageOf('drive#fileList', 'files', file, { incompleteSearch: flag }),
    'GET /files/{fileId}': ({ searchParams }) => (searchParams.get('alt') === 'media' ? null : file),
  },
};
