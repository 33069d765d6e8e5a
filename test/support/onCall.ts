/** Reads what an operator on call sees of a service: /ready, /ops and `npm run cli -- doctor`. */
import { expect } from '@jest/globals';

import type { Check } from '../../cli/doctor/check.js';
import { cli } from './cli.js';
import { apiClient } from './client.js';
import type { TestService } from './service.js';

export interface OnCall {
  /** Returns the status of /ready with its reasons, as one text. */
  reasons(): Promise<string>;
  opsPage(): Promise<string>;
  /** Returns the checks of the doctor that are not ok, each with its fix, one per line. */
  failedChecks(): Promise<string>;
}

/** `reasons` fails unless /ready answers 200. Degraded services answer 200 too, with the reasons. */
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
