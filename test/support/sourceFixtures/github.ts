import { nextRequests } from '../../emulators/emulator.js';
import { GITHUB_TOKEN, type GitHubEmulator, LOGIN, startGitHub, USER_ID } from '../../emulators/github.js';
import {
  CONTAINERS,
  KEEPER_SENTENCE,
  LIGHTHOUSE,
  moreDocuments,
  OTHERS,
  type SourceFixture,
  fixtureOn,
} from './fixture.js';

export interface GitHubFixture extends SourceFixture {
  readonly emulator: GitHubEmulator;
}

export async function fixtureForGitHub(): Promise<GitHubFixture> {
  const emulator = await startGitHub();
  const { repositories } = emulator;
  const splitId = (externalId: string): [repository: string, path: string] => {
    const [owner = '', name = '', ...path] = externalId.split('/');
    return [`${owner}/${name}`, path.join('/')];
  };
  return {
    ...fixtureOn(emulator),
    emulator,
    settings: emulator.settings,
    secret: GITHUB_TOKEN,
    externalId: `GITHUB|${USER_ID}`,
    reset(more = 0) {
      for (const name of Object.keys(repositories)) delete repositories[name];
      for (const [index, name] of CONTAINERS.entries())
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
          'sights/people/keeper.txt': { content: KEEPER_SENTENCE },
          // Images, links, submodules and empty files do not become files.
          'sights/tower.png': { content: 'PNG' },
          'sights/away': { content: '../elsewhere', mode: '120000' },
          other: { content: 'c0ffee', mode: '160000' },
          '.gitkeep': { content: '' },
          ...Object.fromEntries(moreDocuments(more, (name, content) => [`${name}.txt`, { content }])),
        },
      };
      emulator.reset();
      emulator.tokens.add(GITHUB_TOKEN);
      return {
        containers: Object.keys(repositories),
        lighthouse: 'ada/atlas/sights/lighthouse.md',
        keeper: 'ada/atlas/sights/people/keeper.txt',
        branch: 'ada/atlas/sights',
        others: OTHERS.map((name) => `ada/${name}/${name}.md`),
        items: 17 + more,
      };
    },
    connect: (user, body = {}) =>
      user.post('/integrations/github', { username: LOGIN, access_token: GITHUB_TOKEN, ...body }),
    connectWithInvalidCredentials: (user) =>
      user.post('/integrations/github', { username: LOGIN, access_token: 'ghp_nobody' }),
    write(externalId, text) {
      const [repository, path] = splitId(externalId);
      repositories[repository]!.files[path]!.content = text;
    },
    remove(externalId) {
      const [repository, path] = splitId(externalId);
      delete repositories[repository]!.files[path];
    },
    limit(requests, retryAfterS = 0) {
      const reset = () => String(Math.floor(Date.now() / 1000) + retryAfterS);
      // Alternates between an exhausted quota and a secondary rate limit.
      emulator.injectFault(
        nextRequests(requests, (number) =>
          number % 2 === 0
            ? { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset() } }
            : {
                status: 403,
                headers: { 'retry-after': String(retryAfterS) },
                message: 'You have exceeded a secondary rate limit.',
              },
        ),
      );
    },
    breakItem(externalId, status) {
      const [repository, path] = splitId(externalId);
      const contentPath = `/repos/${repository}/contents/${path}`;
      emulator.injectFault((requested) =>
        requested === contentPath ? { status, message: 'Resource not accessible' } : null,
      );
    },
    contentRequests(externalId) {
      const [repository, path] = splitId(externalId);
      return emulator.requests.filter((request) => request.startsWith(`/repos/${repository}/contents/${path}`)).length;
    },
    revokeAccess: () => void emulator.tokens.delete(GITHUB_TOKEN),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/user/repos')).length,
  };
}
