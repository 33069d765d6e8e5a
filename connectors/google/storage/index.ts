/**
 * Google Cloud Storage: objects in the buckets of all projects that an account has access to.
 * https://cloud.google.com/storage/docs/json_api
 */
import {
  type PageAt,
  withRootsCursor,
  withCursor,
  shapeOf,
  listOf,
  nullable,
  string,
  type Checked,
} from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import { type ObjectRef, parseItemId } from '../../../contract/objectIds.js';
import type { Connector } from '../../connector.js';
import type { OAuthGrant } from '../../oauthSpec.js';
import type { SourceClient } from '../../accountClient.js';
import type { ItemPage } from '../../sourceItem.js';
import { classify, googleOAuth, projectLimit, waitMs } from '../api.js';
import { type Answer, asAnswer, asList, asText } from '../../json.js';
import type {
  CloudBucket,
  CloudBucketList,
  CloudObject,
  CloudObjectList,
  CloudProject,
  CloudProjectList,
} from '../vendorTypes.js';
import { fetchPage } from '../paged.js';
import {
  contentOf,
  dateOf,
  isBucket,
  isProject,
  itemOfContainer,
  itemOfFolder,
  itemsOfObjects,
  objectsIn,
} from './adapter.js';
import { bearer } from '../../bearer.js';
import { requireList } from '../../faults.js';

const OBJECTS_PER_PAGE = '1000';
const BUCKETS_PER_PAGE = '1000';
const PROJECTS_PER_PAGE = '100';
const OBJECT_FIELDS = 'name,generation,etag,timeCreated,contentType';
/**
 * Errors of a project whose buckets are inaccessible, or that does not use Cloud Storage. Such projects are skipped.
 * not_configured is not among them: the API is then disabled for our OAuth client, so no project can be listed.
 */
const SKIPPED_PROJECT_FAULTS: ReadonlySet<string> = new Set(['access_denied', 'not_found', 'bad_response']);

const missing = (): Fault =>
  new Fault(
    'not_found',
    'Google Cloud Storage has no such object for the connected account. It may have been deleted.',
  );

/** Position in the listing of buckets. */
const BUCKET_CURSOR = shapeOf({
  /** Projects whose buckets are still to be listed. */
  projects: listOf(string),
  /** Page token in the bucket list of the first of `projects`. */
  token: nullable(string),
  /** Position in the listing of projects; null: complete. */
  more: nullable(shapeOf({ token: nullable(string) })),
});
type BucketCursor = Checked<typeof BUCKET_CURSOR>;

/** Position in the listing of objects. */
const OBJECT_CURSOR = shapeOf({
  token: string,
  /** Last key of the previous page: the folders above it were already listed. */
  after: string,
});

const unlessEnd = (cursor: BucketCursor): BucketCursor | null =>
  cursor.projects.length === 0 && cursor.more === null ? null : cursor;

/**
 * Returns the items of a list. Google omits an empty list, but never its kind:
 * https://cloud.google.com/storage/docs/json_api/v1/objects/list
 */
const itemsIn = ({ kind, items }: Answer<CloudBucketList | CloudObjectList>): readonly unknown[] =>
  requireList('Google Cloud Storage', items ?? (kind === undefined ? null : []));

/** Returns a page of projects; their buckets are listed later. */
async function projectsPage(client: SourceClient, token: string | null): Promise<PageAt<BucketCursor>> {
  const query = { pageSize: PROJECTS_PER_PAGE, filter: 'lifecycleState:ACTIVE' };
  const { body, next } = await fetchPage<CloudProjectList>(client, ['projects'], query, token, { at: 'projects' });
  const projects = asList(body.projects)
    .map((given) => asText(asAnswer<CloudProject>(given).projectId))
    .filter(isProject);
  const more = next === null ? null : { token: next };
  // Google answers `{}` if there are no projects, but also by mistake: the page is partial, so no bucket is deleted.
  return {
    items: [],
    next: unlessEnd({ projects, token: null, more }),
    ...(body.projects ? {} : { isPartial: true }),
  };
}

/**
 * Returns a page of the buckets of one project; an empty page if they are inaccessible. This page is not marked as
 * partial, because many accounts have a project whose buckets they may not list: as a bucket's project is unknown, a
 * partial page would prevent the removal of deleted buckets of all projects.
 */
async function bucketsPage(client: SourceClient, project: string, token: string | null): Promise<ItemPage> {
  const query = { project, maxResults: BUCKETS_PER_PAGE, fields: 'kind,nextPageToken,items(name,timeCreated)' };
  try {
    const { body, next } = await fetchPage<CloudBucketList>(client, ['b'], query, token);
    const items = itemsIn(body).flatMap((given) => {
      const { name, timeCreated } = asAnswer<CloudBucket>(given);
      const bucket = asText(name);
      return isBucket(bucket) ? [itemOfContainer(bucket, dateOf(timeCreated))] : [];
    });
    return { items, next };
  } catch (error) {
    if (error instanceof Fault && SKIPPED_PROJECT_FAULTS.has(error.kind)) return { items: [], next: null };
    throw error;
  }
}

/** Returns a page of a bucket, folder or prefix. */
const objectsPage = withCursor(
  OBJECT_CURSOR,
  async (client: SourceClient, { bucket, key, kind }: ObjectRef, cursor) => {
    const query = { prefix: key, maxResults: OBJECTS_PER_PAGE, fields: `kind,nextPageToken,items(${OBJECT_FIELDS})` };
    const { body, next } = await fetchPage<CloudObjectList>(client, ['b', bucket, 'o'], query, cursor?.token ?? null);
    const objects = objectsIn(itemsIn(body));
    if (cursor === null && objects.length === 0 && kind !== 'bucket') throw missing();
    const items = itemsOfObjects(bucket, objects, { after: cursor?.after ?? '', below: kind === 'folder' ? key : '' });
    const requestedItem =
      kind === 'bucket' ? [itemOfContainer(bucket, null)] : kind === 'folder' ? [itemOfFolder(bucket, key)] : [];
    const after = objects.at(-1)?.key ?? cursor?.after ?? '';
    return {
      items: cursor === null ? [...requestedItem, ...items] : items,
      next: next === null ? null : { token: next, after },
    };
  },
);

const objectAt = async (client: SourceClient, bucket: string, key: string) =>
  asAnswer<CloudObject>(await client.get(['b', bucket, 'o', key], { fields: OBJECT_FIELDS }));

export const googleCloudStorage: Connector<OAuthGrant> = {
  about: {
    listed: 'buckets of all projects, folders, objects',
    ingested: 'each object',
    unchangedBy: 'generation, else ETag',
    limits: 'projects whose buckets the account may not list are skipped',
  },
  oauth: googleOAuth([
    // Required to identify the account.
    'openid',
    'email',
    'https://www.googleapis.com/auth/devstorage.read_only',
    // Buckets can be listed only by project.
    'https://www.googleapis.com/auth/cloudplatformprojects.readonly',
  ]),
  headers: bearer,
  classify,
  waitMs,
  sharedLimit: projectLimit,

  async identify(client) {
    const { email, sub, name } = await client.get(['userinfo'], {}, { at: 'identity' });
    const account = asText(email)?.toLowerCase() ?? asText(sub);
    if (account === null)
      throw new Fault(
        'access_denied',
        'Google returned no account for these credentials. Request the scopes openid and email.',
      );
    return {
      account,
      metadata: {
        ...(asText(email) === null ? {} : { email: account }),
        ...(asText(name) === null ? {} : { user_name: name }),
      },
    };
  },

  listRoots: withRootsCursor(BUCKET_CURSOR, async (client: SourceClient, given) => {
    const cursor: BucketCursor = given ?? { projects: [], token: null, more: { token: null } };
    const [project, ...rest] = cursor.projects;
    if (project === undefined) return projectsPage(client, cursor.more?.token ?? null);
    const { items, next } = await bucketsPage(client, project, cursor.token);
    const nextCursor = next === null ? { ...cursor, projects: rest, token: null } : { ...cursor, token: next };
    return { items, next: unlessEnd(nextCursor) };
  }),

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    const { bucket, key, kind } = itemRef;
    if (!isBucket(bucket)) throw missing();
    if (kind !== 'object') return objectsPage(client, itemRef, cursor);
    const [item] = itemsOfObjects(bucket, objectsIn([await objectAt(client, bucket, key)]), {
      after: key,
      below: '',
    });
    return { items: item ? [item] : [], next: null };
  },

  async open(client, externalId) {
    const { bucket, key, kind } = parseItemId(externalId);
    if (!isBucket(bucket) || kind === 'prefix') throw missing();
    if (kind !== 'object') {
      // A sync treats a bucket or folder as a file only if it could not be listed. Listing it here throws the same
      // error, which becomes the error of the file.
      await objectsPage(client, { bucket, key, kind }, null);
      throw new Fault(
        'unsupported_type',
        'A Google Cloud Storage folder has no text of its own: sync the objects in it.',
      );
    }
    const object = await objectAt(client, bucket, key);
    const { bytes, headers } = await client.content(['b', bucket, 'o', key], { alt: 'media' });
    const contentType = asText(object.contentType) ?? headers['content-type'];
    return contentOf(bucket, key, { bytes, contentType, etag: asText(object.etag) ?? undefined });
  },
};
