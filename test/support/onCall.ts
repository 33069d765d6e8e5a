/** The views of a service for a person on call: /ready, /ops and the doctor. */
import { expect } from '@jest/globals';

import type { Check } from '../../cli/doctor/check.js';
import { cli } from './cli.js';
import { apiClient } from './client.js';
import type { TestService } from './service.js';

export interface OnCall {
  /** Returns the status of /ready with its reasons, as one text. */
  reasons(): Promise<string>;
  opsPage(): Promise<string>;
  /** Returns each check that is not ok, with its fix, one a line. */
  failedChecks(): Promise<string>;
}

/** `reasons` fails unless /ready answers 200: it answers 503 only when a process cannot serve. */
export function onCall({ url, apiKey, env }: Pick<TestService, 'url' | 'apiKey' | 'env'>): OnCall {
  const authorization = `Bearer ${apiKey}`;
  return {
    async reasons() {
      const { status, body } = await apiClient(url).get<{ status: string; reasons: string[] }>('/ready');
      expect(status).toBe(200);
      return `${body.status}: ${body.reasons.join(' ')}`;
    },
    opsPage: async () => (await fetch(`${url}/ops`, { headers: { authorization } })).text(),
    async failedChecks() {
      const { lines } = await cli({ ...env, PUBLIC_URL: url }, 'doctor', '--json');
      const checks = JSON.parse(lines.join('\n')) as Check[];
      return checks.flatMap(({ state, found, fix }) => (state === 'ok' ? [] : [`${found} → ${fix}`])).join('\n');
    },
  };
}
