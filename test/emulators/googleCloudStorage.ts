/**
 * Emulates Google Cloud Storage on loopback, by its published JSON API: buckets of several projects, whose objects a
 * test changes. Consent and tokens come from oauthProvider.ts.
 */
import { createHash } from 'node:crypto';

import { type Call, sendJson } from './emulator.js';
import { createPages, type GoogleEmulator, type Pages, refuseGoogle, selectFields, startGoogle } from './googleApi.js';
import type { OAuthProviderSettings } from './oauthProvider.js';

export interface StoredObject {
  readonly content: string | Buffer;
  /** Unset: the object has no content type. */
  readonly type?: string;
}

export interface GoogleCloudStorageEmulator extends GoogleEmulator {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Objects by bucket and key. */
  readonly buckets: Map<string, Map<string, StoredObject>>;
  /**
   * Buckets by project. Null: the account has no access. A bucket that is in none of the lists belongs to the last
   * project.
   */
  readonly projects: Record<string, readonly string[] | null>;
  readonly pages: Pages;
}

const stamp = '2026-03-03T10:00:00.000Z';
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** @param perPage page size, even if the request names a larger one */
export async function startGoogleCloudStorage({
  perPage = 3,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<GoogleCloudStorageEmulator> {
  const buckets = new Map<string, Map<string, StoredObject>>();
  const projects: Record<string, readonly string[] | null> = {};
  const pages = createPages();
  // Generations are strings because they can exceed Number.MAX_SAFE_INTEGER.
  let last = 9_007_199_254_740_993n;
  const generations = new WeakMap<StoredObject, string>();
  const generationOf = (object: StoredObject): string => {
    const existing = generations.get(object);
    if (existing !== undefined) return existing;
    last += 2n;
    generations.set(object, String(last));
    return String(last);
  };
  const bucketsOf = (project: string): string[] => {
    const ids = Object.keys(projects);
    const bucketsInProjects = new Set(Object.values(projects).flatMap((names) => names ?? []));
    const projectBuckets = projects[project] ?? [];
    return [...buckets.keys()].filter(
      (name) => projectBuckets.includes(name) || (!bucketsInProjects.has(name) && ids.at(-1) === project),
    );
  };
  const objectJson = (bucket: string, name: string, object: StoredObject) => {
    const generation = generationOf(object);
    const bytes = Buffer.from(object.content);
    return {
      kind: 'storage#object',
      id: `${bucket}/${name}/${generation}`,
      ...{ bucket, name, generation, metageneration: '1', timeCreated: stamp, updated: stamp },
      size: String(bytes.length),
      md5Hash: createHash('md5').update(bytes).digest('base64'),
      etag: `C${Buffer.from(generation).toString('base64url')}`,
      ...(object.type === undefined ? {} : { contentType: object.type }),
    };
  };

  const listObjects = (call: Call, bucket: string, objects: Map<string, StoredObject>): void => {
    const { query, response } = call;
    const prefix = query.get('prefix') ?? '';
    const found = [...objects].filter(([key]) => key.startsWith(prefix)).toSorted(([a], [b]) => byBytes(a, b));
    const taken = pages.take(call, found, Math.min(perPage, Number(query.get('maxResults') ?? 1_000)));
    if (!taken) return;
    // Google omits the list when it is empty.
    const items = taken.page.map(([key, object]) => objectJson(bucket, key, object));
    const answer = {
      kind: 'storage#objects',
      ...(items.length === 0 ? {} : { items }),
      ...(taken.next === null ? {} : { nextPageToken: taken.next }),
    };
    sendJson(response, 200, selectFields(query.get('fields'), answer));
  };
  const listBuckets = (call: Call): void => {
    const { query, response } = call;
    const project = query.get('project') ?? '';
    if (!Object.hasOwn(projects, project)) return refuseGoogle(response, { status: 400, reason: 'invalid' });
    if (projects[project] === null) return refuseGoogle(response, { status: 403 });
    const taken = pages.take(call, bucketsOf(project), Math.min(perPage, Number(query.get('maxResults') ?? 1_000)));
    if (!taken) return;
    const items = taken.page.map((name) => ({
      ...{ kind: 'storage#bucket', id: name, name, location: 'EU', storageClass: 'STANDARD' },
      ...{ metageneration: '1', etag: 'CAE=', timeCreated: stamp, updated: stamp },
    }));
    const next = taken.next === null ? {} : { nextPageToken: taken.next };
    sendJson(response, 200, selectFields(query.get('fields'), { kind: 'storage#buckets', items, ...next }));
  };

  const emulator = await startGoogle(
    (call, { person, scopes }) => {
      const { path, query, response } = call;
      const may = (scope: RegExp) => scopes.length === 0 || scopes.some((granted) => scope.test(granted));
      const insufficient = () => refuseGoogle(response, { status: 403, reason: 'insufficientPermissions' });
      if (path.join('/') === 'oidc/v1/userinfo') {
        if (!may(/^(openid|email)$/)) return refuseGoogle(response, { status: 401 });
        return sendJson(response, 200, { sub: '1042', email: person.id, email_verified: true, name: person.label });
      }
      if (path.join('/') === 'crm/v1/projects') {
        if (!may(/cloud/))
          return refuseGoogle(response, { status: 403, reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT', isNew: true });
        const taken = pages.take(call, Object.keys(projects), Math.min(2, Number(query.get('pageSize') ?? 500)));
        if (!taken) return;
        const rows = taken.page.map((projectId) => ({
          ...{ projectId, projectNumber: '415104041262', name: projectId },
          ...{ lifecycleState: 'ACTIVE', createTime: stamp },
        }));
        return sendJson(response, 200, {
          projects: rows,
          ...(taken.next === null ? {} : { nextPageToken: taken.next }),
        });
      }
      const [storage, version, b, bucket, o, key, ...rest] = path;
      if (storage !== 'storage' || version !== 'v1' || b !== 'b' || rest.length > 0)
        return refuseGoogle(response, { status: 404 });
      if (!may(/devstorage/)) return insufficient();
      if (bucket === undefined) return listBuckets(call);
      const objects = buckets.get(bucket);
      if (!objects || o !== 'o') return refuseGoogle(response, { status: 404 });
      if (key === undefined) return listObjects(call, bucket, objects);
      const object = objects.get(key);
      if (!object && query.get('alt') === 'media') {
        response.writeHead(404, { 'content-type': 'text/html; charset=UTF-8' }).end(`No such object: ${bucket}/${key}`);
        return;
      }
      if (!object) return refuseGoogle(response, { status: 404 });
      const json = objectJson(bucket, key, object);
      if (query.get('alt') !== 'media') return sendJson(response, 200, selectFields(query.get('fields'), json));
      const headers = {
        'content-type': object.type ?? 'application/octet-stream',
        'x-goog-generation': json.generation,
      };
      response.writeHead(200, headers).end(Buffer.from(object.content));
    },
    /^(openid|email|https:\/\/www\.googleapis\.com\/auth\/(devstorage|cloud))/,
    settings,
  );
  const paths = { api: '/storage/v1', projects: '/crm/v1', identity: '/oidc/v1' };
  return {
    ...emulator,
    settings: emulator.settingsOf('GOOGLE_CLOUD_STORAGE', paths),
    ...{ buckets, projects, pages },
  };
}
