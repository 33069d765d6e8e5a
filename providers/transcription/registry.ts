import { Fault } from '../../contract/failures.js';
import type { TranscriptionService } from '../../contract/files/uploads.js';
import type { Egress } from '../../egress/types.js';
import { createAssemblyAi } from './providers/assemblyai.js';
import { createDeepgram } from './providers/deepgram.js';
import { withHeader } from './rawSamples.js';
import type { ServiceSettings, TranscriptionProvider, Transcriptions, TranscriptionSettings } from './types.js';

interface Row {
  readonly create: (
    settings: ServiceSettings & { readonly apiKey: string },
    allSettings: TranscriptionSettings,
    egress: Pick<Egress, 'request'>,
  ) => TranscriptionProvider;
  /** The setting that enables it. */
  readonly setting: string;
}

/** One line per service. If several are configured and the settings prefer none, the first one is used. */
const SERVICES: Readonly<Record<TranscriptionService, Row>> = {
  deepgram: { create: createDeepgram, setting: 'DEEPGRAM_API_KEY' },
  assemblyai: { create: createAssemblyAi, setting: 'ASSEMBLYAI_API_KEY' },
};
const NAMES = Object.keys(SERVICES) as TranscriptionService[];

/**
 * Chooses the service that transcribes.
 * @param egress its timeouts must allow a response that arrives only after the transcription
 */
export function createTranscriptions(settings: TranscriptionSettings, egress: Pick<Egress, 'request'>): Transcriptions {
  const configured = new Map<TranscriptionService, TranscriptionProvider>();
  for (const name of NAMES) {
    const { apiKey, ...rest } = settings.services[name];
    if (apiKey === null) continue;
    const provider = SERVICES[name].create({ ...rest, apiKey }, settings, egress);
    configured.set(name, {
      ...provider,
      transcribe: (recording, ...others) => provider.transcribe(withHeader(recording), ...others),
    });
  }
  const [first] = configured.keys();
  const byDefault = settings.preferred ?? first;
  return {
    choose(service) {
      const requested = service ?? byDefault;
      const provider = requested && configured.get(requested);
      if (provider) return provider;
      const missing = requested ? [requested] : NAMES;
      const settingNames = missing.map((name) => SERVICES[name].setting).join(' or ');
      throw new Fault(
        'not_configured',
        requested
          ? `Transcription by ${requested} is not configured: the setting ${settingNames} is missing. Set it, or choose another transcription_service, then resync.`
          : `Sound and video need a transcription service, and none is configured. Set ${settingNames}, then resync.`,
      );
    },
  };
}
