/** What a person on call reads about a service: /ready, /ops and the doctor. */
import { expect } from '@jest/globals';

import type { Check } from '../../cli/doctor/check.js';
import { cli } from './cli.js';
import { apiClient } from './client.js';
import type { TestService } from './service.js';

export interface OnCall {
  /** The status of /ready and its reasons, in one text. */
  reasons(): Promise<string>;
  opsPage(): Promise<string>;
  /** Each check that is not ok, with its fix, one a line. */
  doctorSays(): Promise<string>;
}

/** Fails where /ready is not 200: it is 503 only for a process that cannot serve. */
export function onCall({ url, apiKey, env }: Pick<TestService, 'url' | 'apiKey' | 'env'>): OnCall {
  const authorization = `Bearer ${apiKey}`;
  return {
    async reasons() {
      const { status, body } = await apiClient(url).get<{ status: string; reasons: string[] }>('/ready');
      expect(status).toBe(200);
      return `${body.status}: ${body.reasons.join(' ')}`;
    },
    opsPage: async () => (await fetch(`${url}/ops`, { headers: { authorization } })).text(),
    async doctorSays() {
      const { lines } = await cli({ ...env, PUBLIC_URL: url }, 'doctor', '--json');
      const checks = JSON.parse(lines.join('\n')) as Check[];
      return checks.flatMap(({ state, found, fix }) => (state === 'ok' ? [] : [`${found} → ${fix}`])).join('\n');
    },
  };
}
