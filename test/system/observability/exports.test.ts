/** Metrics and traces that API and worker export. */
import { afterAll, beforeAll } from '@jest/globals';

import { thoroughly } from '../../support/thorough.js';
import { testMetrics } from './exports/metrics.js';
import { startProcesses, stopProcesses } from './exports/processes.js';
import { testTraces } from './exports/traces.js';

beforeAll(startProcesses, 120_000);
afterAll(stopProcesses);

// First, because these tests examine all spans since the start.
testTraces(thoroughly);
testMetrics();
