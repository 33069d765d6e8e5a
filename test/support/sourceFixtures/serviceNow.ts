import { nextRequests } from '../../emulators/emulator.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { timestampOf, type ServiceNowEmulator, startServiceNow, sysIdOf } from '../../emulators/serviceNow.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, type SourceFixture, fixtureOn } from './fixture.js';

const INSTANCE = 'harbour';
/** The containers that all fixtures have, each with the name and the label of the table that represents it. */
const TABLES = [
  ['atlas', 'incident', 'Incident'],
  ['boats', 'problem', 'Problem'],
  ['crews', 'kb_knowledge', 'Knowledge'],
  ['docks', 'sc_cat_item', 'Catalog Item'],
  ['eels', 'u_drill', 'Drill'],
] as const;

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export type ServiceNowFixture = SourceFixture & { readonly emulator: ServiceNowEmulator };

/** Returns the credentials that a caller sends to connect an instance. @param service address of our service */
export const serviceNowCredentials = (service: string) => ({
  instance_subdomain: INSTANCE,
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
  redirect_uri: `${service}/integrations/servicenow`,
});

export async function fixtureForServiceNow(): Promise<ServiceNowFixture> {
  const emulator = await startServiceNow();
  const { tables, attachments, oauth } = emulator;
  const consent = fixtureByConsent('SERVICENOW', emulator);
  const row = (number: string, title: string, text: string) => ({
    ...{ number, short_description: title, sys_mod_count: '0' },
    ...{ sys_created_on: '2026-01-07 09:00:00', sys_updated_on: '2026-01-07 09:00:00' },
    ...{ workflow_state: 'published', active: 'true', description: text, text: `<p>${text}</p>` },
  });
  const rowAt = (externalId: string) => {
    const [table = '', id = ''] = externalId.split('/');
    return { rows: tables.get(table)!.rows, id };
  };
  const pathOf = (externalId: string): string => `/${INSTANCE}/api/now/table/${externalId}`;
  return {
    emulator,
    ...fixtureOn(emulator),
    ...consent,
    connect: (user, body = {}) =>
      consent.connect(user, { servicenow_credentials: serviceNowCredentials(user.baseUrl), ...body }),
    connectWithInvalidCredentials: (user) =>
      consent.connectWithInvalidCredentials(user, { servicenow_credentials: serviceNowCredentials(user.baseUrl) }),
    get secret() {
      return lastToken(oauth);
    },
    settings: emulator.settings,
    externalId: `SERVICENOW|ada.lee|${INSTANCE}`,
    reset(more = 0) {
      for (const map of [tables, attachments]) map.clear();
      emulator.hidden.clear();
      emulator.rights.hidesTables = false;
      for (const [name, table, label] of TABLES) {
        const tableKind = table.startsWith('u_') ? { kindOf: 'task' } : {};
        const rows = new Map(
          name === 'atlas' ? [] : [[sysIdOf(name), row(`N-${name}`, `About ${name}`, `On ${name}.`)]],
        );
        tables.set(table, { label, ...tableKind, rows });
      }
      const incidents = tables.get('incident')!.rows;
      incidents.set(sysIdOf('lighthouse'), row('INC1', 'Lighthouse', LIGHTHOUSE));
      incidents.set(sysIdOf('keeper'), row('INC2', 'Keeper', KEEPER_SENTENCE));
      for (const [name, text] of moreDocuments(more, (id, content) => [id, content] as const))
        incidents.set(sysIdOf(name), row(name, name, text));
      // A system table, which is not listed.
      tables.set('sys_script', { label: 'Script', rows: new Map([[sysIdOf('script'), row('', 'Script', 'x = 1')]]) });
      emulator.reset();
      return {
        containers: TABLES.map(([, table]) => table),
        lighthouse: `incident/${sysIdOf('lighthouse')}`,
        keeper: `incident/${sysIdOf('keeper')}`,
        branch: 'incident',
        others: TABLES.slice(1).map(([name, table]) => `${table}/${sysIdOf(name)}`),
        items: 11 + more,
      };
    },
    write(externalId, text) {
      const { rows, id } = rowAt(externalId);
      const old = rows.get(id)!;
      const stamp = { sys_updated_on: timestampOf(Date.now()) };
      rows.set(id, { ...old, ...stamp, description: text, sys_mod_count: String(Number(old['sys_mod_count']) + 1) });
    },
    remove(externalId) {
      const { rows, id } = rowAt(externalId);
      rows.delete(id);
    },
    limit(requests, retryAfterS = 0) {
      // Alternates between Retry-After and the reset time of the rate limit rule.
      const reset = () => String(Math.ceil(Date.now() / 1000 + retryAfterS));
      const refusal = (number: number) => ({
        status: 429,
        headers: number % 2 === 0 ? { 'retry-after': String(retryAfterS) } : { 'x-ratelimit-reset': reset() },
      });
      emulator.injectFault(nextRequests(requests, refusal));
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) => (path === pathOf(externalId) ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((request) => request.startsWith(`${pathOf(externalId)}?`)).length,
    // Without the requests for the label of one table.
    pagesListed: () =>
      emulator.requests.filter((path) => /\/table\/sys_db_object\?(?!.*query=name%3D)/.test(path)).length,
  };
}
