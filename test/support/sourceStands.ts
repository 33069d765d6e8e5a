/** Each connected source as the catalogue suite takes it: its emulator, and how a caller connects to it. */
import type { ConnectedSourceType } from '../../contract/sources.js';
import { startGitBook, TOKEN } from '../emulators/gitbook.js';
import { GITHUB_TOKEN, LOGIN, startGitHub, USER_ID } from '../emulators/github.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator, startS3Source } from '../emulators/s3Source.js';
import type { Answer, TestUser } from './client.js';

/** The same content at every source: containers, one with things in things. Ids are the source's own. */
export interface StandContent {
  /** Outermost containers, in three pages of listings or more. */
  readonly containers: readonly string[];
  /** In the first container. */
  readonly lighthouse: string;
  /** Beside the lighthouse, or below it. */
  readonly keeper: string;
  /** Selected, it brings in the lighthouse and the keeper, and nothing else. */
  readonly branch: string;
  /** One in each further container. */
  readonly others: readonly string[];
  /** Of everything that is listed. */
  readonly items: number;
  /** The file_format of its documents, where it is not the source's own; of the lighthouse's kind. */
  readonly format?: string;
}

export interface SourceStand {
  /** Its part of SOURCE_URLS. */
  readonly settings: string;
  /** What its user hands over, and must be found nowhere. */
  readonly secret: string;
  /** The external id of its data source. */
  readonly externalId: string;
  /** What connecting answers, where that is the record. */
  readonly connected?: Readonly<Record<string, unknown>>;
  /** Puts the content of the catalogue there, and mends whatever went wrong. @param more documents in the first container */
  reset(more?: number): StandContent;
  connect(user: TestUser, body?: Record<string, unknown>): Promise<Answer<unknown>>;
  /** The same with credentials that nobody has. */
  connectAsNobody(user: TestUser): Promise<Answer<unknown>>;
  write(externalId: string, text: string): void;
  remove(externalId: string): void;
  /** Refuses the next requests for being too many. */
  limit(requests: number): void;
  /** Answers requests for the content of one item with a status. */
  breakItem(externalId: string, status: number): void;
  /** Leaves what is asked from now on without an answer. @param only paths that have this in them */
  hold(only?: string): void;
  /** No longer takes the credentials. */
  takeBack(): void;
  /** Listings of outermost containers that were asked for since the reset. */
  pagesListed(): number;
  /** Requests that were under way at once at most. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

export const LIGHTHOUSE = 'The lighthouse was lit in 1901.';
export const KEEPER = 'Its keeper was called Aurelia.';

async function standForGitBook(): Promise<SourceStand> {
  const emulator = await startGitBook();
  const { spaces } = emulator;
  const pageOf = (externalId: string) => {
    const [space = '', page = ''] = externalId.split('/');
    const lookIn = (pages: NonNullable<(typeof spaces)[string]>['pages']): typeof pages | null => {
      if (Object.hasOwn(pages, page)) return pages;
      for (const { pages: below } of Object.values(pages)) {
        const found = below && lookIn(below);
        if (found) return found;
      }
      return null;
    };
    return { pages: lookIn(spaces[space]?.pages ?? {}) ?? {}, page };
  };
  return {
    settings: emulator.settings,
    secret: TOKEN,
    externalId: 'GITBOOK|harbour-org',
    reset(more = 0) {
      for (const id of Object.keys(spaces)) delete spaces[id];
      for (const id of ['atlas', 'boats', 'crews', 'docks', 'eels'])
        spaces[id] = { title: `Space ${id}`, pages: { [`${id}-1`]: { title: `About ${id}`, text: `On ${id}.` } } };
      spaces['atlas'] = {
        title: 'Space atlas',
        pages: {
          sights: {
            type: 'group',
            title: 'Sights',
            pages: {
              lighthouse: {
                title: 'Lighthouse',
                text: LIGHTHOUSE,
                pages: { keeper: { title: 'Keeper', text: KEEPER } },
              },
              away: { type: 'link', title: 'Elsewhere' },
            },
          },
          ...Object.fromEntries(
            Array.from({ length: more }, (_, index) => [
              `m${index}`,
              { title: `More ${index}`, text: `More, ${index}.` },
            ]),
          ),
        },
      };
      emulator.misbehave(() => null);
      emulator.tokens.set(TOKEN, 'harbour-org');
      emulator.requests.length = 0;
      emulator.load.most = 0;
      return {
        containers: Object.keys(spaces),
        lighthouse: 'atlas/lighthouse',
        keeper: 'atlas/keeper',
        branch: 'atlas/lighthouse',
        others: ['boats/boats-1', 'crews/crews-1', 'docks/docks-1', 'eels/eels-1'],
        items: 13 + more,
      };
    },
    connect: (user, body = {}) =>
      user.post('/integrations/gitbook', { organization: 'harbour-org', access_token: TOKEN, ...body }),
    connectAsNobody: (user) =>
      user.post('/integrations/gitbook', { organization: 'harbour-org', access_token: 'gb_api_nobody' }),
    write(externalId, text) {
      const { pages, page } = pageOf(externalId);
      pages[page]!.text = text;
    },
    remove(externalId) {
      const { pages, page } = pageOf(externalId);
      delete pages[page];
    },
    limit(requests) {
      let left = requests;
      emulator.misbehave(() => (left-- > 0 ? { status: 429, headers: { 'retry-after': '0' } } : null));
    },
    breakItem(externalId, status) {
      const { page } = pageOf(externalId);
      emulator.misbehave((path) => (path.endsWith(`/page/${page}`) ? { status } : null));
    },
    hold: (only = '') => emulator.misbehave((path) => (path.includes(only) ? 'hang' : null)),
    takeBack: () => void emulator.tokens.delete(TOKEN),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/v1/orgs/harbour-org/spaces')).length,
    mostAtOnce: () => emulator.load.most,
    close: () => emulator.close(),
  };
}

async function standForGitHub(): Promise<SourceStand> {
  const emulator = await startGitHub();
  const { repositories } = emulator;
  const splitId = (externalId: string): [repository: string, path: string] => {
    const [owner = '', name = '', ...path] = externalId.split('/');
    return [`${owner}/${name}`, path.join('/')];
  };
  return {
    settings: emulator.settings,
    secret: GITHUB_TOKEN,
    externalId: `GITHUB|${USER_ID}`,
    reset(more = 0) {
      for (const name of Object.keys(repositories)) delete repositories[name];
      for (const [index, name] of ['atlas', 'boats', 'crews', 'docks', 'eels'].entries())
        repositories[`ada/${name}`] = {
          id: 700 + index,
          branch: name === 'boats' ? 'release/1' : 'main',
          files: { [`${name}.md`]: { content: `# About ${name}\n\nOn ${name}.` } },
        };
      repositories['ada/atlas'] = {
        id: 700,
        branch: 'main',
        files: {
          'sights/lighthouse.md': { content: `# Lighthouse\n\n${LIGHTHOUSE}` },
          'sights/people/keeper.txt': { content: KEEPER },
          // What does not become a file.
          'sights/tower.png': { content: 'PNG' },
          'sights/away': { content: '../elsewhere', mode: '120000' },
          other: { content: 'c0ffee', mode: '160000' },
          '.gitkeep': { content: '' },
          ...Object.fromEntries(
            Array.from({ length: more }, (_, index) => [`m${index}.txt`, { content: `More, ${index}.` }]),
          ),
        },
      };
      emulator.misbehave(() => null);
      emulator.tokens.add(GITHUB_TOKEN);
      emulator.requests.length = 0;
      emulator.load.most = 0;
      return {
        containers: Object.keys(repositories),
        lighthouse: 'ada/atlas/sights/lighthouse.md',
        keeper: 'ada/atlas/sights/people/keeper.txt',
        branch: 'ada/atlas/sights',
        others: ['boats', 'crews', 'docks', 'eels'].map((name) => `ada/${name}/${name}.md`),
        items: 17 + more,
      };
    },
    connect: (user, body = {}) =>
      user.post('/integrations/github', { username: LOGIN, access_token: GITHUB_TOKEN, ...body }),
    connectAsNobody: (user) => user.post('/integrations/github', { username: LOGIN, access_token: 'ghp_nobody' }),
    write(externalId, text) {
      const [repository, path] = splitId(externalId);
      repositories[repository]!.files[path]!.content = text;
    },
    remove(externalId) {
      const [repository, path] = splitId(externalId);
      delete repositories[repository]!.files[path];
    },
    limit(requests) {
      let left = requests;
      const now = () => String(Math.floor(Date.now() / 1000));
      // The quota that is used up, and the second kind of limit, by turns.
      emulator.misbehave(() => {
        left -= 1;
        if (left < 0) return null;
        return left % 2 === 0
          ? { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': now() } }
          : { status: 403, headers: { 'retry-after': '0' }, message: 'You have exceeded a secondary rate limit.' };
      });
    },
    breakItem(externalId, status) {
      const [repository, path] = splitId(externalId);
      const where = `/repos/${repository}/contents/${path}`;
      emulator.misbehave((asked) => (asked === where ? { status, message: 'Resource not accessible' } : null));
    },
    hold: (only = '') => emulator.misbehave((path) => (path.includes(only) ? 'hang' : null)),
    takeBack: () => void emulator.tokens.delete(GITHUB_TOKEN),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/user/repos')).length,
    mostAtOnce: () => emulator.load.most,
    close: () => emulator.close(),
  };
}

const BUCKETS = ['atlas', 'boats', 'crews', 'docks', 'eels'];

/** The stand of an S3 whose emulator a test has in hand. */
export function standForS3(emulator: S3SourceEmulator): SourceStand {
  const { buckets } = emulator;
  const objectOf = (externalId: string) => {
    const slash = externalId.indexOf('/');
    return { objects: buckets.get(externalId.slice(0, slash))!, key: externalId.slice(slash + 1) };
  };
  return {
    settings: emulator.settings,
    secret: ACCESS_KEY_SECRET,
    externalId: `S3|${ACCESS_KEY}`,
    connected: { data_source_type: 'S3', data_source_external_id: `S3|${ACCESS_KEY}` },
    reset(more = 0) {
      buckets.clear();
      for (const name of BUCKETS) buckets.set(name, new Map([[`${name}-1.md`, { content: `On ${name}.` }]]));
      buckets.set(
        'atlas',
        new Map([
          // As consoles make folders.
          ['sights/', { content: '' }],
          ['sights/lighthouse.md', { content: LIGHTHOUSE }],
          ['sights/inside/keeper.md', { content: KEEPER }],
          ...Array.from({ length: more }, (_, index) => [`m${index}.md`, { content: `More, ${index}.` }] as const),
        ]),
      );
      emulator.misbehave(() => null);
      emulator.regions.clear();
      emulator.keys.set(ACCESS_KEY, ACCESS_KEY_SECRET);
      emulator.requests.length = 0;
      emulator.load.most = 0;
      return {
        containers: BUCKETS,
        lighthouse: 'atlas/sights/lighthouse.md',
        keeper: 'atlas/sights/inside/keeper.md',
        branch: 'atlas/sights/',
        others: BUCKETS.slice(1).map((name) => `${name}/${name}-1.md`),
        items: 13 + more,
        format: 'MD',
      };
    },
    connect: (user, body = {}) =>
      user.post('/integrations/s3', { access_key: ACCESS_KEY, access_key_secret: ACCESS_KEY_SECRET, ...body }),
    connectAsNobody: (user) =>
      user.post('/integrations/s3', { access_key: 'AKIANOBODY', access_key_secret: ACCESS_KEY_SECRET }),
    write(externalId, content) {
      const { objects, key } = objectOf(externalId);
      objects.set(key, { content });
    },
    remove(externalId) {
      const { objects, key } = objectOf(externalId);
      objects.delete(key);
    },
    limit(requests) {
      let left = requests;
      const slowDown = { status: 503, code: 'SlowDown', headers: { 'retry-after': '0' } };
      emulator.misbehave(() => (left-- > 0 ? slowDown : null));
    },
    breakItem(externalId, status) {
      // S3 knows no 401.
      const code = status === 401 ? 'ExpiredToken' : 'AccessDenied';
      emulator.misbehave((path) => (path === externalId ? { status: status === 401 ? 400 : status, code } : null));
    },
    hold: (only = '') => emulator.misbehave((path) => (path.includes(only) ? 'hang' : null)),
    takeBack: () => void emulator.keys.delete(ACCESS_KEY),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/?')).length,
    mostAtOnce: () => emulator.load.most,
    close: () => emulator.close(),
  };
}

/** Those of the catalogue suite; Google Drive joins them once consent can be walked. */
export type StandSource = Exclude<ConnectedSourceType, 'GOOGLE_DRIVE'>;
export const SOURCE_STANDS: Readonly<Record<StandSource, () => Promise<SourceStand>>> = {
  GITBOOK: standForGitBook,
  GITHUB: standForGitHub,
  S3: async () => standForS3(await startS3Source()),
};
