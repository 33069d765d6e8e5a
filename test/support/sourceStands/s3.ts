import { nextRequests } from '../../emulators/emulator.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator } from '../../emulators/s3Source.js';
import { CONTAINERS, KEEPER, LIGHTHOUSE, moreDocuments, OTHERS, type SourceStand, standOn } from './stand.js';

/** The stand of an S3 whose emulator a test has in hand. */
export function standForS3(emulator: S3SourceEmulator): SourceStand {
  const { buckets } = emulator;
  const objectOf = (externalId: string) => {
    const slash = externalId.indexOf('/');
    return { objects: buckets.get(externalId.slice(0, slash))!, key: externalId.slice(slash + 1) };
  };
  return {
    ...standOn(emulator),
    settings: emulator.settings,
    secret: ACCESS_KEY_SECRET,
    externalId: `S3|${ACCESS_KEY}`,
    connected: { data_source_type: 'S3', data_source_external_id: `S3|${ACCESS_KEY}` },
    reset(more = 0) {
      buckets.clear();
      for (const name of CONTAINERS) buckets.set(name, new Map([[`${name}-1.md`, { content: `On ${name}.` }]]));
      buckets.set(
        'atlas',
        new Map([
          // As consoles make folders.
          ['sights/', { content: '' }],
          ['sights/lighthouse.md', { content: LIGHTHOUSE }],
          ['sights/inside/keeper.md', { content: KEEPER }],
          ...moreDocuments(more, (name, content) => [`${name}.md`, { content }]),
        ]),
      );
      emulator.mend();
      emulator.regions.clear();
      emulator.keys.set(ACCESS_KEY, ACCESS_KEY_SECRET);
      return {
        containers: CONTAINERS,
        lighthouse: 'atlas/sights/lighthouse.md',
        keeper: 'atlas/sights/inside/keeper.md',
        branch: 'atlas/sights/',
        others: OTHERS.map((name) => `${name}/${name}-1.md`),
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
    limit(requests, forS = 0) {
      const slowDown = { status: 503, code: 'SlowDown', headers: { 'retry-after': String(forS) } };
      emulator.misbehave(nextRequests(requests, () => slowDown));
    },
    breakItem(externalId, status) {
      // S3 knows no 401.
      const code = status === 401 ? 'ExpiredToken' : 'AccessDenied';
      emulator.misbehave((path) => (path === externalId ? { status: status === 401 ? 400 : status, code } : null));
    },
    contentAsked: (externalId) => emulator.requests.filter((path) => path.split('?')[0] === `/${externalId}`).length,
    takeBack: () => void emulator.keys.delete(ACCESS_KEY),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/?')).length,
  };
}
