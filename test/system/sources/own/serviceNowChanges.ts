import { beforeEach, describe, expect, test } from '@jest/globals';

import { timestampOf, sysIdOf } from '../../../emulators/serviceNow.js';
import type { ServiceNowFixture } from '../../../support/sourceFixtures/serviceNow.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

export function defineServiceNowChangeTests(catalogue: Catalogue): void {
  describe('the changes of SERVICENOW', () => {
    const customer = new Customer(catalogue, 'SERVICENOW');
    const emulated = () => (customer.fixture as ServiceNowFixture).emulator;
    const [incident, drill] = ['incident', 'u_drill'];
    const attach = (table: string, record: string, name: string, created?: string): string => {
      const attachment = { table, record: sysIdOf(record), name: `${name}.txt`, type: 'text/plain', content: name };
      emulated().attachments.set(sysIdOf(name), { ...attachment, ...(created === undefined ? {} : { created }) });
      return `${table}/${sysIdOf(record)}/${sysIdOf(name)}`;
    };
    beforeEach(() => customer.resetAndCreateUser());

    test('are all that a later listing requests; if rows or attachments are missing, it lists all', async () => {
      const { tables, attachments, requests } = emulated();
      const [incidents, articles] = [tables.get(incident)!.rows, tables.get('kb_knowledge')!.rows];
      const oldAttachment = attach(incident, 'lighthouse', 'old');
      const keptAttachment = attach(drill, 'eels', 'kept');
      await customer.connect({ sync_source_items: true });
      const ids = async () => (await customer.items()).items.map((item) => item.external_id).toSorted();
      const before = await ids();
      expect(before).toEqual(expect.arrayContaining([oldAttachment, keptAttachment]));
      emulated().reset();
      const stamp = timestampOf(Date.now());
      const row = { sys_created_on: stamp, sys_updated_on: stamp, number: 'INC9', short_description: 'New' };
      incidents.set(sysIdOf('new'), row);
      // A retired article, and a record with a new attachment.
      const crews = `kb_knowledge/${sysIdOf('crews')}`;
      articles.set(sysIdOf('crews'), {
        ...articles.get(sysIdOf('crews'))!,
        workflow_state: 'retired',
        sys_updated_on: stamp,
      });
      const plan = attach(incident, 'keeper', 'plan', stamp);
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      const after = [...before.filter((id) => id !== crews), `${incident}/${sysIdOf('new')}`, plan].toSorted();
      expect(await ids()).toEqual(after);
      const queries = () =>
        requests.flatMap((path) => {
          const [, table, query] = /\/table\/(\w+)\?(.*)/.exec(path) ?? [];
          return table === incident ? [new URLSearchParams(query).get('sysparm_query') ?? ''] : [];
        });
      expect(queries().length).toBeGreaterThan(0);
      expect(queries().filter((query) => !/^sys_(?:updated_on>=|created_on<|idIN)/.test(query))).toEqual([]);
      // ServiceNow reports no deletions. If a table has fewer rows or attachments than before, everything is listed.
      emulated().reset();
      attachments.delete(sysIdOf('old'));
      await customer.listItems();
      expect(await ids()).toEqual(after.filter((id) => id !== oldAttachment));
      incidents.delete(sysIdOf('keeper'));
      await customer.listItems();
      expect(await ids()).toEqual(
        after.filter((id) => id !== oldAttachment && id !== plan && id !== customer.content.keeper),
      );
    });
  });
}
