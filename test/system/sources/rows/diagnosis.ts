import { beforeEach, describe, expect, test } from '@jest/globals';

import type { Customer } from '../../../support/sourceFixtures/catalogue.js';

export interface DiagnosisAnswer {
  readonly status: string;
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly fix: string | null;
    readonly details: Readonly<Record<string, unknown>>;
  }[];
  readonly took_ms: number;
}

const PARTS = ['credential', 'scopes', 'limits', 'sample_item', 'schedule', 'last_failures'];

/** Tests the diagnosis of a healthy data source, and of a data source with a fault. */
export function defineDiagnosisTests(customer: Customer): void {
  describe('its diagnosis', () => {
    beforeEach(() => customer.resetAndCreateUser());

    const diagnose = async () => {
      const { id } = await customer.source();
      const { status, body } = await customer.user.get<DiagnosisAnswer>(`/data_sources/${id}/diagnosis`);
      expect(status).toBe(200);
      expect(body.checks.map(({ name }) => name)).toEqual(PARTS);
      const checksByName = new Map(body.checks.map((check) => [check.name, check]));
      return { status: body.status, of: (name: string) => checksByName.get(name)!, checks: body.checks };
    };

    test('reports ok for each check of a healthy source, with the name of an existing item', async () => {
      await customer.connect();
      const { status, of, checks } = await diagnose();
      expect(checks.filter((check) => check.status !== 'ok' || check.fix !== null)).toEqual([]);
      expect(status).toBe('ok');
      expect(of('sample_item').details).toMatchObject({ item: { name: expect.stringMatching(/./) } });
      expect(of('scopes').details).not.toMatchObject({ missing: [expect.anything()] });
    });

    test('reports bad for credentials that the source rejects, with the fix, and still makes all other checks', async () => {
      const { fixture } = customer;
      await customer.connect();
      fixture.revokeAccess();
      const refused = await diagnose();
      expect(refused.status).toBe('bad');
      expect(refused.of('credential')).toMatchObject({
        status: 'bad',
        fix: expect.stringMatching(/^Connect the account again/),
        details: { cause: 'access_revoked' },
      });
      expect(refused.of('sample_item').status).toBe('warn');
      for (const part of ['limits', 'schedule', 'last_failures']) expect(refused.of(part).status).toBe('ok');
      // The diagnosis records the rejection as a sync does, so the list of data sources shows it.
      expect((await customer.source()).revoked_access).toBe(true);
      const closed = await diagnose();
      expect(closed.of('credential')).toMatchObject({
        status: 'bad',
        fix: expect.stringMatching(/^Connect the account again/),
      });
      fixture.reset();
      await customer.connect();
      expect((await diagnose()).status).toBe('ok');
    });

    test('reports how long the source refuses further requests', async () => {
      const { fixture } = customer;
      await customer.connect();
      fixture.limit(1, 300);
      const { of } = await diagnose();
      expect(of('credential').status).toBe('warn');
      const { status, details } = of('limits');
      expect(status).toBe('warn');
      const remainingMs = Date.parse(String(details['limited_until'])) - Date.now();
      expect(remainingMs).toBeGreaterThan(60_000);
      // Until then, no request is sent.
      const requestsBefore = fixture.requestCount();
      expect((await diagnose()).of('sample_item').status).toBe('warn');
      expect(fixture.requestCount()).toBe(requestsBefore);
    });
  });
}
