/**
 * Emulates a Salesforce organization on loopback, by its published REST API: SOQL queries, files, object descriptions,
 * and errors as lists. The first segment of each path is the host to which the request would be sent.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import { MalformedQuery, pick, readSoql, type SoqlRecord } from './soql.js';

const SALESFORCE_PEOPLE = [
  { id: 'ada@harbour.example', label: 'Ada' },
  { id: 'ben@harbour.example', label: 'Ben' },
];
/** Host of the organization; the same for every login domain. */
export const ORGANIZATION_HOST = 'harbour.my.salesforce.com';

type SalesforceRefused = Refused & { readonly errorCode?: string };

export type SalesforceEmulator = ConsentingEmulator<SalesforceRefused> & {
  readonly settings: string;
  /** Records by object and id. An object without an entry does not exist in the organization. */
  readonly records: Map<string, Map<string, SoqlRecord>>;
  /** Contents of file versions, by id. */
  readonly contents: Map<string, string>;
  /** Queries in order. */
  readonly queries: string[];
  /** Fields that the account may not see, as `Object.Field`. */
  readonly hidden: Set<string>;
  /** Whether userinfo refuses all tokens, as Salesforce refuses a token whose only scope is `api`. */
  readonly rights: { needsIdentityScope: boolean };
  put(kind: string, id: string, record: SoqlRecord): void;
  /** Deletes a record and logs the deletion. @param at time of the deletion. Unset: now */
  drop(kind: string, id: string, at?: number): void;
  /** `earliestDateAvailable` in answers: the time before which deletions are purged, in milliseconds since 1970. */
  readonly deletions: { purgedUntil: number };
};

/** Returns an id in Salesforce's format. @param prefix three characters that identify the object */
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
  { name: 'Title', label: 'Title', custom: false, type: 'string', htmlFormatted: false, relationshipName: null },
  { name: 'Answer__c', label: 'Answer', custom: true, type: 'textarea', htmlFormatted: true, relationshipName: null },
  { name: 'Hint__c', label: 'Hint', custom: true, type: 'string', htmlFormatted: false, relationshipName: null },
  { name: 'Rank__c', label: 'Rank', custom: true, type: 'double', htmlFormatted: false, relationshipName: null },
];
const RELATION = 'LatestPublishedVersion';

/** Whether a query selects a field. @param name `Object.Field` */
const namesField = (selected: string, name: string): boolean =>
  selected.split(/[\s,]+/).includes(name.slice(name.indexOf('.') + 1));

/** @param perPage records in one answer, regardless of the request */
export async function startSalesforce({ perPage = 2 } = {}): Promise<SalesforceEmulator> {
  const records = new Map<string, Map<string, SoqlRecord>>();
  const contents = new Map<string, string>();
  const queries: string[] = [];
  const hidden = new Set<string>();
  const rights = { needsIdentityScope: false };
  const deleted: { readonly kind: string; readonly id: string; readonly at: number }[] = [];
  const deletions = { purgedUntil: 0 };
  const momentOf = (at: number): string => new Date(at).toISOString().replace('Z', '+0000');

  /**
   * Returns descriptions of the visible fields of an object: those that occur in its records. The description of the
   * field with the id of a related record contains the name of the relationship.
   */
  const describedOf = (kind: string): readonly object[] => {
    if (kind === 'Knowledge__kav') return DESCRIBED;
    const names = new Set([...(records.get(kind)?.values() ?? [])].flatMap(Object.keys));
    const visible = [...names, 'Id'].filter((name) => !hidden.has(`${kind}.${name}`) && name !== RELATION);
    return visible.map((name) => ({
      ...{ name, label: name, type: 'string', custom: false, htmlFormatted: false },
      relationshipName: name === `${RELATION}Id` ? RELATION : null,
    }));
  };
  const sendDeleted = ({ response, query: parameters }: Call, kind: string): void => {
    // Salesforce ignores the seconds.
    const [start, end] = ['start', 'end'].map(
      (name) => Math.floor(Date.parse(parameters.get(name) ?? '') / 60_000) * 60_000,
    );
    if (!start || !end || end - start < 60_000)
      return refuse(response, { status: 400, errorCode: 'INVALID_REPLICATION_DATE' });
    const reported = deleted.filter((entry) => entry.kind === kind && entry.at >= start && entry.at <= end);
    sendJson(response, 200, {
      deletedRecords: reported.map(({ id, at }) => ({ id, deletedDate: momentOf(at) })),
      earliestDateAvailable: momentOf(deletions.purgedUntil),
      latestDateCovered: momentOf(end),
    });
  };
  const query = ({ response, query: parameters }: Call): void => {
    const soql = parameters.get('q') ?? '';
    queries.push(soql);
    const parsed = readSoql(soql);
    const kind = records.get(parsed.from);
    if (parsed.from === 'User') {
      const [user] = SALESFORCE_PEOPLE;
      const row = { Id: sfId('005', 'ada'), Username: user?.id ?? '', Name: 'Ada Lee', Email: user?.id ?? '' };
      return sendJson(response, 200, { totalSize: 1, done: true, records: [pick(row, parsed)] });
    }
    if (!kind) return refuse(response, { status: 400, errorCode: 'INVALID_TYPE' });
    const selected = / from /i.exec(soql) === null ? '' : soql.slice(0, soql.search(/ from /i));
    if ([...hidden].some((name) => new RegExp(`^${parsed.from}\\.(.*)$`).test(name) && namesField(selected, name)))
      return refuse(response, { status: 400, errorCode: 'INVALID_FIELD' });
    const found = parsed.find([...kind].map(([Id, record]) => ({ ...record, Id })));
    if (parsed.isCount) return sendJson(response, 200, { totalSize: found.length, done: true, records: [] });
    const limited = found.slice(0, parsed.limit);
    const page = limited.slice(0, perPage);
    sendJson(response, 200, {
      totalSize: limited.length,
      done: page.length === limited.length,
      ...(page.length === limited.length ? {} : { nextRecordsUrl: '/services/data/v67.0/query/01g-2000' }),
      records: page.map((record) => pick(record, parsed)),
    });
  };
  const answer = (call: Call, person: string): void => {
    const { response, path } = call;
    const [host, services, data, , resource, kind = '', id = '', field] = path;
    if (services !== 'services') return refuse(response, { status: 404 });
    if (data === 'oauth2' && rights.needsIdentityScope)
      return refuse(response, { status: 403, errorCode: 'FORBIDDEN' });
    if (data === 'oauth2')
      return sendJson(response, 200, {
        sub: `https://login.salesforce.com/id/${sfId('00D', 'harbour')}/${sfId('005', 'ada')}`,
        ...{ user_id: sfId('005', 'ada'), organization_id: sfId('00D', 'harbour'), preferred_username: person },
        ...{ email: person, name: 'Ada Lee' },
      });
    if (host !== ORGANIZATION_HOST) return refuse(response, { status: 404 });
    if (resource === '')
      return sendJson(response, 200, {
        query: '/services/data/v67.0/query',
        identity: `https://login.salesforce.com/id/${sfId('00D', 'harbour')}/${sfId('005', 'ada')}`,
      });
    if (resource === 'query')
      try {
        return query(call);
      } catch (error) {
        if (!(error instanceof MalformedQuery)) throw error;
        return refuse(response, { status: 400, errorCode: 'MALFORMED_QUERY' });
      }
    if (resource === 'sobjects' && id === 'describe' && records.has(kind))
      return sendJson(response, 200, { name: kind, fields: describedOf(kind) });
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
      // The response does not state the lifetime of access tokens: it is the session timeout of the organization.
      sendsExpiry: false,
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
    reset() {
      emulator.reset();
      queries.length = 0;
      hidden.clear();
      rights.needsIdentityScope = false;
    },
    records,
    contents,
    queries,
    hidden,
    rights,
    put(kind, id, record) {
      const all = records.get(kind) ?? new Map<string, SoqlRecord>();
      // Salesforce updates SystemModstamp of a file on each write.
      const stamp = kind === 'ContentDocument' ? { SystemModstamp: momentOf(Date.now()) } : {};
      const name = kind === 'Knowledge__kav' ? { UrlName: id } : {};
      records.set(kind, all.set(id, { ...name, ...record, ...stamp }));
    },
    drop(kind, id, at = Date.now()) {
      if (records.get(kind)?.delete(id)) deleted.push({ kind, id, at });
    },
    deletions,
  };
}
