import {
  attachment,
  category,
  changedMessage,
  drive,
  driveItem,
  feedOf,
  GRAPH,
  mailFolder,
  message,
  pageOf,
  refusal,
  site,
  sitePage,
  user,
} from './graph.js';
import type { AnswerTable } from './table.js';

const COMMON = { ...GRAPH, selection: '$select', refusal };
const ME = { 'GET /me': user };
const DRIVES = {
  'GET /drives/{drive}': drive,
  'GET /drives/{drive}/root': driveItem,
  'GET /drives/{drive}/items/{item}': driveItem,
  'GET /drives/{drive}/items/{item}/children': pageOf(driveItem),
  'GET /drives/{drive}/root/delta': feedOf(driveItem),
};

export const oneDrive: AnswerTable = {
  ...COMMON,
  name: 'oneDrive',
  operations: { ...ME, 'GET /me/drives': pageOf(drive), 'GET /me/drive/items/{item}': driveItem, ...DRIVES },
};

export const sharePoint: AnswerTable = {
  ...COMMON,
  name: 'sharePoint',
  operations: {
    ...ME,
    'GET /sites': pageOf(site),
    'GET /sites/root': site,
    'GET /sites/{host}:/{path+}': site,
    'GET /sites/{site}/drives': pageOf(drive),
    'GET /sites/{site}/drive/items/{item}': driveItem,
    'GET /sites/{site}/pages/microsoft.graph.sitePage': pageOf(sitePage),
    'GET /sites/{site}/pages/{page}/microsoft.graph.sitePage': sitePage,
    ...DRIVES,
  },
};

export const outlook: AnswerTable = {
  ...COMMON,
  name: 'outlook',
  operations: {
    ...ME,
    'GET /me/mailFolders': pageOf(mailFolder),
    'GET /me/mailFolders/{folder}': mailFolder,
    'GET /me/mailFolders/{folder}/childFolders': pageOf(mailFolder),
    'GET /me/mailFolders/{folder}/messages': pageOf(message),
    'GET /me/mailFolders/{folder}/messages/delta': feedOf(changedMessage),
    'GET /me/messages/{message}': message,
    'GET /me/messages/{message}/attachments': pageOf(attachment),
    'GET /me/messages/{message}/attachments/{attachment}': attachment,
    'GET /me/outlook/masterCategories': pageOf(category),
  },
};
