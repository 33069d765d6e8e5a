/** A mailbox of Microsoft Graph with hundreds of thousands of messages in twenty folders. */
import { type Call, sendJson } from '../emulator.js';
import { type GraphRefused, refuse } from '../graph/answers.js';
import { type LargeAccount, range, startLarge } from './largeAccount.js';
import { type Limit, MINUTE_MS, retryAfter } from './quota.js';

const LIMITS: readonly Limit[] = [
  {
    name: 'requests of an app per mailbox in ten minutes',
    ...{
      max: 10_000,
      perMs: 10 * MINUTE_MS,
      page: 'https://learn.microsoft.com/graph/throttling-limits#outlook-service-limits',
    },
    unitsOf: () => 1,
  },
];
const FOLDERS = 20;
/** Every message whose number is a multiple of this has an attachment. */
const ATTACHMENT_STEP = 10;
const STAMP = '2026-03-03T10:00:00Z';

/** Starts the emulator. @param messages number of messages, a multiple of 200 */
export const startLargeMailbox = (messages: number): Promise<LargeAccount> => {
  const perFolder = messages / FOLDERS;
  const folderJson = (folder: number) => ({
    ...{ id: `f${folder}`, displayName: `Folder ${folder}`, parentFolderId: 'msgfolderroot', childFolderCount: 0 },
    ...{ totalItemCount: perFolder, isHidden: false },
  });
  const messageJson = (number: number) => ({
    '@odata.etag': `W/"${number}"`,
    ...{ id: `m${number}`, subject: `Message ${number}`, receivedDateTime: STAMP, sentDateTime: STAMP },
    ...{ changeKey: `key${number}`, webLink: `https://outlook.example/m${number}` },
    ...{ hasAttachments: number % ATTACHMENT_STEP === 0, isDraft: false },
    parentFolderId: `f${Math.floor(number / perFolder)}`,
  });
  const answer = ({ path, query, response, request }: Call, origin: string): void => {
    const [, , resource = '', id = '', part, lastPart] = path;
    const send = (body: object): void => sendJson(response, 200, body);
    if (resource === 'mailFolders' && id === '') return send({ value: range(0, FOLDERS).map(folderJson) });
    if (resource === 'mailFolders' && id === 'deleteditems') return send({ id: 'bin' });
    if (resource === 'messages' && part === 'attachments')
      return send({
        value: [
          {
            '@odata.type': '#microsoft.graph.fileAttachment',
            ...{ id: `a${id}`, name: 'plan.txt', contentType: 'text/plain', size: 10, isInline: false },
            lastModifiedDateTime: STAMP,
          },
        ],
      });
    if (resource !== 'mailFolders' || part !== 'messages' || lastPart !== 'delta')
      return refuse(response, { status: 404, code: 'ErrorItemNotFound' });
    const pageSize = Number(/odata\.maxpagesize=(\d+)/.exec(String(request.headers['prefer']))?.[1] ?? 10);
    const link = `${origin}/v1.0/me/mailFolders/${id}/messages/delta`;
    const isCurrent = query.get('$deltatoken') !== null;
    const from = Number(query.get('$skiptoken') ?? (isCurrent ? perFolder : 0));
    const first = Number(id.slice(1)) * perFolder;
    const to = Math.min(perFolder, from + pageSize);
    send({
      value: range(first + from, first + to).map(messageJson),
      ...(to < perFolder
        ? { '@odata.nextLink': `${link}?$skiptoken=${to}` }
        : { '@odata.deltaLink': `${link}?$deltatoken=end` }),
    });
  };
  return startLarge<GraphRefused>({
    source: 'OUTLOOK',
    files: messages,
    facts: { tenant: 'common' },
    limits: LIMITS,
    path: '/v1.0',
    refuse,
    refusalOf: (_limit, waitMs) => ({ status: 429, code: 'ApplicationThrottled', headers: retryAfter(waitMs) }),
    answer,
  });
};
