import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import type { Egress } from '../../egress/types.js';
import { createServiceClient } from './serviceClient.js';
import type {
  Lookups,
  LookupService,
  LookupSettings,
  SearchService,
  ServiceClient,
  ServiceSettings,
  TranscriptService,
} from './types.js';
import { invidious } from './videoTranscripts/invidious.js';
import { supadata } from './videoTranscripts/supadata.js';
import { brave } from './webSearch/brave.js';
import { searxng } from './webSearch/searxng.js';

type Row<Service, Settings> = readonly [Service, keyof Settings];

/** One line per service; the first configured one is used. */
const SEARCHES: readonly Row<SearchService, LookupSettings['search']>[] = [
  [brave, 'brave'],
  [searxng, 'searxng'],
];
const TRANSCRIPTS: readonly Row<TranscriptService, LookupSettings['transcripts']>[] = [
  [supadata, 'supadata'],
  [invidious, 'invidious'],
];

/** Maximum number of URLs in one result. */
const MAX_URLS = 100;
/** Maximum number of lines in one transcript; a video of ten hours has about 15,000. */
const MAX_LINES = 200_000;

/** Creates the lookups. Each uses the first service that the settings configure. */
export function createLookups(settings: LookupSettings, egress: Pick<Egress, 'request'>): Lookups {
  const { search, transcripts, timeoutMs } = settings;
  const clientOf = (
    service: LookupService,
    serviceSettings: ServiceSettings,
    signal: AbortSignal | undefined,
  ): ServiceClient => createServiceClient({ service, settings: serviceSettings, egress, timeoutMs, signal });
  return {
    webSearch() {
      const [service, serviceSettings] = configured('Searching the web', SEARCHES, search);
      return {
        async search(query, signal) {
          const results = await service.find(clientOf(service, serviceSettings, signal), query);
          const urls = results.flatMap((url) => (typeof url === 'string' ? (normaliseUrl(url) ?? []) : []));
          return [...new Set(urls)].slice(0, MAX_URLS);
        },
      };
    },
    videoTranscripts() {
      const [service, serviceSettings] = configured('Reading transcripts of videos', TRANSCRIPTS, transcripts);
      return {
        async transcript(videoId, signal) {
          const lines = await service.fetch(clientOf(service, serviceSettings, signal), videoId);
          return lines === null || lines.length === 0 ? null : lines.slice(0, MAX_LINES);
        },
      };
    },
  };
}

/** Returns the setting that enables a service. */
const settingOf = ({ keySetting, urlSetting }: LookupService): string => keySetting ?? urlSetting;

/** Returns the first configured service with its settings. @throws Fault not_configured if there is none */
function configured<Service extends LookupService, Settings extends Readonly<Record<string, ServiceSettings>>>(
  purpose: string,
  rows: readonly Row<Service, Settings>[],
  settings: Settings,
): [Service, ServiceSettings] {
  for (const [service, key] of rows) {
    const serviceSettings = settings[key] as ServiceSettings;
    if (serviceSettings.baseUrl !== null && (service.keySetting === null || serviceSettings.apiKey !== null))
      return [service, serviceSettings];
  }
  const settingNames = rows.map(([service]) => settingOf(service)).join(' or ');
  throw new Fault(
    'not_configured',
    `${purpose} needs an outside service, and none is configured. Set ${settingNames}.`,
  );
}
