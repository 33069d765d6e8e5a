/**
 * A stand-in for an organization of Salesforce on loopback, after its published REST API: queries in SOQL, files, descriptions
 * of kinds, and errors that are lists. The first part of each path is the host that a request would have gone to.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import { MalformedQuery, pick, readSoql, type SoqlRecord } from './soql.js';

const SALESFORCE_PEOPLE = [
  { id: 'ada@harbour.example', label: 'Ada' },
  { id: 'ben@harbour.example', label: 'Ben' },
];
/** Where the organization is, whoever consents where. */
export const ORGANIZATION_HOST = 'harbour.my.salesforce.com';

type SalesforceRefused = Refused & { readonly errorCode?: string };

export type SalesforceEmulator = ConsentingEmulator<SalesforceRefused> & {
  readonly settings: string;
  /** Records by kind and id. A kind that is not there is one that the organization does not have. */
  readonly records: Map<string, Map<string, SoqlRecord>>;
  /** What versions of files hold, by their ids. */
  readonly contents: Map<string, string>;
  /** Queries in the order asked. */
  readonly queries: string[];
  put(kind: string, id: string, record: SoqlRecord): void;
  /** Deletes a record: for some days it is told which were, to the minute. @param at unset: now */
  drop(kind: string, id: string, at?: number): void;
  /** Until when deletions are forgotten, in milliseconds since 1970. */
  readonly deletions: { forgottenUntil: number };
};

/** An id of Salesforce's shape: what kind of thing it is, and a name. */
export const sfId = (prefix: string, name: string): string =>
  `${prefix}${name.replaceAll(/\W/g, '').padEnd(15, 'x')}`.slice(0, 18);

const CODES: Readonly<Record<number, string>> = {
  401: 'INVALID_SESSION_ID',
  403: 'INSUFFICIENT_ACCESS',
  404: 'NOT_FOUND',
  500: 'UNKNOWN_EXCEPTION',
};
const refuse = (response: ServerResponse, { status, errorCode, headers = {} }: SalesforceRefused): void =>
  sendJson(
    response,
    status,
    [{ message: 'Refused', errorCode: errorCode ?? CODES[status] ?? 'MALFORMED_QUERY' }],
    headers,
  );

const DESCRIBED = [
  { name: 'Title', label: 'Title', custom: false, type: 'string' },
  { name: 'Answer__c', label: 'Answer', custom: true, type: 'textarea', htmlFormatted: true },
  { name: 'Hint__c', label: 'Hint', custom: true, type: 'string', htmlFormatted: false },
  { name: 'Rank__c', label: 'Rank', custom: true, type: 'double' },
];

/** @param perPage records of one answer, whatever is asked for */
export async function startSalesforce({ perPage = 2 } = {}): Promise<SalesforceEmulator> {
  const records = new Map<string, Map<string, SoqlRecord>>();
  const contents = new Map<string, string>();
  const queries: string[] = [];
  const deleted: { readonly kind: string; readonly id: string; readonly at: number }[] = [];
  const deletions = { forgottenUntil: 0 };
  const momentOf = (at: number): string => new Date(at).toISOString().replace('Z', '+0000');

  const sendDeleted = ({ response, query: asked }: Call, kind: string): void => {
    // Of moments it takes the minute.
    const [start, end] = ['start', 'end'].map(
      (name) => Math.floor(Date.parse(asked.get(name) ?? '') / 60_000) * 60_000,
    );
    if (!start || !end || end - start < 60_000)
      return refuse(response, { status: 400, errorCode: 'INVALID_REPLICATION_DATE' });
    const told = deleted.filter((one) => one.kind === kind && one.at >= start && one.at <= end);
    sendJson(response, 200, {
      deletedRecords: told.map(({ id, at }) => ({ id, deletedDate: momentOf(at) })),
      earliestDateAvailable: momentOf(deletions.forgottenUntil),
      latestDateCovered: momentOf(end),
    });
  };
  const query = ({ response, query: asked }: Call): void => {
    const soql = asked.get('q') ?? '';
    queries.push(soql);
    const read = readSoql(soql);
    const kind = records.get(read.from);
    if (!kind) return refuse(response, { status: 400, errorCode: 'INVALID_TYPE' });
    const found = read.find([...kind].map(([Id, record]) => ({ ...record, Id })));
    if (read.isCount) return sendJson(response, 200, { totalSize: found.length, done: true, records: [] });
    const wanted = found.slice(0, read.limit);
    const page = wanted.slice(0, perPage);
    sendJson(response, 200, {
      totalSize: wanted.length,
      done: page.length === wanted.length,
      ...(page.length === wanted.length ? {} : { nextRecordsUrl: '/services/data/v67.0/query/01g-2000' }),
      records: page.map((record) => pick(record, read)),
    });
  };
  const answer = (call: Call, person: string): void => {
    const { response, path } = call;
    const [host, services, data, , resource, kind = '', id = '', field] = path;
    if (services !== 'services') return refuse(response, { status: 404 });
    if (data === 'oauth2')
      return sendJson(response, 200, {
        ...{ user_id: sfId('005', 'ada'), organization_id: sfId('00D', 'harbour'), preferred_username: person },
        ...{ email: person, name: 'Ada Lee' },
      });
    if (host !== ORGANIZATION_HOST) return refuse(response, { status: 404 });
    if (resource === 'query')
      try {
        return query(call);
      } catch (error) {
        if (!(error instanceof MalformedQuery)) throw error;
        return refuse(response, { status: 400, errorCode: 'MALFORMED_QUERY' });
      }
    if (resource === 'sobjects' && id === 'describe' && records.has(kind))
      return sendJson(response, 200, { name: kind, fields: DESCRIBED });
    if (resource === 'sobjects' && id === 'deleted' && records.has(kind)) return sendDeleted(call, kind);
    const content = contents.get(id);
    if (kind !== 'ContentVersion' || field !== 'VersionData' || content === undefined)
      return refuse(response, { status: 404 });
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content);
  };

  const emulator = await startConsenting<SalesforceRefused>({
    oauth: {
      name: 'Salesforce',
      paths: { authorize: '/*/services/oauth2/authorize', token: '/*/services/oauth2/token' },
      people: SALESFORCE_PEOPLE,
      requiresPkce: true,
      // Tokens end when a session of the organization does: how soon is not said.
      saysExpiry: false,
      facts: () => ({ instance_url: `https://${ORGANIZATION_HOST}`, id: 'https://login.salesforce.com/id/1/2' }),
    },
    refuse,
    unauthorized: { status: 401 },
    answer: (call, access) => answer(call, access.person.id),
  });
  const paths = {
    api: '{instance}/services/data/v67.0',
    identity: '{instance}/services/oauth2',
    authorize: '{domain}/services/oauth2/authorize',
    token: '{domain}/services/oauth2/token',
  };
  return {
    ...emulator,
    settings: Object.entries(paths)
      .map(([part, path]) => `SALESFORCE.${part}=${emulator.origin}/${path}`)
      .join(','),
    mend() {
      emulator.mend();
      queries.length = 0;
    },
    records,
    contents,
    queries,
    put(kind, id, record) {
      const all = records.get(kind) ?? new Map<string, SoqlRecord>();
      // Whoever writes a file stamps it.
      const stamp = kind === 'ContentDocument' ? { SystemModstamp: momentOf(Date.now()) } : {};
      records.set(kind, all.set(id, { ...record, ...stamp }));
    },
    drop(kind, id, at = Date.now()) {
      if (records.get(kind)?.delete(id)) deleted.push({ kind, id, at });
    },
    deletions,
  };
}
