/** Defines a test in which Schemathesis reads only the API reference and sends requests to the service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { startSampleSite, type Site } from '../../emulators/site.js';
import { startService, type TestService } from '../service.js';
import { SOURCE_FIXTURES } from '../sourceFixtures/index.js';
import type { SourceFixture } from '../sourceFixtures/fixture.js';
import { runSchemathesis } from './python.js';

/** Checks that responses conform to the document. test/system/requests/ tests which requests must be refused. */
const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance'],
  ...['response_headers_conformance', 'response_schema_conformance'],
].join(',');
/** Ids of operations that are not tested: their responses are streams without an end. */
const STREAMS = ['stream_events', 'stream_sync_run'];

/**
 * Declares the test of a suite: every operation except STREAMS answers generated requests as the API reference states.
 * @param examples number of generated requests per operation
 * @param phases the phases of Schemathesis to run: `coverage` also sends wrong methods, types and missing parts
 */
export function testAnswersAgainstOpenApi(examples: number, phases: readonly string[], seed: number): void {
  let service: TestService;
  let site: Site;
  /** Emulators of all sources, so that no request leaves this machine. */
  let sources: SourceFixture[];

  beforeAll(async () => {
    sources = await Promise.all(Object.values(SOURCE_FIXTURES).map((start) => start()));
    service = await startService({
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      SOURCE_URLS: sources.map(({ settings }) => settings).join(','),
    });
    site = await startSampleSite(2, 1);
    const user = await service.user('zoe');
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { a: ['b', 'c'], n: 1 } })).id);
    // Generated requests are accepted, but no worker runs them.
    await service.stopWorker();
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([site.close(), ...sources.map((source) => source.close())]);
  });

  test('answers generated requests as the document states, without a server error', async () => {
    const headers = [`Authorization: Bearer ${service.apiKey}`, 'customer-id: zoe'];
    const report = await runSchemathesis([
      `${service.url}/openapi.json`,
      ...['--checks', CHECKS, '--phases', phases.join(','), '--max-examples', String(examples)],
      ...['--seed', String(seed), '--no-shrink', '--continue-on-failure', '--warnings', 'off'],
      ...['--suppress-health-check', 'all', '--request-timeout', '120', '--output-truncate', 'false'],
      ...headers.flatMap((header) => ['-H', header]),
      ...STREAMS.flatMap((id) => ['--exclude-operation-id', id]),
    ]);
    const [, tested = 0] = /Tested:? *(\d+)/.exec(report) ?? [];
    expect({ report, tested: Number(tested) }).toEqual({ report, tested: 121 });
  }, 3_600_000);
}
