/**
 * A drive of Microsoft Graph with hundreds of thousands of items; every twentieth is a folder with the next nineteen.
 */
import { type Call, sendJson } from '../emulator.js';
import { type GraphRefused, refuse } from '../graph/answers.js';
import { type LargeAccount, range, startLarge } from './largeAccount.js';
import { DAY_MS, type Limit, MINUTE_MS, retryAfter } from './quota.js';

const QUOTA_PAGE =
  'https://learn.microsoft.com/sharepoint/dev/general-development/how-to-avoid-getting-throttled-or-blocked-in-sharepoint-online';
/** Returns the resource units of a request: 1 for a single item or a delta feed with a token, 2 for other lists. */
const resourceUnits = ({ path, query }: Call): number => {
  const isList = path.at(-1) === 'drives' || (path.at(-1) === 'delta' && query.get('token') === null);
  return isList ? 2 : 1;
};
/** Throttled requests count too: https://github.com/SharePoint/sp-dev-docs/pull/10157 */
const common = { page: QUOTA_PAGE, countsRefused: true } as const;
/** Limits for a tenant with at most 1,000 licences. */
const LIMITS: readonly Limit[] = [
  { name: 'requests of a user in five minutes', max: 3_000, perMs: 5 * MINUTE_MS, ...common, unitsOf: () => 1 },
  { name: 'resource units of an app per minute', max: 1_250, perMs: MINUTE_MS, ...common, unitsOf: resourceUnits },
  { name: 'resource units of an app per day', max: 1_200_000, perMs: DAY_MS, ...common, unitsOf: resourceUnits },
];
const PER_FOLDER = 20;
const DRIVE = 'b!own';
const STAMP = '2026-03-03T10:00:00Z';

/** @param items number of files and folders, a multiple of 20 */
export const startLargeOneDrive = (items: number): Promise<LargeAccount> => {
  const itemJson = (number: number) => {
    const isFolder = number % PER_FOLDER === 0;
    return {
      ...{ id: `i${number}`, name: isFolder ? `Folder ${number}` : `File ${number}.txt` },
      ...{ webUrl: `https://harbour.example/i${number}`, createdDateTime: STAMP, lastModifiedDateTime: STAMP },
      eTag: `"{i${number}},1"`,
      parentReference: { driveId: DRIVE, id: isFolder ? 'root' : `i${number - (number % PER_FOLDER)}` },
      ...(isFolder
        ? { folder: { childCount: PER_FOLDER - 1 } }
        : { file: { mimeType: 'text/plain', hashes: { quickXorHash: `x${number}` } }, size: 10 }),
    };
  };
  const driveJson = {
    ...{ id: DRIVE, name: 'Own', driveType: 'business', webUrl: 'https://harbour.example/own' },
    createdDateTime: STAMP,
  };
  const root = {
    ...{ id: 'root', name: 'root', webUrl: 'https://harbour.example/own', lastModifiedDateTime: STAMP },
    ...{ root: {}, parentReference: { driveId: DRIVE }, folder: { childCount: items / PER_FOLDER } },
  };
  const answer = ({ path, query, response }: Call, origin: string): void => {
    const send = (body: object): void => sendJson(response, 200, body);
    const place = path.slice(1).join('/');
    if (place === 'me/drives') return send({ value: [driveJson] });
    if (place === `drives/${DRIVE}`) return send(driveJson);
    if (place === `drives/${DRIVE}/root`) return send({ id: 'root' });
    if (place !== `drives/${DRIVE}/root/delta`) return refuse(response, { status: 404 });
    const token = query.get('token');
    const from = token === 'end' ? items : Number(token ?? 0);
    const to = Math.min(items, from + Number(query.get('$top') ?? 200));
    const link = `${origin}/v1.0/drives/${DRIVE}/root/delta`;
    send({
      value: [...(token === null ? [root] : []), ...range(from, to).map(itemJson)],
      ...(to < items ? { '@odata.nextLink': `${link}?token=${to}` } : { '@odata.deltaLink': `${link}?token=end` }),
    });
  };
  return startLarge<GraphRefused>({
    source: 'ONEDRIVE',
    files: items - items / PER_FOLDER,
    facts: { tenant: 'common' },
    limits: LIMITS,
    path: '/v1.0',
    refuse,
    refusalOf: (_limit, waitMs) => ({ status: 429, code: 'activityLimitReached', headers: retryAfter(waitMs) }),
    answer,
  });
};
