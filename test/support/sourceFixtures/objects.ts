import { CONTAINERS, KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type FixtureContent } from './fixture.js';

type Objects = Map<string, { content: string | Buffer }>;

/** Returns functions that fill an object store's emulator with the content that every fixture has, and change it. */
export const objectsOn = (containers: Map<string, Objects>) => {
  const placeOf = (externalId: string) => {
    const slash = externalId.indexOf('/');
    return { objects: containers.get(externalId.slice(0, slash))!, key: externalId.slice(slash + 1) };
  };
  return {
    fill(more: number): FixtureContent {
      containers.clear();
      for (const name of CONTAINERS) containers.set(name, new Map([[`${name}-1.md`, { content: `On ${name}.` }]]));
      containers.set(
        'atlas',
        new Map([
          // The web consoles of object stores create a folder as an empty object whose key ends with a slash.
          ['sights/', { content: '' }],
          ['sights/lighthouse.md', { content: LIGHTHOUSE }],
          ['sights/inside/keeper.md', { content: KEEPER_SENTENCE }],
          ...moreDocuments(more, (name, content) => [`${name}.md`, { content }]),
        ]),
      );
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
    write(externalId: string, content: string): void {
      const { objects, key } = placeOf(externalId);
      objects.set(key, { content });
    },
    remove(externalId: string): void {
      const { objects, key } = placeOf(externalId);
      objects.delete(key);
    },
  };
};
