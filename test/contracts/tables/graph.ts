/**
 * Operations of Microsoft Graph v1.0. Selectable fields are those of the published metadata; the query parameters and
 * their limits are on the reference page of each operation. Pages continue by `$skiptoken` or `$skip`:
 * https://learn.microsoft.com/graph/paging.
 */
import { attachment, driveItem, drive, mailFolder, message, site, sitePage, user } from '../answers/graph.js';
import type { Shape } from '../answers/shape.js';
import type { Operation, Rule } from '../contract.js';

const REFERENCE = 'https://learn.microsoft.com/graph/api';

/** Returns the rule of $select for an entity. */
const fieldsOf = ({ fields = {} }: Shape): Rule => ({
  list: Object.keys(fields).filter((name) => !name.startsWith('@') && name !== 'canvasLayout'),
});
const top = (max?: number): Rule => ({ type: 'integer', min: 1, ...(max === undefined ? {} : { max }) });
const paged = { $skiptoken: { type: 'string' }, $skip: { type: 'integer', min: 0 } } as const;

/** Returns the operation that reads one entity. @param page page of the operation in the reference */
export const entity = (page: string, shape: Shape, query: Operation['query'] = {}): Operation => ({
  source: `${REFERENCE}/${page}`,
  query: { $select: fieldsOf(shape), ...query },
});
/** Returns the operation that lists entities. @param max maximum of $top, if the reference has one */
const list = (page: string, shape: Shape, query: Operation['query'] = {}, max?: number): Operation =>
  entity(page, shape, { $top: top(max), ...paged, ...query });

export const ME: Readonly<Record<string, Operation>> = { 'GET /me': entity('user-get', user) };

export const DRIVES: Readonly<Record<string, Operation>> = {
  'GET /drives/{drive}': entity('drive-get', drive),
  'GET /drives/{drive}/root': entity('driveitem-get', driveItem),
  'GET /drives/{drive}/items/{item}': entity('driveitem-get', driveItem),
  'GET /drives/{drive}/items/{item}/children': list('driveitem-list-children', driveItem),
  'GET /drives/{drive}/items/{item}/content': { source: `${REFERENCE}/driveitem-get-content`, query: {} },
  'GET /drives/{drive}/root/delta': entity('driveitem-delta', driveItem, { $top: top(), token: { type: 'string' } }),
};

export const OWN_DRIVES: Readonly<Record<string, Operation>> = {
  'GET /me/drives': list('drive-list', drive),
  'GET /me/drive/items/{item}': entity('driveitem-get', driveItem),
};

export const SITES: Readonly<Record<string, Operation>> = {
  'GET /sites': list('site-search', site, { search: { type: 'string', required: true } }),
  'GET /sites/root': entity('site-get', site),
  'GET /sites/{host}:/{path+}': entity('site-getbypath', site),
  'GET /sites/{site}/drives': list('drive-list', drive),
  'GET /sites/{site}/drive/items/{item}': entity('driveitem-get', driveItem),
  'GET /sites/{site}/pages/microsoft.graph.sitePage': list('sitepage-list', sitePage),
  'GET /sites/{site}/pages/{page}/microsoft.graph.sitePage': entity('sitepage-get', sitePage, {
    $expand: { enum: ['canvasLayout'] },
  }),
};

/**
 * Preferences of Outlook: https://learn.microsoft.com/graph/outlook-immutable-id,
 * /graph/api/message-get#request-headers.
 */
const PREFERENCE = 'IdType="ImmutableId"|outlook\\.body-content-type="(text|html)"|odata\\.maxpagesize=[1-9]\\d{0,2}';
const preferring = (operation: Operation): Operation => ({
  ...operation,
  headers: { prefer: { pattern: `^(${PREFERENCE})(, ?(${PREFERENCE}))*$` } },
});
const hidden = { includeHiddenFolders: { type: 'boolean' } } as const;

export const MAIL: Readonly<Record<string, Operation>> = Object.fromEntries(
  Object.entries({
    'GET /me/mailFolders': list('user-list-mailfolders', mailFolder, hidden, 1000),
    'GET /me/mailFolders/{folder}': entity('mailfolder-get', mailFolder),
    'GET /me/mailFolders/{folder}/childFolders': list('mailfolder-list-childfolders', mailFolder, hidden, 1000),
    'GET /me/mailFolders/{folder}/messages': list(
      'mailfolder-list-messages',
      message,
      { $filter: { type: 'string' } },
      1000,
    ),
    'GET /me/mailFolders/{folder}/messages/delta': entity('message-delta', message, {
      $skiptoken: { type: 'string' },
      $deltatoken: { type: 'string' },
      $filter: { pattern: '^receivedDateTime g[et] ' },
      changeType: { enum: ['created', 'updated', 'deleted'] },
    }),
    'GET /me/messages/{message}': entity('message-get', message),
    'GET /me/messages/{message}/attachments': list('message-list-attachments', attachment),
    'GET /me/messages/{message}/attachments/{attachment}': entity('attachment-get', attachment),
    'GET /me/messages/{message}/attachments/{attachment}/$value': { source: `${REFERENCE}/attachment-get`, query: {} },
    'GET /me/outlook/masterCategories': {
      source: `${REFERENCE}/outlookuser-list-mastercategories`,
      query: paged,
    },
  }).map(([name, operation]) => [name, preferring(operation)]),
);
