import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { fileOf, readRecordings, RECORDINGS } from '../cli/recording/folder.js';
import type { Recording } from '../cli/recording/fixture.js';
import { describeSource } from '../connectors/catalogue.js';
import { CONNECTION_CLIENTS, CONNECTION_FIELDS } from '../contract/accounts/oauth.js';
import { supportsOption } from '../contract/sources/sources.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../contract/sources/connectedSources.js';
import { isOAuthSource } from '../contract/accounts/whiteLabel.js';
import { ANSWERS } from '../test/contracts/answers/index.js';
import type { Contract } from '../test/contracts/contract.js';
import { INDEPENDENT_SUITES, SPECIFIED } from '../test/contracts/evidence.js';
import { type Aspect, ASPECTS } from '../test/contracts/observations/observation.js';
import { OBSERVATIONS } from '../test/contracts/observations/index.js';
import { CONTRACTS } from '../test/contracts/tables/index.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Folders with tests of a single source, each named after its source. */
const OWN_TESTS = ['test/connectors', 'test/system/sources/own'];
const filesIn = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`);

const linkTo = (file: string, text: string): string => `[${text}](../${file})`;

/** Returns how an account is connected, and which additional fields this takes. */
function authOf(source: ConnectedSourceType): string {
  const { auth, urls } = CONNECTED_SOURCES[source];
  if (auth === 'token') return `token: \`POST /integrations/${source.toLowerCase()}\``;
  const version = 'request' in urls ? 'OAuth 1.0a' : 'OAuth 2.0';
  const fields = isOAuthSource(source) ? (CONNECTION_FIELDS[source] ?? []) : [];
  const clientRow = isOAuthSource(source) ? CONNECTION_CLIENTS[source] : undefined;
  const fieldTexts = [
    ...fields.map(({ field, isRequired = false }) => `\`${field}\`${isRequired ? ' (required)' : ''}`),
    ...(clientRow ? [`\`${clientRow.field}\` (required)`] : []),
  ];
  return `${version}: \`POST /integrations/oauth_url\`${fieldTexts.length > 0 ? ` with ${fieldTexts.join(', ')}` : ''}`;
}

/** Returns how a sync of a source finds changes. */
export function incrementalOf(source: ConnectedSourceType): string {
  const { hasChanges, unchangedBy } = describeSource(source);
  return [
    hasChanges ? 'change feed' : 'full listing',
    unchangedBy === null ? 'all content is fetched again' : `items compared by ${unchangedBy}`,
    ...(supportsOption(source, 'incremental_sync') ? ['supports `incremental_sync`'] : []),
  ].join('; ');
}

/** Returns how a sync of a source finds deletions. */
export function deletionsOf(source: ConnectedSourceType): string {
  const { hasChanges, deletions, feedOmitsDeletions = false } = describeSource(source);
  if (feedOmitsDeletions && deletions !== undefined) return deletions;
  const usual = hasChanges ? 'reported by the change feed' : 'missing from a full listing';
  return deletions === undefined ? usual : `${usual}; ${deletions}`;
}

/** Returns the limits of a source. */
export function limitsOf(source: ConnectedSourceType): string {
  const { limits, sharedRequestsAtOnce } = describeSource(source);
  const shared = sharedRequestsAtOnce === null ? '' : `, ${sharedRequestsAtOnce} per OAuth client`;
  return `${CONNECTED_SOURCES[source].requestsAtOnce} concurrent requests per account${shared}; ${limits}`;
}

type Specified = Pick<Contract, 'specification' | 'version' | 'takenOn'>;
/** Returns what the requests of a source, and the answers of its emulator, were compared with; null for nothing. */
function contractOf(source: ConnectedSourceType): string | null {
  const of = CONTRACTS.filter((contract) => contract.source === CONNECTED_SOURCES[source].name);
  const numberOf = (all: object): string =>
    `${Object.keys(all).length} operation${Object.keys(all).length === 1 ? '' : 's'}`;
  const linked = ({ specification, version, takenOn }: Specified): string => {
    const [address = ''] = specification.split(' ');
    return `compared with [its specification](${address}) (${version}; ${takenOn})`;
  };
  const shown = of.map((contract) => {
    const requests = `requests of ${numberOf(contract.operations)}`;
    const answers = ANSWERS.find(({ name }) => name === contract.name);
    if (answers === undefined) return `${requests} ${linked(contract)}`;
    const both = `answers of ${numberOf(answers.operations)} ${linked(answers)}`;
    // Some specifications describe the requests only.
    return `${requests}${answers.specification === contract.specification ? '' : ` ${linked(contract)}`} and ${both}`;
  });
  return shown.length === 0 ? null : shown.join('; ');
}

/** Returns when a source was recorded with a real account; null if it was not. */
export function recordedOf(source: ConnectedSourceType, recordings: Iterable<Recording>): string | null {
  const recording = [...recordings].find((candidate) => candidate.source === source && candidate.account === 'real');
  if (!recording) return null;
  const extent = recording.hasChanges ? '' : ', without changes';
  return `${linkTo(fileOf(source), `recorded on ${recording.recordedOn}`)} with a real account${extent}`;
}

/** Returns the sentence about real accounts. */
export function realAccounts(recordings: Iterable<Recording>): string {
  const names = [...recordings]
    .filter(({ account }) => account === 'real')
    .map(({ source }) => CONNECTED_SOURCES[source].name);
  if (names.length === 0) return '**No source was tested with a real account.** Each';
  const shown = names.toSorted((a, b) => a.localeCompare(b, 'en')).join(', ');
  return `**Recorded with a real account: ${shown}.** No other source was tested with one. Each`;
}

/** Returns the tests of this source: first those that every source passes, then its additional ones. */
function proofOf(source: ConnectedSourceType, recordings: Iterable<Recording>): string {
  const name = source.replaceAll('_', '').toLowerCase();
  const ownSuites = OWN_TESTS.flatMap(filesIn)
    .filter(
      (file) =>
        path
          .basename(file)
          .replace(/(?:\.test)?\.ts$/, '')
          .toLowerCase() === name,
    )
    .toSorted();
  const suites = INDEPENDENT_SUITES.filter(({ aspects }) => aspects[source] !== undefined);
  return [
    'emulator, catalogue, kills',
    ...[recordedOf(source, recordings) ?? []].flat(),
    ...ownSuites.map((file) => linkTo(file, file.includes('/own/') ? 'its own operations' : 'its connector')),
    ...suites.map(({ suite }) => linkTo(suite, 'a third-party emulator')),
    ...[contractOf(source) ?? []].flat(),
  ].join('; ');
}

/** Returns the evidence that the emulator of a source behaves like its provider in one aspect. */
function evidenceOf(source: ConnectedSourceType, aspect: Aspect): string {
  const { name, auth } = CONNECTED_SOURCES[source];
  if (aspect === 'OAuth' && auth === 'token') return '–';
  const isSpecified = CONTRACTS.some(
    (contract) => contract.source === name && SPECIFIED[contract.name]?.includes(aspect) === true,
  );
  const hasOtherServer = INDEPENDENT_SUITES.some(({ aspects }) => aspects[source]?.includes(aspect) === true);
  const observations = OBSERVATIONS.flatMap((observed) =>
    observed.source === name ? observed.observations : [],
  ).filter((observation) => observation.aspect === aspect);
  const shown = [
    ...(isSpecified ? ['specification'] : []),
    ...(hasOtherServer ? ['other server'] : []),
    ...(observations.length === 0
      ? []
      : [`${observations.length} ${observations.length === 1 ? 'observation' : 'observations'}`]),
  ];
  return shown.length === 0 ? 'own' : shown.join(', ');
}

/**
 * Sources without a connected account. There is no provider whose specification, server or users could give evidence,
 * so they are tested only with our own emulators of sites and feeds.
 */
const UNCONNECTED = ['RSS feed', 'Web pages'];

/** Renders the table of evidence. */
function evidenceTable(sources: readonly ConnectedSourceType[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(['source', ...ASPECTS]),
    `|${'---|'.repeat(ASPECTS.length + 1)}`,
    ...sources.map((source) =>
      row([CONNECTED_SOURCES[source].name, ...ASPECTS.map((aspect) => evidenceOf(source, aspect))]),
    ),
    ...UNCONNECTED.map((name) => row([name, ...ASPECTS.map((aspect) => (aspect === 'OAuth' ? '–' : 'own'))])),
  ].join('\n');
}

/**
 * Renders docs/sources.md from the rows in contract/sources/connectedSources.ts and the descriptions of the connectors.
 */
export function sourcesPage(): string {
  const recordings = [...readRecordings(path.join(ROOT, RECORDINGS)).values()];
  const sources = (Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[]).toSorted((a, b) =>
    CONNECTED_SOURCES[a].name.localeCompare(CONNECTED_SOURCES[b].name, 'en'),
  );
  const rows = sources.map((source) => {
    const { listed, ingested } = describeSource(source);
    const of = [authOf, incrementalOf, deletionsOf, limitsOf].map((cell) => cell(source));
    const [auth = '', ...rest] = of;
    return `| ${[`${CONNECTED_SOURCES[source].name} \`${source}\``, auth, listed, ingested, ...rest, proofOf(source, recordings)].join(' | ')} |`;
  });
  return `# Connected sources

${realAccounts(recordings)} source is tested with an emulator
([test/emulators](../test/emulators)) that implements the provider's published interface, by the catalogue of tests that
every source passes ([test/system/sources](../test/system/sources)), and by syncs whose worker is killed at random
moments ([test/long/catalogueKill.test.ts](../test/long/catalogueKill.test.ts)). The last column calls these tests
"emulator, catalogue, kills", and then names the tests that only this source has. Where it names a specification, every
request of every test is compared with it: operation, parameters, types, limits, allowed values, required fields and
headers ([test/contracts](../test/contracts)). Where it also names answers, those of the emulator are compared with the
published response schemas: names, types and allowed values of fields, and required fields
([test/contracts/answers](../test/contracts/answers)).
A recording is a redacted copy of what a real account answered, which a test replays
([test/fixtures/recordings](../test/fixtures/recordings/README.md)).
\`npm run docs:sources\` writes this page from \`contract/sources/connectedSources.ts\`, \`connectors/\` and the
recordings.

For every source, the next listing deletes files whose items vanished, unless so many are missing that an operator must
approve it. An item larger than MAX_UPLOAD_BYTES or MAX_DOCUMENT_BYTES is not read: its file ends in SYNC_ERROR. Syncs
wait for the source's rate limits. Ids, item types and special cases: [sources in the API guide](api/sources.md).

| source | auth | listed as | what is ingested | incremental | deletions | limits | proven against |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

## Evidence

Every part of a source is tested with our own emulator. This table shows the additional evidence:

| evidence | meaning |
|---|---|
| specification | every request, and for some sources every answer of our emulator, is compared with the provider's specification ([test/contracts/tables](../test/contracts/tables)) |
| other server | a suite calls a server that another project wrote (linked in the last column above) |
| observation | behaviour seen by users and other projects, each with its link and date, and with a test or the reason why the connector is not affected ([test/contracts/observations](../test/contracts/observations)) |
| own | our own emulator only |
| – | the source does not use OAuth: the user supplies a token, or nothing |

${evidenceTable(sources)}
`;
}
